package summary

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// MixPart is an operator of the mix of a run.
type MixPart struct {
	Operator   string
	DurationNS int64   // total time of all executions
	Share      float64 // share of the time of all operators of the mix
	Count      *int64  // number of executions; nil: unknown
}

// OperatorMixes returns the mixes of runs, by id: the operators with the longest time first. A run without operators with durations has none.
func OperatorMixes(ctx context.Context, db *query.DB, runs []string) (map[string][]MixPart, error) {
	ids, err := schema.ParseULIDs(runs)
	if err != nil {
		return nil, answer.InputError("run: %v", err)
	}
	var all map[string][]MixPart
	err = db.Stores().Query(ctx, func(r *scan.Reader) error {
		all = map[string][]MixPart{} // Query may call this again
		q := duck.Statement{SQL: partsSQL(r.Src.Of(ids).Nested(schema.Ops, "")), Args: []any{scan.IDTexts(ids)}}
		return r.Conn.Query(ctx, q, func(row []driver.Value) error {
			p := MixPart{Operator: strings.Clone(duck.Text(row[1])), DurationNS: duck.Integer(row[2])}
			p.Share, _ = row[3].(float64)
			if n, known := row[4].(int64); known {
				p.Count = &n
			}
			run := strings.Clone(duck.Text(row[0]))
			all[run] = append(all[run], p)
			return nil
		})
	})
	return all, err
}

// partsSQL returns the SQL of the mixes of the runs in parameter $1, a list of ids: run_id, operator, duration, share, count.
func partsSQL(ops string) string {
	sums := "SELECT run, level, operator, sum(duration_ns)::BIGINT AS took, CASE WHEN count(count) = count(*) THEN sum(count)::BIGINT END AS n FROM " +
		opsSQL("run_id", ops, scan.OfRuns, ", count") + " GROUP BY run, level, operator"
	return "WITH o AS MATERIALIZED (" + sums + ") SELECT run, operator, took, " + shareSQL + ", n FROM o" + lowestSQL + " ORDER BY run, took DESC, operator"
}
