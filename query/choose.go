package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
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
	condition
	order []sortKey
	src   *sources
}

// selected compiles a question. The condition includes the bounds.
func (r *reader) selected(ctx context.Context, q question) (selection, error) {
	cond, err := compileFilter(q.filter, func(key, value string) ([]string, error) { return r.ids(ctx, key, value) })
	if err != nil {
		return selection{}, err
	}
	order, err := compileSort(&cond, q.sort)
	if err != nil {
		return selection{}, err
	}
	for _, re := range cond.regexes {
		if err := r.conn.query(ctx, statement{"SELECT regexp_matches('', $1)", []any{re}}, ignore); err != nil && ctx.Err() == nil {
			return selection{}, input("filter: %s: %v", brief(re), err)
		}
	}
	if err := r.changeOf(ctx, cond.columns); err != nil {
		return selection{}, err
	}
	cond.restrict(q.bounds)
	return selection{cond, order, r.src.within(q.bounds)}, nil
}

func ignore([]driver.Value) error { return nil }

// restrict adds bounds to a condition: the ids of runs are ordered by time.
func (c *condition) restrict(b bounds) {
	var parts []string
	at := func(op string, ms int64) {
		c.args = append(c.args, firstID(ms))
		parts = append(parts, fmt.Sprintf("run_id %s $%d::VARCHAR", op, len(c.args)))
	}
	if b.since > 0 {
		at(">=", b.since)
	}
	if b.until > 0 {
		at("<", b.until)
	}
	for _, text := range []*string{&c.text, &c.reach} {
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
	if s.text == "" {
		return "true"
	}
	return "coalesce(" + s.text + ", false)"
}

// where is the SQL of whether a row matches, or has a value that is to be counted: one that alone may be why it does not.
func (s *selection) where() string {
	if len(s.notNumbers) == 0 {
		return s.text
	}
	return s.reach
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
	for i, c := range s.notNumbers {
		if n, _ := notNumbers[i].(int64); n > 0 {
			found.notNumbers[c.key] += int(n)
		}
	}
	return found
}

func appendID(ids []schema.ULID, value any) ([]schema.ULID, error) {
	text, _ := value.(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return nil, &engineErr{message: fmt.Sprintf("run_id: %v", err), kind: duckdb.ErrorTypeIO}
	}
	return append(ids, id), nil
}

// sortKey is a key to order by: the SQL of its value, and what stands in ORDER BY for a column of these values.
type sortKey struct {
	value string
	by    func(column string) []string
}

// compileSort adds the keys of an order to a condition. A map's entry is ordered as a number, then as text.
func compileSort(cond *condition, keys []string) ([]sortKey, error) {
	c := &compiler{condition: *cond, seen: map[string]bool{}, places: map[any]string{}}
	for _, column := range cond.columns {
		c.seen[column.Name] = true
	}
	var order []sortKey
	for _, key := range keys {
		name, descending := strings.CutPrefix(key, "-")
		f := fieldOf(name)
		if k := f.kind(); name == "" || k == schema.KindList || k == schema.KindMap {
			return nil, input("sort: %q has no order", brief(key))
		}
		direction := " ASC NULLS LAST"
		if descending {
			direction = " DESC NULLS LAST"
		}
		x := c.expression(f)
		s := sortKey{x, func(column string) []string { return []string{column + direction} }}
		if f.entry != "" {
			s.by = func(column string) []string { return []string{num(column) + direction, column + direction} }
		}
		if f.bare {
			c.unsure = append(c.unsure, unsure{word: &word{text: name, key: name}, field: f})
		}
		order = append(order, s)
	}
	*cond = c.condition
	return order, nil
}

// check refuses what is unsure and known to no run at all. In a store without runs nothing is known, so nothing is
// refused.
func (r *reader) check(ctx context.Context, doubts []unsure) error {
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
		case d.unit != "" && !slices.Contains(units, d.unit):
			return inputError(d.word.text, d.offset, "unit %q is not known, and no run has it", brief(d.unit))
		case d.unit == "" && !slices.Contains(names, d.field.entry):
			return inputError(d.word.text, d.offset, "there is no column and no run has a parameter %q%s", brief(d.word.key), suggestion(d.word.key, names))
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
	text := "SELECT DISTINCT " + expression + " AS x FROM " + r.src.scan([]*schema.Column{runColumn(column)}, "") + " ORDER BY x"
	err := r.conn.query(ctx, statement{text: text}, func(row []driver.Value) error {
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
	if s.text == "" {
		return condition
	}
	return condition + " AND (" + s.text + ")"
}
