package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// question says which runs are wanted, and in which order.
type question struct {
	filter string
	bounds bounds
	sort   []string // "-key" is descending; empty: newest first
}

// everything tells whether all runs answer the question, newest first.
func (q *question) everything() bool {
	return strings.TrimSpace(q.filter) == "" && q.bounds == (bounds{}) && len(q.sort) == 0
}

// selection is a question as SQL, over the sources that it needs.
type selection struct {
	filter.Condition
	order []filter.SortKey
	src   *sources
}

// selected compiles a question. The condition includes the bounds.
func (r *reader) selected(ctx context.Context, q question) (selection, error) {
	cond, err := filter.Compile(q.filter, func(key, value string) ([]string, error) { return r.ids(ctx, key, value) })
	if err != nil {
		return selection{}, err
	}
	order, err := filter.Sort(&cond, q.sort)
	if err != nil {
		return selection{}, err
	}
	for _, re := range cond.Regexes {
		if err := r.conn.Query(ctx, duck.Statement{SQL: "SELECT regexp_matches('', $1)", Args: []any{re}}, ignore); err != nil && ctx.Err() == nil {
			return selection{}, fault.Input("filter: %s: %v", fault.Brief(re), err)
		}
	}
	if err := r.changeOf(ctx, cond.Columns); err != nil {
		return selection{}, err
	}
	sel := selection{cond, order, r.src.within(q.bounds)}
	sel.restrict(q.bounds)
	return sel, nil
}

func ignore([]driver.Value) error { return nil }

// restrict adds bounds to the condition: the ids of runs are ordered by time.
func (s *selection) restrict(b bounds) {
	var parts []string
	at := func(op string, ms int64) {
		s.Args = append(s.Args, firstID(ms))
		parts = append(parts, fmt.Sprintf("run_id %s $%d::VARCHAR", op, len(s.Args)))
	}
	if b.since > 0 {
		at(">=", b.since)
	}
	if b.until > 0 {
		at("<", b.until)
	}
	for _, text := range []*string{&s.SQL, &s.Reach} {
		all := parts
		if *text != "" {
			all = slices.Insert(slices.Clone(parts), 0, *text)
		}
		*text = strings.Join(all, " AND ")
	}
}

// firstID is not larger than the id of any run of that time, in Unix milliseconds.
func firstID(ms int64) string { return schema.ULIDFrom(time.UnixMilli(ms), [10]byte{}).String() }

// matches is the SQL of whether a row matches, never NULL.
func (s *selection) matches() string {
	if s.SQL == "" {
		return "true"
	}
	return "coalesce(" + s.SQL + ", false)"
}

// where is the SQL of whether a row matches, or has a value that is to be counted: one that alone may be why it does not.
func (s *selection) where() string {
	if len(s.NotNumbers) == 0 {
		return s.SQL
	}
	return s.Reach
}

// chosen are the runs that answer a question, in its order.
type chosen struct {
	ids        []schema.ULID // at most so many as were asked for
	total      int           // all of them
	notNumbers map[string]int
}

// tally reads counts of what matches and of values that are no numbers.
func (s *selection) tally(total any, notNumbers []driver.Value) chosen {
	n, _ := total.(int64)
	found := chosen{total: int(n), notNumbers: map[string]int{}}
	for i, c := range s.NotNumbers {
		if n, _ := notNumbers[i].(int64); n > 0 {
			found.notNumbers[c.Key] += int(n)
		}
	}
	return found
}

func appendID(ids []schema.ULID, value any) ([]schema.ULID, error) {
	text, _ := value.(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return nil, &duck.Error{Message: fmt.Sprintf("run_id: %v", err), Kind: duckdb.ErrorTypeIO}
	}
	return append(ids, id), nil
}

// check refuses what is unsure and known to no run at all. In a store without runs nothing is known, so nothing is
// refused.
func (r *reader) check(ctx context.Context, doubts []filter.Unsure) error {
	if len(doubts) == 0 || len(r.src.live) == 0 && len(r.src.read) == 0 {
		return nil
	}
	names, err := r.texts(ctx, "unnest(map_keys(params))", "params")
	if err != nil {
		return err
	}
	units, err := r.texts(ctx, "unit", "unit")
	if err != nil {
		return err
	}
	for _, d := range doubts {
		switch {
		case d.Unit != "" && !slices.Contains(units, d.Unit):
			return filter.ErrorAt(d.Word.Text, d.Offset, "unit %q is not known, and no run has it", fault.Brief(d.Unit))
		case d.Unit == "" && !slices.Contains(names, d.Field.Entry):
			return filter.ErrorAt(d.Word.Text, d.Offset, "there is no column and no run has a parameter %q%s", fault.Brief(d.Word.Key), suggestion(d.Word.Key, names))
		}
	}
	return nil
}

func suggestion(key string, parameters []string) string {
	candidates := parameters
	for _, c := range schema.Runs.Columns {
		candidates = append(candidates, c.Name)
	}
	if near := schema.Nearest(key, candidates); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// texts are the different values of an expression over a column of all runs, in ascending order.
func (r *reader) texts(ctx context.Context, expression, column string) ([]string, error) {
	var all []string
	text := "SELECT DISTINCT " + expression + " AS x FROM " + r.src.scan([]*schema.Column{schema.RunColumn(column)}, "") + " ORDER BY x"
	err := r.conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
		if s, ok := row[0].(string); ok {
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// restrictedTo is the SQL of a condition of this package and whether a row matches, for a WHERE: of either part the engine
// can tell from the statistics of a file that none of its rows does.
func (s *selection) restrictedTo(condition string) string {
	if s.SQL == "" {
		return condition
	}
	return condition + " AND (" + s.SQL + ")"
}
