package report

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
)

// namer names points by that in which those of a report differ.
type namer struct{ same map[string]bool }

// namerOf finds the columns in which all points agree.
func namerOf(points []summary.Point) namer {
	n := namer{map[string]bool{}}
	if len(points) < 2 {
		return n
	}
	first := &points[0].Subject
	agree := func(same func(s *summary.Subject) bool) bool {
		for i := range points {
			if !same(&points[i].Subject) {
				return false
			}
		}
		return true
	}
	for _, name := range views.RunColumns {
		want := text(first, name)
		n.same[name] = agree(func(s *summary.Subject) bool { return text(s, name) == want })
	}
	for param, want := range first.Params {
		n.same["param."+param] = agree(func(s *summary.Subject) bool {
			value, ok := s.Params[param]
			return ok && value == want
		})
	}
	return n
}

// text is that of a column of a point.
func text(s *summary.Subject, column string) string {
	if column == "side" {
		return string(s.Side)
	}
	p := s.Point()
	return term.ValueString(p.Value(column))
}

// pair names the points of a pair, whose sides need not be told.
func (n namer) pair(p *summary.Pair) string {
	subject := p.Subject
	subject.Side = ""
	return n.name(&subject)
}

// name names a point. One that differs in nothing from others has its benchmark or its model for a name.
func (n namer) name(s *summary.Subject) string {
	constants, _ := views.AxesBut([]views.Subject{{Point: s.Point(), Side: string(s.Side)}}, views.RunColumns, func(name string) bool { return n.same[name] || n.same["param."+name] })
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

// direction is the direction of a mean over the pairs of a comparison: lower if lower is better for any of them, else higher.
func (d *Document) direction(c *summary.Comparison) chart.Better {
	for i := range d.Pairs {
		if p := &d.Pairs[i]; &d.Comparisons[p.Comparison] == c && chart.Better(p.Better) == chart.Lower {
			return chart.Lower
		}
	}
	return chart.Higher
}

// changeText prints the change of a pair: a ratio or a difference.
func changeText(p *summary.Pair) string {
	if p.Difference != nil {
		return views.SignedQuantity(*p.Difference, string(p.Unit))
	}
	return changed(p.Speedup, chart.Better(p.Better))
}

// changeInterval prints the interval of changeText; empty if there is none.
func changeInterval(p *summary.Pair) string {
	switch better := chart.Better(p.Better); {
	case p.DifferenceLow != nil && p.DifferenceHigh != nil:
		return views.SignedQuantity(*p.DifferenceLow, string(p.Unit)) + " … " + views.SignedQuantity(*p.DifferenceHigh, string(p.Unit))
	case p.Low == nil || p.High == nil:
		return ""
	case better == chart.Higher:
		return changed(p.Low, better) + " … " + changed(p.High, better)
	default: // the lowest speed-up is the largest change
		return changed(p.High, better) + " … " + changed(p.Low, better)
	}
}

// quantity prints a value in a unit that suits it.
func quantity(v *float64, unit summary.Text) string {
	return term.Quantity(answer.Value(v), string(unit))
}

// share prints a ratio in percent.
func share(v *float64) string { return views.Percent(answer.Value(v)) }
