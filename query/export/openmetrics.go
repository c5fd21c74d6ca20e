package export

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// openMetricsTo writes the newest results of the chosen runs to a path as OpenMetrics text (openmetrics_text.go). It returns the number of
// lines with a value.
func (x *exporter) openMetricsTo(ctx context.Context, path string) (rows int64, err error) {
	points, err := x.newestResults(ctx)
	if err != nil {
		return 0, err
	}
	text, rows := openMetricsText(points)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	return rows, nil
}

// pointResult is what is known of a point on a machine.
type pointResult struct {
	labels     []label // what identifies the point
	pointID    string
	run        string // id of the newest ok run; empty if there is none
	startedAt  time.Time
	commit     string
	lastStatus string // status of the newest run
	metrics    []metricResult
}

// metricResult is the summary of a metric of a run, as it is stored.
type metricResult struct {
	name, unit string
	n          *int64
	median     *float64
}

// newestResults reads the newest runs of each point and the metrics of the ok ones, ordered by the identity of the points.
func (x *exporter) newestResults(ctx context.Context) (points []*pointResult, err error) {
	r := &scan.Reader{Conn: x.Conn, Src: x.src}
	if err := r.ApplyEvents(ctx); err != nil {
		return nil, err
	}
	if err := r.CheckSamples(ctx); err != nil {
		return nil, err
	}
	byRun := map[string]*pointResult{}
	err = x.Conn.Query(ctx, duck.Statement{SQL: x.newestSQL()}, func(row []driver.Value) error {
		p := pointOfRow(row)
		points = append(points, p)
		if p.run != "" {
			byRun[p.run] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text := "SELECT run_id, metric, unit, n_samples, p50 FROM (" + x.storedSQL("samples") +
		") SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id) ORDER BY run_id, metric"
	ids := slices.Sorted(maps.Keys(byRun))
	return points, x.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{ids}}, func(row []driver.Value) error {
		var m metricResult
		run, _ := row[0].(string)
		m.name, _ = row[1].(string)
		m.unit, _ = row[2].(string)
		if n, ok := row[3].(int64); ok {
			m.n = &n
		}
		if median, ok := row[4].(float64); ok {
			m.median = &median
		}
		byRun[run].metrics = append(byRun[run].metrics, m)
		return nil
	})
}

// newestSQL returns the SQL of the points, in the columns that pointOfRow reads.
func (x *exporter) newestSQL() string {
	const newest = "(coalesce(started_at, '-infinity'::TIMESTAMPTZ), run_id)"
	identity := strings.Join(query.Identity, ", ")
	return "SELECT " + identity + ", params, point_id, status, ok.run_id, ok.started_at, ok.git_commit FROM (SELECT " + identity +
		", any_value(params) AS params, point_id, arg_max(status, " + newest + ") AS status, " +
		"arg_max(struct_pack(run_id := run_id, started_at := started_at, git_commit := git_commit), " + newest + ") FILTER (status = 'ok') AS ok " +
		"FROM (" + x.storedSQL("runs") + ") WHERE purpose = 'measure' GROUP BY point_id, " + identity + ") ORDER BY " + identity + ", point_id"
}

// pointOfRow makes a point of a row of newestSQL. The labels of parameters have the names of the parameters.
func pointOfRow(row []driver.Value) *pointResult {
	p := &pointResult{}
	for i, column := range query.Identity {
		if row[i] != nil {
			p.labels = append(p.labels, label{name: column, value: fmt.Sprint(row[i])})
		}
	}
	rest := row[len(query.Identity):]
	if params, ok := rest[0].(duckdb.OrderedMap); ok {
		for i, name := range params.Keys() {
			p.labels = append(p.labels, label{name: fmt.Sprint(name), value: fmt.Sprint(params.Values()[i]), param: true})
		}
	}
	p.pointID, _ = rest[1].(string)
	p.lastStatus, _ = rest[2].(string)
	p.run, _ = rest[3].(string)
	p.startedAt, _ = rest[4].(time.Time)
	p.commit, _ = rest[5].(string)
	return p
}
