package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// Columns are the columns of a listing of runs that somebody asked for.
type Columns []column

// column is a column of runs, or what one of its maps has under a name.
type column struct {
	name  string
	entry string // empty: the column itself
	bare  bool   // a parameter that was named without a prefix
}

// headColumns are the columns that a table of runs shows under another name, which no filter knows.
var headColumns = map[string]string{"n": "n_samples", "point": "point_id", "gpu": "gpu_name"}

// headOf are the heads of columns, where these are not the name in capitals.
var headOf = map[string]string{
	"run_id": "RUN", "session_id": "SESSION", "point_id": "POINT", "p50": "MEDIAN", "n_samples": "N", "git_commit": "COMMIT",
	"batch_size": AxisHeaders["batch_size"], "seq_len": AxisHeaders["seq_len"], "precision": AxisHeaders["precision"],
}

// ColumnOfHead returns the column of runs that a table shows under a head other than its name; empty if there is none.
func ColumnOfHead(head string) string {
	for column, of := range headOf {
		if strings.EqualFold(of, head) {
			return column
		}
	}
	return ""
}

// usual are the columns that programs get unless they ask for others.
var usual = []string{
	"run_id", "started_at", "session_id", "side", "purpose", "point_id", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len",
	"params", "tags", "machine", "gpu_name", "git_commit", "metric", "unit", "p50", "p99", "mean", "mad", "n_samples", "status", "stage", "error_kind", "warnings",
}

// ColumnsOf finds columns by their names, by the heads that tables have for them, or by the names of parameters; all is every
// column of runs, and none the usual ones beside those of metrics.
func ColumnsOf(names, metrics []string) (Columns, error) {
	switch {
	case len(names) == 0 && len(metrics) < 2:
		names = usual
	case len(names) == 0: // each metric has columns of its own, in place of the summary of the primary one
		names = slices.DeleteFunc(slices.Clone(usual), func(name string) bool {
			_, ok := schema.Samples.Column(name)
			return ok && name != "run_id"
		})
	case slices.Equal(names, []string{"all"}):
		names = columnNames()
	}
	var all Columns
	for _, name := range names {
		if metric := filter.FieldOf(name).Metric; metric != "" {
			return nil, fmt.Errorf("--columns: %q belongs to a metric: choose it with --metric %s, as in --metric %s --columns run,median", name, metric, metric)
		}
		c := columnOf(name)
		if slices.Contains(all, c) {
			return nil, fmt.Errorf("--columns: %q is named twice", name)
		}
		all = append(all, c)
	}
	return all, nil
}

func columnOf(name string) column {
	lower := strings.ToLower(name)
	if stored, ok := headColumns[lower]; ok {
		return column{name: stored}
	}
	field := filter.FieldOf(name)
	if field.Bare {
		if head := filter.FieldOf(lower); !head.Bare && head.Entry == "" {
			field = head
		}
	}
	return column{field.Column.Name, field.Entry, field.Bare}
}

// spreadColumn is the column that no run has: it is made of others.
const spreadColumn = "spread"

// spreadOf returns how much the samples of a run vary, in relation to their median; NULL of a run with one sample.
func spreadOf(t answer.Table, row []any) any {
	mad, scattered := row[t.Index("mad")].(float64)
	median, located := row[t.Index("p50")].(float64)
	if !scattered || !located || median == 0 || ofOneSample(t, row) {
		return nil
	}
	return answer.Computed(spreadRatio(mad, median))
}

// ofOneSample tells whether a run has one sample: see schema.OfSeveral.
func ofOneSample(t answer.Table, row []any) bool {
	n, ok := row[t.Index("n_samples")].(int64)
	return ok && n == 1
}

func columnNames() []string {
	return term.Texts(schema.Runs.Columns, func(c *schema.Column) string { return c.Name })
}

// Stored returns the columns of runs that have to be read, each once: the columns that were asked for and, for people, the columns with the
// units of their values and with the place of a run in time.
func (c Columns) Stored(forPeople bool) []string {
	var names []string
	for _, one := range c {
		switch {
		case one.name == spreadColumn:
			names = append(names, "mad", "p50", "n_samples")
		case slices.Contains(schema.OfSeveral, one.name):
			names = append(names, one.name, "n_samples")
		default:
			names = append(names, one.name)
		}
	}
	if forPeople {
		names = append(names, "metric", "unit", "status", "started_at")
	}
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// Of returns the chosen columns of a page of runs, which has the columns of Stored and those appended to them.
func (c Columns) Of(t answer.Table, stored int) answer.Table {
	var out answer.Table
	places := make([]int, len(c))
	for i, one := range c {
		if one.name == spreadColumn {
			out.Columns = append(out.Columns, answer.Column{Name: one.name, Type: answer.TypeReal, Unit: "ratio"})
			continue
		}
		places[i] = t.Index(one.name)
		if one.entry == "" {
			out.Columns = append(out.Columns, t.Columns[places[i]])
			continue
		}
		out.Columns = append(out.Columns, answer.Column{Name: filter.PrefixOf(one.name) + "." + one.entry, Type: answer.TypeText})
	}
	out.Columns = append(out.Columns, t.Columns[stored:]...)
	for _, row := range t.Rows {
		values := make([]any, 0, len(out.Columns))
		for i, one := range c {
			switch value := row[places[i]]; {
			case one.name == spreadColumn:
				values = append(values, spreadOf(t, row))
			case slices.Contains(schema.OfSeveral, one.name) && ofOneSample(t, row):
				values = append(values, nil)
			case one.entry != "":
				entries, _ := value.(map[string]any)
				values = append(values, entries[one.entry])
			default:
				values = append(values, answer.OfRun(out.Columns[i], value))
			}
		}
		out.Rows = append(out.Rows, append(values, row[stored:]...))
	}
	return out
}

// Unknown returns the parameters that none of the runs of a page has, each with its error. A page without runs has none.
func (c Columns) Unknown(t answer.Table) map[string]error {
	unknown := map[string]error{}
	for _, one := range c {
		if one.bare {
			if err := one.known(t, t.Index(one.name)); err != nil {
				unknown[one.entry] = err
			}
		}
	}
	return unknown
}

// known tells whether any of some runs has the parameter that was named without a prefix: it is a slip of the pen otherwise.
func (c column) known(t answer.Table, place int) error {
	seen := entriesOf(t, place)
	if !c.bare || len(t.Rows) == 0 || seen[c.entry] {
		return nil
	}
	known := slices.Concat(slices.Sorted(maps.Keys(seen)), columnNames(), filter.Names(), slices.Sorted(maps.Keys(headColumns)))
	hint := term.DidYouMean(strings.ToLower(c.entry), known)
	if _, metric := schema.KindOfMetric(c.entry); metric {
		hint = "; it is a metric, which --metric " + c.entry + " shows"
	}
	return fmt.Errorf("--columns: no column is named %q, and none of these runs has such a parameter%s", c.entry, hint)
}

// entriesOf returns the names of the entries that any of some runs has in a column.
func entriesOf(t answer.Table, place int) map[string]bool {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		entries, _ := row[place].(map[string]any)
		for name := range entries {
			seen[name] = true
		}
	}
	return seen
}

// absent says which tags and facts were asked for that none of some runs has, with those that may be meant.
func (c Columns) absent(t answer.Table) (lines []string) {
	for _, one := range c {
		if one.entry == "" || one.bare {
			continue
		}
		seen := entriesOf(t, t.Index(one.name))
		if seen[one.entry] {
			continue
		}
		prefix := filter.PrefixOf(one.name) + "."
		line := "none of these runs has " + prefix + one.entry
		if near := schema.Nearest(one.entry, slices.Sorted(maps.Keys(seen))); near != "" {
			line += "; did you mean " + prefix + near + "?"
		}
		lines = append(lines, line)
	}
	return lines
}

// Chosen returns a table of the columns that were asked for, of runs that were read with those of Stored for people.
func (l Listing) Chosen(c Columns, t answer.Table, stored, total int) (term.View, error) {
	undated := 0
	for _, row := range t.Rows {
		if row[t.Index("started_at")] == nil {
			undated++
		}
	}
	v := term.View{Below: []string{l.count(len(t.Rows), undated, total)}}
	for _, err := range c.Unknown(t) {
		return v, err
	}
	chosen := c.Of(t, stored)
	if len(t.Rows) == 0 {
		return v, nil
	}
	text := func(row int, column string) string { s, _ := t.Rows[row][t.Index(column)].(string); return s }
	measured := false // there are numbers of the primary metric
	for i, one := range c {
		column := chosen.Columns[i]
		measured = measured || column.Unit == schema.UnitOfRow
		x := Axis{Name: column.Name}
		for n, row := range chosen.Rows {
			x.Values = append(x.Values, l.valueText(column, row[i], text(n, "unit"), text(n, "metric")))
		}
		v = l.withColumn(v, one.head(l.Reader), x)
		v.Columns[i].Right = v.Columns[i].Right || column.Type == answer.TypeInteger || column.Type == answer.TypeReal
		for n := range x.Values {
			v.Rows[n][i].Failed = column.Name == "status" && schema.Status(x.Values[n]).Failed()
		}
	}
	metrics := l.Metrics
	if len(metrics) == 1 { // its columns are those of runs
		metrics = nil
	}
	for k, metric := range metrics {
		x, place := Axis{Name: metric}, len(c)+2*k
		for _, row := range chosen.Rows {
			unit, _ := row[place+1].(string)
			x.Values = append(x.Values, QuantityOf(row[place], unit, x.Name))
		}
		v = l.withColumn(v, strings.ToUpper(x.Name), x)
		v.Columns[len(v.Columns)-1].Right = true
	}
	if metrics := AxisOf(t.Rows, "metric", func(row *[]any) string { s, _ := (*row)[t.Index("metric")].(string); return s }); measured {
		names := slices.Compact(slices.Sorted(slices.Values(metrics.Values)))
		v.Above = []string{strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), ", ")}
	}
	v.Below = append(v.Below, c.absent(t)...)
	return term.Narrowed(v, l.Reader.Page()), nil
}

// withColumn returns a view with one more column.
func (l Listing) withColumn(v term.View, head string, x Axis) term.View {
	column := AxisColumn(x)
	column.Header = head
	v.Columns = append(v.Columns, column)
	if v.Rows == nil {
		v.Rows = make([][]term.Cell, len(x.Values))
	}
	for n := range x.Values {
		v.Rows[n] = append(v.Rows[n], AxisCell(x, n))
	}
	return v
}

// head returns what stands above the column.
func (c column) head(r Display) string {
	switch {
	case c.entry != "" && c.name == "params":
		return c.entry
	case c.entry != "":
		return filter.PrefixOf(c.name) + "." + c.entry
	case c.name == "started_at":
		return "WHEN " + r.Offset()
	case headOf[c.name] != "":
		return headOf[c.name]
	}
	return strings.ToUpper(c.name)
}

// valueText returns a value of a column of runs for people; empty where it is not known.
func (l Listing) valueText(c answer.Column, value any, unit, metric string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Time:
		return l.Reader.When(v)
	case string:
		if c.Name == "run_id" || c.Name == "session_id" {
			return ShortRun(v)
		}
	case float64, int64:
		if share, ok := v.(float64); ok && c.Name == spreadColumn {
			return Percent(share)
		}
		if c.Unit == schema.UnitOfRow {
			return QuantityOf(v, unit, metric)
		}
	}
	return term.ValueText(c, value, "")
}

// keyOf returns the name of a column of groups, or what the table has above it, as one word for both.
func keyOf(name string) string {
	switch name = strings.ToLower(name); name {
	case "ok":
		return "ok_runs"
	case "run", "session", "point":
		return name + "_id"
	}
	return schema.CanonicalAlias(name)
}

// places finds columns of groups by their names or heads.
func places(asked, names []string) ([]int, error) {
	keys := term.Texts(names, keyOf)
	var all []int
	for _, name := range asked {
		at := slices.Index(keys, keyOf(name))
		if at < 0 {
			hint := "; want some of " + strings.Join(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" }), " ")
			if near := schema.Nearest(keyOf(name), keys); near != "" {
				hint = "; did you mean " + near + "?"
			} else if c, stored := schema.Samples.Column(name); stored && c.Kind == schema.KindReal {
				hint += fmt.Sprintf("; neurolens help sql has a query for %s of each value", name)
			}
			return nil, fmt.Errorf("--columns: groups have no column %q%s", name, hint)
		}
		if slices.Contains(all, at) {
			return nil, fmt.Errorf("--columns: %q is named twice", name)
		}
		all = append(all, at)
	}
	return all, nil
}

// ChosenGroups returns a table of groups, and how it is shown to people, with the columns that were asked for; none is all. Of those
// that were asked for none is left out.
func (l Listing) ChosenGroups(g query.Grouping, asked []string) (answer.Table, func() term.View, error) {
	t, shown := answer.TableOf(g.Fields(), g.Groups), l.groups(g)
	if len(asked) == 0 || len(g.Groups) == 0 {
		return t, func() term.View { return shown }, nil
	}
	var names, heads []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	for _, c := range shown.Columns {
		heads = append(heads, c.Header)
	}
	of, err := places(asked, names)
	if err != nil {
		return t, nil, err
	}
	out := answer.Table{Columns: Picked(t.Columns, of)}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, Picked(row, of))
	}
	at, _ := places(asked, heads)
	if len(at) < len(asked) { // the table does not show all of them
		return out, func() term.View {
			v := term.TableView(out, l.Reader.Page())
			v.Above, v.Below = shown.Above, shown.Below
			return v
		}, nil
	}
	v := term.View{Above: shown.Above, Below: shown.Below, Columns: Picked(shown.Columns, at)}
	for i := range v.Columns {
		v.Columns[i].Drop = 0
	}
	for _, row := range shown.Rows {
		v.Rows = append(v.Rows, Picked(row, at))
	}
	return out, func() term.View { return v }, nil
}

// Picked returns the elements at some places.
func Picked[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for i, at := range places {
		some[i] = all[at]
	}
	return some
}
