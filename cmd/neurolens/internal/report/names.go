package report

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
)

// namer names points by the axes in which the points of a report differ; nil: by all.
type namer struct{ axes map[string]bool }

func namerOf(points []summary.Point) namer {
	if len(points) < 2 {
		return namer{}
	}
	n := namer{map[string]bool{}}
	_, varying := views.Axes(chartdata.SubjectsOf(points), views.RunColumns)
	for _, x := range varying {
		n.axes[x.Name] = true
	}
	return n
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
