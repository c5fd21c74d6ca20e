package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// groupMeanings explain the words in a table of groups that are not statuses.
var groupMeanings = map[string]string{
	query.ReasonMixed:       "runs of the group differ in metric or unit, so that no number stands for them; group by metric and unit too",
	query.ReasonNoDirection: "it is not known whether lower or higher values of the metric are better",
	query.ReasonNoValue:     "no ok run has a value",
	"profile":               "passes of a profiler are counted, their times are not",
}

// runGroups lists groups of runs.
func runGroups(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.ask(cmd, func(db *query.DB, format string) error {
		if format == formatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		g, err := db.Groups(cmd.Context(), query.GroupRequest{
			Filter: o.filter, Since: o.since, Until: o.until, By: o.by, Best: o.best, Sort: o.sort, Limit: o.limit,
		})
		if err != nil {
			return err
		}
		a.reportNotNumbers(g.NotNumbers)
		return a.print(format, g.Table, func() view { return a.groupsView(g, o) })
	})
}

// groupsView is the table of groups.
func (a *app) groupsView(g query.Grouping, o lsOptions) view {
	if len(g.Rows) == 0 {
		return view{below: []string{lsCount(0, 0, o)}}
	}
	v := view{above: heading(groupConstants(g, o.best))}
	var varying []axis
	if o.best {
		varying = bestAxes(g)
	}
	notes := notes{}
	v = a.groupRows(v, g, varying, notes)
	v.below = append(notes.lines(), groupCount(g, o))
	if o.best {
		v.compact = func() view {
			return a.groupRows(view{above: v.above, below: v.below}, g, mergedAxes(varying), notes)
		}
	}
	return v
}

// groupRows adds the table to a view of groups; varying are the axes of their best points.
func (a *app) groupRows(v view, g query.Grouping, varying []axis, notes notes) view {
	var leading []axis
	for i := range g.Keys {
		leading = append(leading, a.keyAxis(g, i))
	}
	if metrics := metricAxis(g); !groupedBy(g, "metric") && sameMetric(g) == "" && hasValue(metrics) {
		leading = append(leading, metrics)
	}
	for i, x := range leading {
		c := axisColumn(x)
		c.right = c.right || i < g.Keys && g.Columns[i].Type == answer.TypeInteger
		if _, ok := schema.Runs.Column(x.name); ok && axisHeaders[x.name] == "" {
			c.header = strings.ToUpper(strings.TrimSuffix(x.name, "_id"))
		}
		v.columns = append(v.columns, c)
	}
	for _, x := range varying {
		v.columns = append(v.columns, axisColumn(x))
	}
	leading = append(leading, varying...)
	values, columns := groupCells, groupColumns
	if g.Index("best_runs") >= 0 {
		values, columns = bestCells, bestColumns
	}
	v.columns = append(v.columns, columns...)
	for i, row := range g.Rows {
		var cells []cell
		for _, x := range leading {
			cells = append(cells, axisCell(x, i))
		}
		v.rows = append(v.rows, append(append(cells, values(g.Table, row)...), notes.group(g.Table, row)))
	}
	return v
}

// groupColumns are the columns of a group after its keys.
var groupColumns = []viewColumn{
	{header: "POINTS", right: true},
	{header: "RUNS", right: true},
	{header: "OK", right: true, drop: 1},
	{header: "MEDIAN", right: true},
	{header: "LOWEST", right: true, drop: 2},
	{header: "HIGHEST", right: true, drop: 3},
	{header: "SPREAD", right: true, drop: 4},
	{header: ""},
}

func groupCells(t answer.Table, row []any) []cell {
	unit := textAt(t, row, "unit")
	return []cell{
		countCell(at(t, row, "points")), countCell(at(t, row, "runs")), countCell(at(t, row, "ok_runs")),
		{text: quantity(at(t, row, "median"), unit)},
		{text: quantity(at(t, row, "lowest"), unit)},
		{text: quantity(at(t, row, "highest"), unit)},
		{text: percent(at(t, row, "spread"))},
	}
}

// bestColumns are the columns of a group's best point after the keys and the axes.
var bestColumns = []viewColumn{
	{header: "MEDIAN", right: true},
	{header: "P99", right: true, drop: 3},
	{header: "SPREAD", right: true, drop: 4},
	{header: "RUNS × N", right: true, drop: 2},
	{header: "POINTS", right: true, drop: 1},
	{header: ""},
}

func bestCells(t answer.Table, row []any) []cell {
	unit := textAt(t, row, "unit")
	return []cell{
		{text: quantity(at(t, row, "median"), unit)},
		{text: quantity(at(t, row, "p99"), unit)},
		{text: percent(at(t, row, "spread"))},
		{text: runsTimesSamples(t, row, "best_runs")},
		countCell(at(t, row, "points")),
	}
}

func countCell(v any) cell {
	n, ok := v.(int64)
	if !ok {
		return cell{text: unknown}
	}
	return cell{text: thousands(int(n))}
}

// group gives the words of a group's row: how runs that are not ok ended, and why there is no number.
func (n notes) group(t answer.Table, row []any) cell {
	statuses, _ := at(t, row, "statuses").(map[string]any)
	runs, _ := at(t, row, "runs").(int64)
	failed, _ := at(t, row, "failed_runs").(int64)
	ok, _ := at(t, row, "ok_runs").(int64)
	others := maps.Clone(statuses)
	if all, _ := statuses[string(schema.StatusOK)].(int64); all > ok {
		others["profile"] = all - ok
	}
	delete(others, string(schema.StatusOK))
	var words []string
	for _, word := range slices.Sorted(maps.Keys(others)) {
		n.add(word, groupMeanings[word])
		count, _ := others[word].(int64)
		if count < runs {
			word = fmt.Sprintf("%s %s", thousands(int(count)), word)
		}
		words = append(words, word)
	}
	reason := textAt(t, row, "reason")
	if reason != "" && (reason != query.ReasonNoValue || len(words) == 0) {
		n.add(reason, groupMeanings[reason])
		words = append(words, reason)
	}
	return cell{strings.Join(words, ", "), failed > 0}
}

// keyAxis is the column of a key.
func (a *app) keyAxis(g query.Grouping, i int) axis {
	c := g.Columns[i]
	x := axisOf(g.Table, c.Name, func(row []any) any { return row[i] })
	for n, row := range g.Rows {
		switch v := row[i].(type) {
		case string:
			if c.Name == "run_id" || c.Name == "session_id" {
				x.values[n] = shortRun(v)
			}
		case time.Time:
			x.values[n] = a.when(v)
		case int64, float64:
			x.values[n] = a.anyText(c, v, "")
		}
	}
	return x
}

// groupConstants are what all points share, and the metric where it is one.
func groupConstants(g query.Grouping, best bool) []string {
	var constants []string
	for _, x := range samePoints(g) {
		constants = appendConstant(constants, x.name, x.values[0])
	}
	metric := sameMetric(g)
	if metric == "" || groupedBy(g, "metric") {
		return constants
	}
	if better := textAt(g.Same, g.Same.Rows[0], "better"); best && better != "" {
		metric += ", " + better + " is better"
	}
	return append(constants, metric)
}

// sameMetric is the metric of all points; empty where they have none, or not all the same.
func sameMetric(g query.Grouping) string { return textAt(g.Same, g.Same.Rows[0], "metric") }

func metricAxis(g query.Grouping) axis {
	return axisOf(g.Table, "metric", func(row []any) any { return at(g.Table, row, "metric") })
}

// hasValue tells whether any row has a value.
func hasValue(x axis) bool {
	return slices.ContainsFunc(x.values, func(v string) bool { return v != "" })
}

// samePoints are the identity columns and parameters in which all points agree, less the keys.
func samePoints(g query.Grouping) []axis {
	var same []axis
	_, all := axes(withoutValues(g.Same), runColumns)
	for _, x := range all {
		if !groupedBy(g, x.name) {
			same = append(same, x)
		}
	}
	return same
}

// withoutValues is a table with one more row, of NULL, from which a row with any value at all differs.
func withoutValues(t answer.Table) answer.Table {
	return answer.Table{Columns: t.Columns, Rows: append(slices.Clone(t.Rows), make([]any, len(t.Columns)))}
}

// bestAxes are the axes of the best points in which points differ, those among them in which the best ones agree too.
func bestAxes(g query.Grouping) []axis {
	_, all := axes(withoutValues(g.Table), runColumns)
	same := samePoints(g)
	return slices.DeleteFunc(all, func(x axis) bool {
		return groupedBy(g, x.name) || slices.ContainsFunc(same, func(s axis) bool { return s.name == x.name })
	})
}

// groupedBy tells whether a column or parameter is a key.
func groupedBy(g query.Grouping, name string) bool {
	return slices.ContainsFunc(g.Columns[:g.Keys], func(c answer.Column) bool { return c.Name == name || c.Name == "param."+name })
}

// groupCount is the line that counts everything.
func groupCount(g query.Grouping, o lsOptions) string {
	var ended []string
	for _, status := range schema.Statuses {
		if n := g.Statuses[string(status)]; n > 0 {
			ended = append(ended, thousands(n)+" "+string(status))
		}
	}
	all := fmt.Sprintf("%s, %s: %s", count(g.Points, "point"), count(g.Runs, "run"), strings.Join(ended, ", "))
	if len(o.by) == 0 {
		return "the best of " + all
	}
	order := ", by " + strings.Join(o.by, ", ")
	if len(o.sort) > 0 {
		order = ", by " + strings.Join(o.sort, ", ")
	}
	if len(g.Rows) < g.Total {
		return fmt.Sprintf("%s of %s%s (--limit 0 for all); %s", thousands(len(g.Rows)), count(g.Total, "group"), order, all)
	}
	return count(g.Total, "group") + order + "; " + all
}
