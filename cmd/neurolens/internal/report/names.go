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
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// namer names points by the axes in which the points of a report differ; without any, by all.
type namer struct {
	points  []summary.Point
	varying []views.Axis
	axes    map[string]bool // the names of varying; nil: there are fewer than two points
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
	constants, _ := views.AxesBut([]views.Subject{{Point: s.Point(), Side: string(s.Side)}}, views.RunColumns, func(name string) bool { return n.axes != nil && !n.axes[name] })
	if len(constants) == 0 {
		return views.OrUnknown(string(s.Benchmark))
	}
	return strings.Join(constants, " ")
}

// changed prints a speed-up as the change of a metric, as compare prints it: 1.54 is −35.1 % if lower is better, +54.0 % if higher is.
func changed(speedup *float64, better chart.Better) string {
	if speedup == nil {
		return term.Unknown
	}
	return views.Signed(ratioOf(*speedup, better) - 1)
}

// ratioOf is value / baseline for a speed-up.
func ratioOf(speedup float64, better chart.Better) float64 {
	if better == chart.Higher {
		return speedup
	}
	return 1 / speedup
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

// changeText prints the change of a pair: a ratio or a difference, and its estimator if the values of the sides contradict it.
func changeText(p *summary.Pair) string {
	text := changed(p.Speedup, chart.Better(p.Better))
	if p.Difference != nil {
		text = views.SignedQuantity(*p.Difference, string(p.Unit))
	}
	if word := estimatorWord(p.Estimator); word != "" && text != term.Unknown {
		text += " " + word
	}
	return text
}

// changeInterval returns the interval of changeText, as views.Interval prints it for a table and views.Ends for a sentence; empty if there
// is none.
func changeInterval(p *summary.Pair, form func(low, high float64, scale schema.Scale, unit string) string) string {
	switch better := chart.Better(p.Better); {
	case p.DifferenceLow != nil && p.DifferenceHigh != nil:
		return form(*p.DifferenceLow, *p.DifferenceHigh, schema.ScaleDifference, string(p.Unit))
	case p.Low == nil || p.High == nil:
		return ""
	default: // if lower is better, the lowest speed-up is the largest change
		low, high := ratioOf(*p.Low, better)-1, ratioOf(*p.High, better)-1
		return form(min(low, high), max(low, high), schema.ScaleRatio, "")
	}
}

// levelOf returns the confidence level of the intervals of pairs; if they differ, the lowest.
func levelOf(pairs ...*summary.Pair) string {
	level := 1.
	for _, p := range pairs {
		if p.Confidence != nil {
			level = min(level, *p.Confidence)
		}
	}
	if level == 1 { // there is no interval
		level = judge.Confidence
	}
	return views.Confidence(level)
}

// quantity prints a value of a metric in a unit that suits it.
func quantity[Name ~string](v *float64, unit summary.Text, metric Name) string {
	return views.QuantityOf(answer.Value(v), string(unit), string(metric), "")
}

// share prints a ratio in percent.
func share(v *float64) string { return views.Percent(answer.Value(v)) }
