package views

import (
	"slices"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// keyAxis is the column of a key.
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

// groupConstants are what all points share, and the metric where it is one.
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

func metricAxis(g query.Grouping) Axis {
	x := Axis{Name: "metric"}
	for _, group := range g.Groups {
		x.Values = append(x.Values, group.Metric)
	}
	return x
}

// hasValue tells whether any row has a value.
func hasValue(x Axis) bool {
	return slices.ContainsFunc(x.Values, func(v string) bool { return v != "" })
}

// presentAxes are what any of some points have: they differ in it from a point of nothing.
func presentAxes(points []Subject) []Axis {
	_, all := Axes(append(points, Subject{}), RunColumns)
	return all
}

// samePoints are the identity columns and parameters in which all points agree, less the keys.
func samePoints(g query.Grouping) []Axis {
	same := presentAxes([]Subject{{Point: g.Same.Point, Side: g.Same.Side}})
	return slices.DeleteFunc(same, func(x Axis) bool { return groupedBy(g, x.Name) })
}

// bestAxes are the axes of the best points in which points differ, those among them in which the best ones agree too.
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

// groupedBy tells whether a column or parameter is a key.
func groupedBy(g query.Grouping, name string) bool {
	return slices.ContainsFunc(g.Keys, func(c answer.Column) bool { return c.Name == name || c.Name == "param."+name })
}
