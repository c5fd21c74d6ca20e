package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
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
		if format == output.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		g, err := db.Groups(cmd.Context(), query.GroupRequest{
			Filter: o.filter, Since: o.since, Until: o.until, By: o.by, Best: o.best, Sort: o.sort, Limit: o.limit,
		})
		if err != nil {
			return err
		}
		a.reportNotNumbers(g.NotNumbers)
		return a.print(format, answer.TableOf(g.Fields(), g.Groups), func() term.View { return a.groupsView(g, o) })
	})
}

// groupsView is the table of groups.
func (a *app) groupsView(g query.Grouping, o lsOptions) term.View {
	if len(g.Groups) == 0 {
		return term.View{Below: []string{lsCount(0, 0, o)}}
	}
	v := term.View{Above: term.Heading(groupConstants(g))}
	var varying []wording.Axis
	if g.Best {
		varying = bestAxes(g)
	}
	notes := wording.Notes{}
	v = a.groupRows(v, g, varying, notes)
	v.Below = append(notes.Lines(), groupCount(g, o))
	if g.Best {
		v.Compact = func() term.View {
			return a.groupRows(term.View{Above: v.Above, Below: v.Below}, g, wording.MergedAxes(varying), notes)
		}
	}
	return v
}

// groupRows adds the table to a view of groups; varying are the axes of their best points.
func (a *app) groupRows(v term.View, g query.Grouping, varying []wording.Axis, notes wording.Notes) term.View {
	var leading []wording.Axis
	for i := range g.Keys {
		leading = append(leading, a.keyAxis(g, i))
	}
	if metrics := metricAxis(g); !groupedBy(g, "metric") && g.Same.Metric == "" && hasValue(metrics) {
		leading = append(leading, metrics)
	}
	for i, x := range leading {
		c := wording.AxisColumn(x)
		c.Right = c.Right || i < len(g.Keys) && g.Keys[i].Type == answer.TypeInteger
		if _, ok := schema.Runs.Column(x.Name); ok && wording.AxisHeaders[x.Name] == "" {
			c.Header = strings.ToUpper(strings.TrimSuffix(x.Name, "_id"))
		}
		v.Columns = append(v.Columns, c)
	}
	for _, x := range varying {
		v.Columns = append(v.Columns, wording.AxisColumn(x))
	}
	leading = append(leading, varying...)
	values, columns := groupCells, groupColumns
	if g.Best {
		values, columns = bestCells, bestColumns
	}
	v.Columns = append(v.Columns, columns...)
	for i := range g.Groups {
		var cells []term.Cell
		for _, x := range leading {
			cells = append(cells, wording.AxisCell(x, i))
		}
		v.Rows = append(v.Rows, append(append(cells, values(&g.Groups[i])...), groupWords(notes, &g.Groups[i])))
	}
	return v
}

// groupColumns are the columns of a group after its keys.
var groupColumns = []term.Column{
	{Header: "POINTS", Right: true},
	{Header: "RUNS", Right: true},
	{Header: "OK", Right: true, Drop: 1},
	{Header: "MEDIAN", Right: true},
	{Header: "LOWEST", Right: true, Drop: 2},
	{Header: "HIGHEST", Right: true, Drop: 3},
	{Header: "SPREAD", Right: true, Drop: 4},
	{Header: ""},
}

func groupCells(g *query.Group) []term.Cell {
	number := func(v *float64) term.Cell { return term.Cell{Text: output.Quantity(answer.Value(v), g.Unit)} }
	return []term.Cell{
		{Text: term.Thousands(g.Points)},
		{Text: term.Thousands(g.Runs)},
		{Text: term.Thousands(g.OKRuns)},
		number(g.Median), number(g.Lowest), number(g.Highest),
		{Text: wording.Percent(answer.Value(g.Spread))},
	}
}

// bestColumns are the columns of a group's best point after the keys and the axes.
var bestColumns = []term.Column{
	{Header: "MEDIAN", Right: true},
	{Header: "P99", Right: true, Drop: 3},
	{Header: "SPREAD", Right: true, Drop: 4},
	{Header: "RUNS × N", Right: true, Drop: 2},
	{Header: "POINTS", Right: true, Drop: 1},
	{Header: ""},
}

func bestCells(g *query.Group) []term.Cell {
	p99, runs := term.Unknown, term.Unknown
	if p := g.Best; p != nil {
		p99, runs = output.Quantity(answer.Value(p.P99), g.Unit), wording.RunsTimesSamples(p.Runs, p.SamplesMin, p.SamplesMax)
	}
	return []term.Cell{
		{Text: output.Quantity(answer.Value(g.Median), g.Unit)}, {Text: p99}, {Text: wording.Percent(answer.Value(g.Spread))}, {Text: runs}, {Text: term.Thousands(g.Points)},
	}
}

// groupWords are the words of a group's row: how runs that are not ok ended, and why there is no number.
func groupWords(n wording.Notes, g *query.Group) term.Cell {
	others := maps.Clone(g.Statuses)
	if all := others[string(schema.StatusOK)]; all > g.OKRuns {
		others["profile"] = all - g.OKRuns
	}
	delete(others, string(schema.StatusOK))
	var words []string
	for _, word := range slices.Sorted(maps.Keys(others)) {
		n.Add(word, groupMeanings[word])
		if count := others[word]; count < g.Runs {
			word = fmt.Sprintf("%s %s", term.Thousands(count), word)
		}
		words = append(words, word)
	}
	if g.Reason != "" && (g.Reason != query.ReasonNoValue || len(words) == 0) {
		n.Add(g.Reason, groupMeanings[g.Reason])
		words = append(words, g.Reason)
	}
	return term.Cell{Text: strings.Join(words, ", "), Failed: g.FailedRuns > 0}
}

// keyAxis is the column of a key.
func (a *app) keyAxis(g query.Grouping, i int) wording.Axis {
	c := g.Keys[i]
	x := wording.Axis{Name: c.Name}
	for _, group := range g.Groups {
		text := wording.AxisText(group.Keys[i])
		switch v := group.Keys[i].(type) {
		case string:
			if c.Name == "run_id" || c.Name == "session_id" {
				text = wording.ShortRun(v)
			}
		case time.Time:
			text = a.reader().When(v)
		case int64, float64:
			text = output.ValueText(c, v, "")
		}
		x.Values = append(x.Values, text)
	}
	return x
}

// groupConstants are what all points share, and the metric where it is one.
func groupConstants(g query.Grouping) []string {
	var constants []string
	for _, x := range samePoints(g) {
		constants = wording.AppendConstant(constants, x.Name, x.Values[0])
	}
	metric := g.Same.Metric
	if metric == "" || groupedBy(g, "metric") {
		return constants
	}
	if g.Best && g.Same.Better != "" {
		metric += ", " + g.Same.Better + " is better"
	}
	return append(constants, metric)
}

func metricAxis(g query.Grouping) wording.Axis {
	x := wording.Axis{Name: "metric"}
	for _, group := range g.Groups {
		x.Values = append(x.Values, group.Metric)
	}
	return x
}

// hasValue tells whether any row has a value.
func hasValue(x wording.Axis) bool {
	return slices.ContainsFunc(x.Values, func(v string) bool { return v != "" })
}

// presentAxes are what any of some points have: they differ in it from a point of nothing.
func presentAxes(points []wording.Subject) []wording.Axis {
	_, all := wording.Axes(append(points, wording.Subject{}), wording.RunColumns)
	return all
}

// samePoints are the identity columns and parameters in which all points agree, less the keys.
func samePoints(g query.Grouping) []wording.Axis {
	same := presentAxes([]wording.Subject{{Point: g.Same.Point, Side: g.Same.Side}})
	return slices.DeleteFunc(same, func(x wording.Axis) bool { return groupedBy(g, x.Name) })
}

// bestAxes are the axes of the best points in which points differ, those among them in which the best ones agree too.
func bestAxes(g query.Grouping) []wording.Axis {
	points := make([]wording.Subject, len(g.Groups))
	for i, group := range g.Groups {
		if p := group.Best; p != nil {
			points[i] = wording.Subject{Point: p.Point, Side: p.Side}
		}
	}
	same := samePoints(g)
	return slices.DeleteFunc(presentAxes(points), func(x wording.Axis) bool {
		return groupedBy(g, x.Name) || slices.ContainsFunc(same, func(s wording.Axis) bool { return s.Name == x.Name })
	})
}

// groupedBy tells whether a column or parameter is a key.
func groupedBy(g query.Grouping, name string) bool {
	return slices.ContainsFunc(g.Keys, func(c answer.Column) bool { return c.Name == name || c.Name == "param."+name })
}

// groupCount is the line that counts everything.
func groupCount(g query.Grouping, o lsOptions) string {
	var ended []string
	for _, status := range schema.Statuses {
		if n := g.Statuses[string(status)]; n > 0 {
			ended = append(ended, term.Thousands(n)+" "+string(status))
		}
	}
	all := fmt.Sprintf("%s, %s: %s", term.Count(g.Points, "point"), term.Count(g.Runs, "run"), strings.Join(ended, ", "))
	if len(o.by) == 0 {
		return "the best of " + all
	}
	order := ", by " + strings.Join(o.by, ", ")
	if len(o.sort) > 0 {
		order = ", by " + strings.Join(o.sort, ", ")
	}
	if len(g.Groups) < g.Total {
		return fmt.Sprintf("%s of %s%s (--limit 0 for all); %s", term.Thousands(len(g.Groups)), term.Count(g.Total, "group"), order, all)
	}
	return term.Count(g.Total, "group") + order + "; " + all
}
