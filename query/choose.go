package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// question says which runs are wanted, and in which order.
type question struct {
	filter       string
	since, until time.Time
	sort         []string // "-key" is descending; empty: newest first
}

// chosen are the runs that answer a question, in its order.
type chosen struct {
	files      []file
	notNumbers map[string]int
}

// chooser answers one question over the files of all runs.
type chooser struct {
	conn *conn
	all  []file
}

// choose finds the runs. It opens no file where names are enough, which they are without filter and order, and else
// reads the columns of the filter and the order alone.
func (ch *chooser) choose(ctx context.Context, q question) (chosen, error) {
	cond, err := compileFilter(q.filter, func(key, value string) ([]string, error) { return ch.ids(ctx, key, value) })
	if err != nil {
		return chosen{}, err
	}
	order, err := compileSort(&cond, q.sort)
	if err != nil {
		return chosen{}, err
	}
	candidates := within(ch.all, q.since, q.until)
	if cond.text == "" && len(order) == 0 {
		return chosen{files: candidates}, nil
	}
	for _, r := range cond.regexes {
		if err := ch.conn.query(ctx, statement{"SELECT regexp_matches('', $1)", []any{r}}, ignore); err != nil && ctx.Err() == nil {
			return chosen{}, input("filter: %s: %v", brief(r), err)
		}
	}
	found, unsure, err := ch.run(ctx, cond, order, candidates)
	if err != nil || !unsure {
		return found, err
	}
	return found, ch.check(ctx, cond.unsure)
}

func ignore([]driver.Value) error { return nil }

// run asks DuckDB. unsure tells that nothing matches, or that no run has what it is to be ordered by.
func (ch *chooser) run(ctx context.Context, cond condition, order []sortKey, candidates []file) (chosen, bool, error) {
	byID := make(map[string]file, len(candidates))
	for _, f := range candidates {
		byID[f.run.String()] = f
	}
	found := chosen{notNumbers: map[string]int{}}
	keyed := make([]bool, len(order))
	scanned := candidates
	if cond.ranked {
		scanned = ch.all
	}
	err := ch.conn.query(ctx, choice(cond, order, scanned), func(row []driver.Value) error {
		id, _ := row[0].(string)
		f, ok := byID[id]
		if !ok {
			return nil // outside the bounds, looked at for the order of sessions only
		}
		if row[1] == true {
			found.files = append(found.files, f)
		}
		for i, n := range cond.notNumbers {
			if row[2+i] == true {
				found.notNumbers[n.key]++
			}
		}
		for i := range order {
			keyed[i] = keyed[i] || row[2+len(cond.notNumbers)+i] == true
		}
		return nil
	})
	if len(order) == 0 {
		slices.SortFunc(found.files, func(a, b file) int { return slices.Compare(b.run[:], a.run[:]) })
	}
	return found, len(found.files) == 0 || slices.Contains(keyed, false), err
}

// choice is one scan that gives, for each run that matches or has a value to count: its id, whether it matches, whether
// it has each of the values to count, whether it has each of the values to order by.
func choice(cond condition, order []sortKey, files []file) statement {
	matches := "true"
	if cond.text != "" {
		matches = "coalesce(" + cond.text + ", false)"
	}
	results, wanted := []string{"run_id", matches}, []string{matches}
	for _, n := range cond.notNumbers {
		results, wanted = append(results, n.text), append(wanted, n.text)
	}
	var by []string
	for _, k := range order {
		results, by = append(results, k.value+" IS NOT NULL"), append(by, k.by...)
	}
	where := strings.Join(wanted, " OR ")
	columns := withRunID(cond.columns)
	text := "SELECT " + strings.Join(results, ", ") + " FROM "
	if cond.ranked {
		text += "(SELECT *, dense_rank() OVER (ORDER BY session_id DESC NULLS LAST) AS session_rank FROM " + scan(files, columns, "") + ") WHERE " + where
	} else {
		text += scan(files, columns, where)
	}
	if len(by) > 0 {
		text += " ORDER BY " + strings.Join(by, ", ") + ", run_id DESC"
	}
	return statement{text, cond.args}
}

// sortKey is a key to order by: its value, and what stands in ORDER BY for it.
type sortKey struct {
	value string
	by    []string
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
		s := sortKey{value: x, by: []string{x + direction}}
		if f.entry != "" {
			s.by = []string{num(x) + direction, x + direction}
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
func (ch *chooser) check(ctx context.Context, doubts []unsure) error {
	if len(doubts) == 0 || len(ch.all) == 0 {
		return nil
	}
	names, err := ch.texts(ctx, "unnest(map_keys(params))", "params")
	if err != nil {
		return err
	}
	units, err := ch.texts(ctx, "unit", "unit")
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
func (ch *chooser) texts(ctx context.Context, expression, column string) ([]string, error) {
	var all []string
	text := "SELECT DISTINCT " + expression + " AS x FROM " + scan(ch.all, []*schema.Column{runColumn(column)}, "") + " ORDER BY x"
	err := ch.conn.query(ctx, statement{text: text}, func(row []driver.Value) error {
		if s, ok := row[0].(string); ok {
			all = append(all, s)
		}
		return nil
	})
	return all, err
}
