package scan

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Question selects runs and their order.
type Question struct {
	Filter string
	Bounds Period
	Sort   []string // "-key" is descending; empty: newest first
	Metric string   // metric of the statistics in Filter and Sort; empty: the primary one of each run
}

// Everything reports whether the question selects all runs, newest first.
func (q *Question) Everything() bool {
	return strings.TrimSpace(q.Filter) == "" && q.Bounds == (Period{}) && len(q.Sort) == 0
}

// Selection is a compiled question, with the sources that it needs.
type Selection struct {
	filter.Condition
	Order   []filter.SortKey
	Src     *Sources
	Bounded bool // there are time bounds; the condition includes them
}

// Selected compiles a question. The condition includes the bounds.
func (r *Reader) Selected(ctx context.Context, q Question) (Selection, error) {
	lookups := filter.Lookups{
		IDs:     func(key, value string) ([]string, error) { return r.ids(ctx, key, value) },
		Counted: func(session string) ([]string, error) { return r.counted(ctx, session) },
		Metric:  func(metric, value string) (string, error) { return r.metricTable(ctx, metric, value) },
		Shown:   q.Metric,
	}
	cond, err := filter.Compile(q.Filter, lookups)
	if err != nil {
		return Selection{}, r.meant(ctx, err)
	}
	order, err := filter.Sort(&cond, q.Sort, lookups)
	if err != nil {
		return Selection{}, err
	}
	for _, re := range cond.Regexes {
		if err := r.Conn.Query(ctx, duck.Statement{SQL: "SELECT regexp_matches('', $1)", Args: []any{re}}, ignore); err != nil && ctx.Err() == nil {
			return Selection{}, answer.InputError("filter: %s: %v", answer.Brief(re), err)
		}
	}
	if err := r.applyEventsFor(ctx, &cond); err != nil {
		return Selection{}, err
	}
	sel := Selection{cond, order, r.Src.Within(q.Bounds), q.Bounds != (Period{})}
	sel.Restrict(q.Bounds)
	return sel, r.remarkAbsent(ctx, cond)
}

// ignore is for statements whose rows do not matter.
func ignore([]driver.Value) error { return nil }

// Restrict adds bounds to the condition. It compares ids of runs, which begin with their time.
func (s *Selection) Restrict(b Period) {
	var parts []string
	at := func(op string, ms int64, matches func(run, bound string) bool) {
		bound := firstID(ms)
		s.Args = append(s.Args, bound)
		parts = append(parts, fmt.Sprintf("run_id %s $%d::VARCHAR", op, len(s.Args)))
		s.Tests = append(s.Tests, filter.Test{Column: schema.RunColumn("run_id"), Matches: func(cell any) bool {
			run, _ := cell.(string)
			return matches(run, bound)
		}})
	}
	if b.Since > 0 {
		at(">=", b.Since, func(run, bound string) bool { return run >= bound })
	}
	if b.Until > 0 {
		at("<", b.Until, func(run, bound string) bool { return run < bound })
	}
	for _, text := range []*string{&s.SQL, &s.Reach} {
		all := parts
		if *text != "" {
			all = slices.Insert(slices.Clone(parts), 0, *text)
		}
		*text = strings.Join(all, " AND ")
	}
}

// firstID is the text of atTime.
func firstID(ms int64) string { return FirstID(ms).String() }

// Matches is the SQL of whether a row matches. It is never NULL.
func (s *Selection) Matches() string {
	if s.SQL == "" {
		return "true"
	}
	return "coalesce(" + s.SQL + ", false)"
}

// where is the SQL of the rows that match or have a value to be counted in NotNumbers.
func (s *Selection) where() string {
	if len(s.NotNumbers) == 0 {
		return s.SQL
	}
	return s.Reach
}

// Chosen are the runs that match a question, in its order.
type Chosen struct {
	IDs        []schema.ULID // up to the limit
	Total      int           // number of all matching runs
	NotNumbers map[string]int
}

// tally reads the number of matching runs, and of values that are not numbers.
func (s *Selection) tally(total any, notNumbers []driver.Value) Chosen {
	n, _ := total.(int64)
	found := Chosen{Total: int(n), NotNumbers: map[string]int{}}
	for i, c := range s.NotNumbers {
		if n, _ := notNumbers[i].(int64); n > 0 {
			found.NotNumbers[c.Key] += int(n)
		}
	}
	return found
}

// AppendID appends the id in a cell. A cell that is not an id is an error of the file.
func AppendID(ids []schema.ULID, value any) ([]schema.ULID, error) {
	text, _ := value.(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return nil, &duck.Error{Message: fmt.Sprintf("run_id: %v", err), Kind: duckdb.ErrorTypeIO}
	}
	return append(ids, id), nil
}

// Check rejects possible typos that no run has. In a store without runs it accepts everything.
func (r *Reader) Check(ctx context.Context, doubts []filter.PossibleTypo) error {
	if len(doubts) == 0 || len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
		return nil
	}
	names, err := r.Texts(ctx, "unnest(map_keys(params))", "params")
	if err != nil {
		return err
	}
	units, err := r.Texts(ctx, "unit", "unit")
	if err != nil {
		return err
	}
	for _, d := range doubts {
		switch {
		case d.Unit != "" && !slices.Contains(units, d.Unit):
			return filter.ErrorAt(d.Word.Text, d.Offset, "unit %q is not known, and no run has it%s", answer.Brief(d.Unit), SuggestRate(d.Unit))
		case d.Unit == "" && !slices.Contains(names, d.Field.Entry):
			hint, err := r.noKey(ctx, d, names)
			if err != nil {
				return err
			}
			return filter.ErrorAt(d.Word.Text, d.Offset, "no column or parameter is called %q%s", answer.Brief(d.Word.Key), hint)
		}
	}
	return nil
}

// Texts are the different values of an expression over a column of all runs, ascending.
func (r *Reader) Texts(ctx context.Context, expression, column string) ([]string, error) {
	if column == tags && r.Src.tagKeys != nil { // a question has made the table of some keys alone
		if err := r.changeTags(ctx, nil); err != nil {
			return nil, err
		}
	}
	text := "SELECT DISTINCT " + expression + " AS x FROM " + r.Src.Scan([]*schema.Column{schema.RunColumn(column)}, "") + " ORDER BY x"
	return r.texts(ctx, duck.Statement{SQL: text})
}

// RestrictedTo is the SQL of a condition and of whether a row matches, for a WHERE clause. DuckDB can skip files by the statistics for
// either part.
func (s *Selection) RestrictedTo(condition string) string {
	if s.SQL == "" {
		return condition
	}
	return condition + " AND (" + s.SQL + ")"
}
