package scan

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// NoMetric is the ErrInput of a metric that no run has of those that were asked about, with the nearest one of the stores.
func (r *Reader) NoMetric(ctx context.Context, asked, metric string) error {
	t, err := r.Conn.Table(ctx, duck.Statement{SQL: "SELECT DISTINCT metric FROM " + r.Src.Nested(schema.Samples, "") + " ORDER BY metric"})
	if err != nil {
		return err
	}
	var names []string
	for _, row := range t.Rows {
		names = append(names, duck.Text(row[0]))
	}
	hint := ""
	if near := schema.Nearest(metric, names); near != "" && near != metric {
		hint = "; did you mean " + near + "?"
	}
	return fault.Input("%s: no run has the metric %q%s", asked, fault.Brief(metric), hint)
}
