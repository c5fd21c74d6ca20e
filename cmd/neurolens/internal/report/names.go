package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// namer names points by the axes in which the points of a report differ.
type namer struct {
	points  []summary.Point
	varying []views.Axis
	axes    map[string]bool // the names of varying; nil: there are fewer than two points, which are named by all but their machine
}

func namerOf(points []summary.Point) namer {
	if len(points) < 2 {
		return namer{points: points}
	}
	n := namer{points: points, axes: map[string]bool{}}
	_, n.varying = views.Axes(chartdata.SubjectsOf(points), views.RunColumns)
	for _, x := range n.varying {
		n.axes[x.Name] = true
	}
	return n
}

// filter returns a filter that selects some points of the report: by the values of their axes or, if these select other points too, by
// their ids. It is empty for all points.
func (n namer) filter(ids ...summary.Text) string {
	var words []string
	kept := make([]bool, len(n.points)) // the points that match so far
	for i := range kept {
		kept[i] = true
	}
	chosen := func(i int) bool { return slices.Contains(ids, n.points[i].PointID) }
	for _, x := range n.varying {
		if x.Name == "side" || x.Name == "purpose" {
			continue
		}
		values, others := map[string]bool{}, false
		for i, value := range x.Values {
			if chosen(i) {
				values[value] = true
			}
		}
		for i, value := range x.Values {
			if !values[value] {
				others = others || kept[i]
				kept[i] = false
			}
		}
		if others {
			words = append(words, x.Name+"="+filterValues(x.Name, slices.Sorted(maps.Keys(values))))
		}
	}
	for i := range kept {
		if kept[i] && !chosen(i) || strings.Contains(strings.Join(words, " "), "null,") {
			return byID(ids)
		}
	}
	return strings.Join(words, " ")
}

// filterValues returns alternative values of a condition on a key; the empty one is NULL.
func filterValues(key string, values []string) string {
	return strings.Join(term.Texts(values, func(v string) string { return views.FilterValue(key, v) }), ",")
}

// byID returns a filter of points by the beginnings of their ids.
func byID(ids []summary.Text) string {
	const enough = 12 // characters of an id: no two points of a store have the same
	short := term.Texts(ids, func(id summary.Text) string { return string(id[:min(len(id), enough)]) })
	if len(short) == 1 {
		return "point_id~^" + short[0]
	}
	return "point_id~^(" + strings.Join(short, "|") + ")"
}

// without names the points of a pair without an axis.
func (n namer) without(axis string, p *summary.Pair) string { return n.but(axis, "backend").pair(p) }

// but returns a namer that leaves some axes out.
func (n namer) but(axes ...string) namer {
	kept := maps.Clone(n.axes)
	for _, axis := range axes {
		delete(kept, axis)
		delete(kept, filter.ParameterKey(axis))
	}
	return namer{axes: kept}
}

// pair names the points of a pair, whose sides need not be told.
func (n namer) pair(p *summary.Pair) string {
	subject := p.Subject
	subject.Side = ""
	return n.name(&subject)
}

// name names a point. One that differs in nothing from others has its benchmark or its model for a name.
func (n namer) name(s *summary.Subject) string {
	left := func(axis string) bool { return n.axes == nil && axis == "machine" || n.axes != nil && !n.axes[axis] }
	constants, _ := views.AxesBut([]views.Subject{{Point: s.Point(), Side: string(s.Side)}}, views.RunColumns, left)
	if len(constants) == 0 {
		return views.OrUnknown(string(s.Benchmark))
	}
	return strings.Join(constants, " ")
}

// direction returns the direction of a mean over the pairs of a comparison: lower if lower is better for any of them, else higher.
func (d *Document) direction(c *summary.Comparison) chart.Better {
	for i := range d.Pairs {
		if p := &d.Pairs[i]; &d.Comparisons[p.Comparison] == c && chart.Better(p.Better) == chart.Lower {
			return chart.Lower
		}
	}
	return chart.Higher
}

// share prints a ratio in percent.
func share(v *float64) string { return views.Percent(answer.Value(v)) }
