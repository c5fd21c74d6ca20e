package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// manyRuns are so many that reading all their ids takes longer than a second look at a part of them.
const manyRuns = 50_000

// newestOf finds the newest n runs that match, and counts all. It keeps no more than that. While it counts, it looks for
// them among all runs where these are few, and among the newest where all ids are read anyway.
func (r *reader) newestOf(ctx context.Context, sel selection, n int) (chosen, error) {
	conditions := []string{"true"} // of the aggregates
	if len(sel.NotNumbers) > 0 {   // the scan gives more than what matches
		conditions = []string{sel.matches()}
	}
	results := []string{"count(*) FILTER (" + conditions[0] + ")"}
	for _, c := range sel.NotNumbers {
		results = append(results, "count(*) FILTER ("+c.SQL+")")
	}
	few, columns := sel.src.runs() < manyRuns, sel.Columns
	looks := few || len(sel.src.said.Removed) > 0
	if !few {
		conditions = append(conditions, "run_id >= "+duck.Literal(firstID(sel.src.sinceNewest(manyRuns))))
	}
	if looks {
		results = append(results, fmt.Sprintf("max(run_id, %d) FILTER (%s)", n, strings.Join(conditions, " AND ")))
	}
	if looks || len(columns) == 0 {
		columns = withRunID(columns)
	}
	row, err := r.conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(results, ", ") + " FROM " + sel.src.scan(columns, sel.where()), Args: sel.Args})
	if err != nil {
		return chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	if found.total == 0 {
		return found, r.nothing(ctx, sel)
	}
	n = min(n, found.total)
	if looks {
		found.ids, err = idsOf(row[len(row)-1])
	}
	if err == nil && len(found.ids) < n {
		found.ids, err = r.newestAmong(ctx, sel, n, 4*max(n*sel.src.runs()/found.total, 1000))
	}
	return found, err
}

// newestAlone is newestOf without counting.
func (r *reader) newestAlone(ctx context.Context, sel selection, n int) (chosen, error) {
	ids, err := r.newestAmong(ctx, sel, n, manyRuns)
	if err == nil && len(ids) == 0 {
		err = r.nothing(ctx, sel)
	}
	return chosen{ids: ids}, err
}

// newestAmong finds the newest n runs that match: among so many of the newest runs first, then among more.
func (r *reader) newestAmong(ctx context.Context, sel selection, n, look int) ([]schema.ULID, error) {
	for all := sel.src.runs(); ; look *= 8 {
		since := int64(0)
		if look < all {
			since = sel.src.sinceNewest(look)
		}
		part := sel
		part.restrict(bounds{since: since})
		part.src = sel.src.within(bounds{since: since})
		text := fmt.Sprintf("SELECT max(run_id, %d) FROM %s", n, part.src.scan(withRunID(sel.Columns), part.SQL))
		row, err := r.conn.One(ctx, duck.Statement{SQL: text, Args: part.Args})
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(row[0])
		if err != nil || since == 0 || len(ids) == n {
			return ids, err
		}
	}
}

// runs is how many runs there are by names, also those that are removed.
func (s *sources) runs() int {
	n := len(s.live)
	for i := range s.sealed {
		n += s.sealed[i].sealed.Rows
	}
	return n
}

// idsOf reads a list of ids, in order.
func idsOf(list any) (ids []schema.ULID, err error) {
	texts, _ := list.([]any)
	for _, text := range texts {
		if ids, err = appendID(ids, text); err != nil {
			return nil, err
		}
	}
	return slices.Compact(ids), nil
}

// find makes the temporary table found of the runs that match: run_id, matches, and the values to order by. It is of
// one column where all runs match and none is to be ordered.
func (r *reader) find(ctx context.Context, sel selection) (chosen, error) {
	results := []string{"run_id", sel.matches() + " AS matches"}
	counts := []string{"count(*) FILTER (matches)"}
	for i, n := range sel.NotNumbers {
		results = append(results, fmt.Sprintf("%s AS not_number_%d", n.SQL, i))
		counts = append(counts, fmt.Sprintf("count(*) FILTER (not_number_%d)", i))
	}
	for i, k := range sel.order {
		results = append(results, fmt.Sprintf("%s AS key_%d", k.Value, i))
		counts = append(counts, fmt.Sprintf("count(key_%d)", i))
	}
	text := "SELECT " + strings.Join(results, ", ") + " FROM " + sel.src.scan(withRunID(sel.Columns), sel.where())
	if _, err := r.conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE found AS "+text, sel.Args...); err != nil {
		return chosen{}, err
	}
	row, err := r.conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM found"})
	if err != nil {
		return chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	keyed := row[1+len(sel.NotNumbers):]
	switch {
	case found.total == 0:
		err = r.nothing(ctx, sel)
	case slices.Contains(keyed, driver.Value(int64(0))):
		err = r.check(ctx, sel.Unsure)
	}
	return found, err
}

// listFound reads ids of the table found in the order of the question; limit 0 is no limit.
func (r *reader) listFound(ctx context.Context, sel selection, limit int) ([]schema.ULID, error) {
	text := "SELECT run_id FROM found WHERE matches ORDER BY " + sel.foundOrder()
	if limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", limit)
	}
	return r.listIDs(ctx, duck.Statement{SQL: text})
}

// foundOrder is what stands in ORDER BY for the table found.
func (s *selection) foundOrder() string {
	var by []string
	for i, k := range s.order {
		by = append(by, k.By(fmt.Sprintf("key_%d", i))...)
	}
	return strings.Join(append(by, "run_id DESC"), ", ")
}

// listIDs reads a result of ids, of which equal ones follow one another; it gives each once.
func (r *reader) listIDs(ctx context.Context, q duck.Statement) ([]schema.ULID, error) {
	var ids []schema.ULID
	var bad error
	err := r.conn.Query(ctx, q, func(row []driver.Value) error {
		ids, bad = appendID(ids, row[0])
		return bad
	})
	return slices.Compact(ids), err
}
