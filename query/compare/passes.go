package compare

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// unmeasuredError is that no measured run of the sides has the metric, or that there is no measured run.
type unmeasuredError struct{ error }

func (e *unmeasuredError) Unwrap() error { return e.error }

func unmeasured(err error) error { return &unmeasuredError{err} }

// isPass is the SQL condition of the runs under a profiler.
const isPass = "purpose = 'profile'"

// purpose returns the SQL condition of the runs that are compared.
func (m *comparison) purpose() string {
	if m.passes != nil {
		return isPass
	}
	return scan.IsMeasurement
}

// ofPasses narrows a filter to the passes that are compared, if any are. A pass of another profiler at the same point has other metrics.
func (m *comparison) ofPasses(selection string) string {
	if m.passes == nil {
		return selection
	}
	quoted := make([]string, len(m.passes))
	for i, tool := range m.passes {
		quoted[i] = filter.Quote(tool)
	}
	return bothFilters(selection, "env."+schema.FactProfile+"="+strings.Join(quoted, ","))
}

// passesWith returns the profilers whose ok passes have one of the metrics, ascending.
func passesWith(ctx context.Context, r *scan.Reader, metrics []string) (tools []string, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "purpose", "status", "env"})
	if err != nil || len(metrics) == 0 {
		return nil, err
	}
	text := "SELECT DISTINCT env[" + duck.Literal(schema.FactProfile) + "] AS tool FROM " + r.Src.Scan(columns, isPass+" AND status = 'ok'") +
		" SEMI JOIN (SELECT run_id FROM " + r.Src.Nested(schema.Samples, "") + " WHERE list_contains($1::VARCHAR[], metric)) USING (run_id) WHERE tool IS NOT NULL ORDER BY tool"
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{metrics}}, func(row []driver.Value) error {
		tools = append(tools, duck.Text(row[0]))
		return nil
	})
	return tools, err
}
