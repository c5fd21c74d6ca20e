package scan

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Choose finds the first matching runs of a selection in its order, at most limit (0: all). It always counts all matching runs if count is set, if
// there is an order or no limit, and if it reads all runs anyway.
func (r *Reader) Choose(ctx context.Context, sel Selection, limit int, count bool) (Chosen, error) {
	found, ok, err := r.withoutDuckDB(ctx, sel, limit)
	switch {
	case ok || err != nil:
		return found, err
	case len(sel.Order) > 0 || limit == 0 || limit > PageRows:
		return r.Sorted(ctx, sel, limit)
	case count || len(sel.NotNumbers) > 0 || r.Src.Runs() < manyRuns:
		return r.newestCounted(ctx, sel, limit)
	}
	if found.IDs, err = r.newestAmong(ctx, sel, limit, manyRuns); err == nil && len(found.IDs) == 0 {
		err = r.ExplainEmpty(ctx, sel)
	}
	return found, err
}

// manyRuns is the number of runs from which on reading all their ids takes longer than a second query for a part of them.
const manyRuns = 50_000

// newestCounted finds the newest n matching runs, and counts all. If there are few runs, both are done in one query. If there are many, that
// query looks for the newest ones only if it reads the ids anyway.
func (r *Reader) newestCounted(ctx context.Context, sel Selection, n int) (Chosen, error) {
	conditions := []string{"true"} // of the aggregates
	if len(sel.NotNumbers) > 0 {   // the scan also returns rows that do not match
		conditions = []string{sel.Matches()}
	}
	results := []string{"count(*) FILTER (" + conditions[0] + ")"}
	for _, c := range sel.NotNumbers {
		results = append(results, "count(*) FILTER ("+c.SQL+")")
	}
	few, columns := sel.Src.Runs() < manyRuns, sel.Columns
	looks := few || sel.Src.removed != ""
	if !few {
		since, err := sel.Src.sinceNewest(manyRuns)
		if err != nil {
			return Chosen{}, err
		}
		conditions = append(conditions, "run_id >= "+duck.Literal(firstID(since)))
	}
	if looks {
		results = append(results, fmt.Sprintf("max(run_id, %d) FILTER (%s)", n, strings.Join(conditions, " AND ")))
	}
	if looks || len(columns) == 0 {
		columns = WithRunID(columns)
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(results, ", ") + " FROM " + sel.Src.Scan(columns, sel.where()), Args: sel.Args})
	if err != nil {
		return Chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	if found.Total == 0 {
		return found, r.ExplainEmpty(ctx, sel)
	}
	n = min(n, found.Total)
	if looks {
		found.IDs, err = idsOf(row[len(row)-1])
	}
	if err == nil && len(found.IDs) < n {
		found.IDs, err = r.newestAmong(ctx, sel, n, 4*max(n*sel.Src.Runs()/found.Total, 1000))
	}
	return found, err
}

// newestAmong finds the newest n matching runs, first among the newest look runs, then among more.
func (r *Reader) newestAmong(ctx context.Context, sel Selection, n, look int) ([]schema.ULID, error) {
	for all := sel.Src.Runs(); ; look *= 8 {
		since := int64(0)
		if look < all {
			var err error
			if since, err = sel.Src.sinceNewest(look); err != nil {
				return nil, err
			}
		}
		part := sel
		part.Restrict(Period{Since: since})
		part.Src = sel.Src.Within(Period{Since: since})
		text := fmt.Sprintf("SELECT max(run_id, %d) FROM %s", n, part.Src.Scan(WithRunID(sel.Columns), part.SQL))
		row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: part.Args})
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(row[0])
		if err != nil || since == 0 || len(ids) == n {
			return ids, err
		}
	}
}

// Runs is the number of runs by file names, including removed ones.
func (s *Sources) Runs() int {
	n := len(s.Live)
	for i := range s.sealed {
		n += s.sealed[i].sealed.Rows
	}
	return n
}

// idsOf reads a list of ids.
func idsOf(list any) (ids []schema.ULID, err error) {
	texts, _ := list.([]any)
	for _, text := range texts {
		if ids, err = AppendID(ids, text); err != nil {
			return nil, err
		}
	}
	return slices.Compact(ids), nil
}

// Sorted finds and counts the matching runs, and lists the first ones in the order of the selection; limit 0: all. It makes the temporary table
// found with the columns run_id, matches, and the values of the sort keys.
func (r *Reader) Sorted(ctx context.Context, sel Selection, limit int) (Chosen, error) {
	results := []string{"run_id", sel.Matches() + " AS matches"}
	counts := []string{"count(*) FILTER (matches)"}
	for i, n := range sel.NotNumbers {
		results = append(results, fmt.Sprintf("%s AS not_number_%d", n.SQL, i))
		counts = append(counts, fmt.Sprintf("count(*) FILTER (not_number_%d)", i))
	}
	for i, k := range sel.Order {
		results = append(results, fmt.Sprintf("%s AS key_%d", k.Value, i))
		counts = append(counts, fmt.Sprintf("count(key_%d)", i))
	}
	text := "SELECT " + strings.Join(results, ", ") + " FROM " + sel.Src.Scan(WithRunID(sel.Columns), sel.where())
	if _, err := r.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE found AS "+text, sel.Args...); err != nil {
		return Chosen{}, err
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM found"})
	if err != nil {
		return Chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	switch keyed := row[1+len(sel.NotNumbers):]; {
	case found.Total == 0:
		err = r.ExplainEmpty(ctx, sel)
	case slices.Contains(keyed, driver.Value(int64(0))):
		err = r.Check(ctx, sel.PossibleTypos)
	}
	if err != nil {
		return found, err
	}
	list := "SELECT run_id FROM found WHERE matches ORDER BY " + sel.foundOrder()
	if limit > 0 {
		list += fmt.Sprintf(" LIMIT %d", limit)
	}
	found.IDs, err = r.ListIDs(ctx, duck.Statement{SQL: list})
	return found, err
}

// foundOrder are the terms of ORDER BY for the table found.
func (s *Selection) foundOrder() string {
	var by []string
	for i, k := range s.Order {
		by = append(by, k.By(fmt.Sprintf("key_%d", i))...)
	}
	return strings.Join(append(by, "run_id DESC"), ", ")
}

// ListIDs reads a result of ids, and removes consecutive repetitions.
func (r *Reader) ListIDs(ctx context.Context, q duck.Statement) ([]schema.ULID, error) {
	var ids []schema.ULID
	var bad error
	err := r.Conn.Query(ctx, q, func(row []driver.Value) error {
		ids, bad = AppendID(ids, row[0])
		return bad
	})
	return slices.Compact(ids), err
}

// CountNotNumbers counts, per key, the values that < or > in a filter could not compare because they are not numbers.
func (r *Reader) CountNotNumbers(ctx context.Context, sel Selection) (map[string]int, error) {
	if len(sel.NotNumbers) == 0 {
		return nil, nil
	}
	counts := make([]string, len(sel.NotNumbers))
	for i, n := range sel.NotNumbers {
		counts[i] = "count(*) FILTER (" + n.SQL + ")"
	}
	var values string // nothing asks for them, but each argument has to be in the statement
	for _, k := range sel.Order {
		values += ", " + k.Value
	}
	runs := "(SELECT *" + values + " FROM " + sel.Src.Scan(sel.Columns, sel.where()) + ")"
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM " + runs, Args: sel.Args})
	if err != nil {
		return nil, err
	}
	return sel.tally(nil, row).NotNumbers, nil
}
