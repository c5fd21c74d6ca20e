package query

import (
	"context"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// metricOfRuns are the columns of runs that pointsSQL reads and that describe the primary metric.
var metricOfRuns = []string{"metric", "unit", "better", "n_samples", "p50", "p99", "mean", "mad"}

// ofMetric is a subquery of runs in which these columns are those of the requested metric; NULL for runs without it.
func (g *grouper) ofMetric(sel scan.Selection, runs string) string {
	replaced := make([]string, len(metricOfRuns))
	for i, name := range metricOfRuns {
		replaced[i] = "s." + name + " AS " + name
	}
	return "(SELECT r.* REPLACE (" + strings.Join(replaced, ", ") + ") FROM " + runs + " AS r LEFT JOIN (SELECT run_id, " + strings.Join(metricOfRuns, ", ") +
		" FROM " + sel.Src.Nested(schema.Samples, "") + " WHERE metric = " + duck.Literal(g.req.Metric) + ") AS s ON s.run_id = r.run_id)"
}

// checkMetric rejects a metric that none of the ok runs has.
func (g *grouper) checkMetric(ctx context.Context, r *scan.Reader) error {
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT coalesce(sum(ok_runs), 0)::BIGINT, count(metric), count(*) FILTER (NOT comparable) FROM group_points"})
	if err != nil {
		return err
	}
	if duck.Integer(row[0]) > 0 && duck.Integer(row[1])+duck.Integer(row[2]) == 0 {
		return r.NoMetric(ctx, "ls", g.req.Metric)
	}
	return nil
}
