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

// groupMeanings explain the words in a table of groups that are not statuses.
var groupMeanings = map[string]string{
	query.ReasonMixed:       "runs of the group differ in metric or unit, so there is no common number; group by metric and unit too",
	query.ReasonUnchecked:   "no point has results that are all known to be right",
	query.ReasonRequests:    "more requests of the server failed than allow_failed allows, so no point can be the best",
	query.ReasonNoDirection: "it is unknown whether lower or higher values of the metric are better",
	query.ReasonNoValue:     "no ok run has a value",
	"profile":               "profiler passes are counted, but their times are left out",
	WrongResult:             WrongMeaning,
}

// groups returns the table of groups.
func (l Listing) groups(g query.Grouping) term.View {
	if len(g.Groups) == 0 {
		return term.View{Below: []string{l.count(0, 0, 0)}}
	}
	v := term.View{Above: term.Heading(groupConstants(g))}
	var varying []Axis
	if g.Best {
		varying = bestAxes(g)
	}
	notes := Notes{}
	v = l.groupRows(v, g, varying, notes)
	v.Below = append(notes.Lines(), l.groupCount(g))
	several := func(group query.Group) bool { return group.Points > 1 }
	if sizes := inputAxes(varying); len(sizes) > 0 && slices.ContainsFunc(g.Groups, several) {
		v.Below = append(v.Below, fmt.Sprintf("the best are chosen from points that do different work: --by %s gives the best of each", strings.Join(slices.Concat(l.By, sizes), ",")))
	}
	switch {
	case g.SidesTogether && g.Best:
		v.Below = append(v.Below, "the best are chosen from head: side=base gives those of base")
	case g.SidesTogether:
		v.Below = append(v.Below, fmt.Sprintf("the medians are over base and head: --by %s tells them apart", strings.Join(slices.Concat(l.By, []string{"side"}), ",")))
	}
	if g.Combined > 1 {
		v.Below = append(v.Below, combined(g.Combined))
	}
	for _, name := range g.Varied {
		v.Below = append(v.Below, fmt.Sprintf("some medians are over several %s: --by %s tells them apart", name, strings.Join(slices.Concat(l.By, []string{name}), ",")))
	}
	if g.Bisected > 0 {
		v.Below = append(v.Below, fmt.Sprintf("%s of bisect left out, which measured older commits", term.Count(g.Bisected, "run")))
	}
	if g.Best {
		v.Compact = func() term.View {
			return l.groupRows(term.View{Above: v.Above, Below: v.Below}, g, l.Reader.MergedAxes(varying), notes)
		}
	}
	return v
}

// groupRows adds the table to a view of groups; varying are the axes of their best points.
func (l Listing) groupRows(v term.View, g query.Grouping, varying []Axis, notes Notes) term.View {
	var leading []Axis
	for i, key := range g.Keys {
		leading = append(leading, l.keyAxis(g, i))
		if key.Name == "session_id" && !groupedBy(g, "started_at") {
			leading = append(leading, l.startAxis(g, i))
		}
	}
	measured := slices.ContainsFunc(g.Groups, func(group query.Group) bool { return group.Metric != "" })
	if measured && !groupedBy(g, "metric") && g.Same.Metric == "" {
		leading = append(leading, AxisOf(g.Groups, "metric", func(group *query.Group) string { return group.Metric }))
	}
	for _, x := range leading {
		c := AxisColumn(x)
		c.Right = c.Right || slices.ContainsFunc(g.Keys, func(key answer.Column) bool { return key.Name == x.Name && key.Type == answer.TypeInteger })
		if _, ok := schema.Runs.Column(x.Name); ok && AxisHeaders[x.Name] == "" {
			c.Header = strings.ToUpper(strings.TrimSuffix(x.Name, "_id"))
		}
		v.Columns = append(v.Columns, c)
	}
	leading = append(leading, varying...)
	values, columns := groupCells, groupColumns
	if g.Best {
		values, columns = bestCells, bestColumns
	}
	v.Columns = slices.Concat(v.Columns, AxisColumns(varying), columns)
	for i := range g.Groups {
		v.Rows = append(v.Rows, append(append(AxisCells(leading, i), values(&g.Groups[i])...), groupWords(notes, &g.Groups[i])))
	}
	if !g.Best && !slices.ContainsFunc(g.Groups, hasRange) {
		return withoutColumns(v, "LOWEST", "HIGHEST")
	}
	return v
}

// hasRange reports whether the points of a group differ in their medians.
func hasRange(g query.Group) bool {
	return g.Lowest != nil && g.Highest != nil && *g.Lowest != *g.Highest
}

// withoutColumns returns a view without the columns with some headers.
func withoutColumns(v term.View, headers ...string) term.View {
	var kept []int
	for i, c := range v.Columns {
		if !slices.Contains(headers, c.Header) {
			kept = append(kept, i)
		}
	}
	v.Columns = Picked(v.Columns, kept)
	for i, row := range v.Rows {
		v.Rows[i] = Picked(row, kept)
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

// groupQuantity returns a value of the metric of a group. A throughput has no word for the counted items: the runs of a group may count
// tokens or requests.
func groupQuantity(g *query.Group, v *float64) string {
	metric := g.Metric
	if metric == "throughput" {
		metric = ""
	}
	return QuantityOf(answer.Value(v), g.Unit, metric)
}

func groupCells(g *query.Group) []term.Cell {
	lowest, highest := groupQuantity(g, g.Lowest), groupQuantity(g, g.Highest)
	if g.Median != nil && !hasRange(*g) { // both are the median
		lowest, highest = "", ""
	}
	return term.Cells(term.Thousands(g.Points), term.Thousands(g.Runs), term.Thousands(g.OKRuns),
		groupQuantity(g, g.Median), lowest, highest, Percent(answer.Value(g.Spread)))
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
		p99, runs = groupQuantity(g, p.P99), RunsTimesSamples(p.Runs, p.Runs, p.SamplesMin, p.SamplesMax)
	}
	return term.Cells(groupQuantity(g, g.Median), p99, Percent(answer.Value(g.Spread)), runs, term.Thousands(g.Points))
}

// groupWords returns the words of a group's row: how runs that are not ok ended, and why there is no number. Beside a best point these runs
// are left out: the point itself is right.
func groupWords(n Notes, g *query.Group) term.Cell {
	others := maps.Clone(g.Statuses)
	if all := others[string(schema.StatusOK)]; all > g.OKRuns {
		others["profile"] = all - g.OKRuns
	}
	delete(others, string(schema.StatusOK))
	if g.WrongRuns > 0 {
		others[WrongResult] = g.WrongRuns
		if others[string(schema.StatusError)] -= g.WrongRuns; others[string(schema.StatusError)] == 0 {
			delete(others, string(schema.StatusError))
		}
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(others)) {
		n.Add(word, groupMeanings[word])
		if count := others[word]; count < g.Runs {
			word = fmt.Sprintf("%s %s", term.Thousands(count), word)
		}
		words = append(words, word)
	}
	said := g.Reason == query.ReasonNoValue && len(words) > 0 || g.Reason == query.ReasonUnchecked && g.WrongRuns > 0
	if g.Reason != "" && !said {
		n.Add(g.Reason, groupMeanings[g.Reason])
		words = append(words, g.Reason)
	}
	if text := strings.Join(words, ", "); g.Best != nil && text != "" {
		return term.Cell{Text: "left out: " + text}
	}
	return term.Cell{Text: strings.Join(words, ", "), Failed: g.FailedRuns > 0}
}

// StatusCounts counts runs by status in words: 54 ok, 1 timeout.
func StatusCounts[S ~string](counts map[S]int) string {
	var parts []string
	for _, status := range schema.Statuses {
		if n := counts[S(status)]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+string(status))
		}
	}
	return strings.Join(parts, ", ")
}

// groupCount returns the line with the number of groups, and of the points and runs in them.
func (l Listing) groupCount(g query.Grouping) string {
	all := fmt.Sprintf("%s, %s: %s", term.Count(g.Points, "point"), term.Count(g.Runs, "run"), StatusCounts(g.Statuses))
	if len(l.By) == 0 {
		return "the best of " + all
	}
	order := ", by " + strings.Join(l.By, ", ") + undatedSessions(g)
	if len(l.Sort) > 0 {
		order = ", by " + strings.Join(l.Sort, ", ")
	}
	if g.Best {
		runs := 0
		for i := range g.Groups {
			if p := g.Groups[i].Best; p != nil {
				runs += p.Runs
			}
		}
		all = fmt.Sprintf("the points shown have %s, chosen from %s", term.Count(runs, "run"), all)
	}
	if len(g.Groups) < g.Total {
		if !g.Best {
			all = term.All(g.Total, "group") + ": " + all
		}
		return fmt.Sprintf("%s of %s%s (--limit 0 for all); %s", term.Thousands(len(g.Groups)), term.Count(g.Total, "group"), order, all)
	}
	return term.Count(g.Total, "group") + order + "; " + all
}

// undatedSessions counts the groups by session that have no place in the order.
func undatedSessions(g query.Grouping) string {
	at := slices.IndexFunc(g.Keys, func(c answer.Column) bool { return c.Name == "session_id" })
	n := 0
	for i := range g.Groups {
		if at < 0 {
			break
		}
		text, _ := g.Groups[i].Keys[at].(string)
		if id, err := schema.ParseULID(text); err == nil && !id.Dated() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s without a start time, in no order)", term.Count(n, "session"))
}

// keyAxis returns the column of a key.
func (l Listing) keyAxis(g query.Grouping, i int) Axis {
	c := g.Keys[i]
	x := Axis{Name: c.Name}
	for _, group := range g.Groups {
		text := AxisText(group.Keys[i])
		switch v := group.Keys[i].(type) {
		case string:
			switch c.Name {
			case "run_id", "session_id":
				text = ShortRun(v)
			case "git_commit":
				text = ShortCommit(v)
			}
		case time.Time:
			text = v.Local().Format("2006-01-02 15:04:05.999999") // whole: groups that differ in it are different ones
		case int64, float64:
			text = term.ValueText(c, v, "")
		}
		x.Values = append(x.Values, text)
	}
	return x
}

// startAxis returns the column of when the sessions of key i began.
func (l Listing) startAxis(g query.Grouping, i int) Axis {
	return AxisOf(g.Groups, "started_at", func(group *query.Group) string {
		text, _ := group.Keys[i].(string)
		if id, err := schema.ParseULID(text); err == nil && id.Dated() {
			return l.Reader.When(id.Time())
		}
		return ""
	})
}

// groupConstants returns what all points share, and the metric where it is one.
func groupConstants(g query.Grouping) []string {
	var constants []string
	for _, x := range samePoints(g) {
		constants = AppendConstant(constants, x.Name, x.Values[0])
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

// presentAxes returns what any of some points have: they differ in it from a point of nothing.
func presentAxes(points []Subject) []Axis {
	_, all := Axes(append(points, Subject{}), RunColumns)
	return all
}

// samePoints returns the identity columns and parameters in which all points agree, less the keys.
func samePoints(g query.Grouping) []Axis {
	same := presentAxes([]Subject{{Point: g.Same.Point, Side: g.Same.Side}})
	return slices.DeleteFunc(same, func(x Axis) bool { return groupedBy(g, x.Name) })
}

// bestAxes returns the axes of the best points in which points differ, those among them in which the best ones agree too.
func bestAxes(g query.Grouping) []Axis {
	points := make([]Subject, len(g.Groups))
	for i, group := range g.Groups {
		if p := group.Best; p != nil {
			points[i] = Subject{Point: p.Point, Side: p.Side}
		}
	}
	same := samePoints(g)
	return slices.DeleteFunc(presentAxes(points), func(x Axis) bool {
		return groupedBy(g, x.Name) || slices.ContainsFunc(same, func(s Axis) bool { return s.Name == x.Name })
	})
}

// sizes are the names of parameters that say how much work a point does.
var sizes = []string{"size", "n", "m", "k", "len", "length", "rows", "elements", "bytes", "dim", "isl", "osl", "input_size", "problem_size", "message_size"}

// inputAxes returns the keys of those among some axes that say what work a point does, and how much.
func inputAxes(axes []Axis) (keys []string) {
	for _, x := range axes {
		switch {
		case slices.Contains([]string{"benchmark", "model", "batch_size", "seq_len"}, x.Name):
			keys = append(keys, x.Name)
		case slices.Contains(sizes, strings.ToLower(x.Name)):
			keys = append(keys, filter.ParameterKey(x.Name))
		}
	}
	return keys
}

// groupedBy reports whether a column or parameter is a key of the grouping.
func groupedBy(g query.Grouping, name string) bool {
	return slices.ContainsFunc(g.Keys, func(c answer.Column) bool { return c.Name == name || c.Name == "param."+name })
}
