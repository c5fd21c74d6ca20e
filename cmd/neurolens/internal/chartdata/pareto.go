package chartdata

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// pair is a point with a value of each of two metrics, each as one that is better where it is lower.
type pair struct {
	place int
	x, y  float64
	cost  [2]float64
}

// Pareto draws points by two metrics, X and Y, and marks the front: the points that no other one beats in both.
func (m Maker) Pareto(req Points) (*chart.Figure, error) {
	if req.X == "" || req.Y == "" {
		return nil, refused("pareto needs two metrics: --x METRIC --y METRIC")
	}
	if req.X == req.Y {
		return nil, refused("--x and --y are both %s: want two metrics", plain(req.X))
	}
	req.Metric = req.X
	d, err := m.measured(req)
	if err != nil {
		return nil, refused("--x: %v", err)
	}
	other, err := valuesIn(req.All, req.Y)
	if err != nil {
		return nil, refused("--y: %v", err)
	}
	for _, one := range []*valued{&d.valued, &other} {
		if one.better == "" {
			return nil, refused("it is unknown whether lower or higher %s is better, so there is no front; plot scatter compares two sides", plain(one.metric))
		}
	}
	d.dropWrong()
	d.drop((*summary.Point).FailedRequests, "more requests failed than allow_failed allows")
	pairs := pairsOf(&d.valued, &other)
	if len(pairs) == 0 {
		return nil, refused("no point has a value of both %s and %s", plain(d.metric), plain(other.metric))
	}
	f := &chart.Figure{Kind: chart.Pareto, Title: titled(d.metric+" and "+other.metric, d.title), Notes: append(d.notes, other.notes...)}
	var xs, ys []float64
	for _, p := range pairs {
		xs, ys = append(xs, p.x), append(ys, p.y)
	}
	f.X = chart.Axis{Label: d.metric, Unit: views.RateUnit(d.metric, d.unit), Better: better(d.better), Scale: scaleOf(xs)}
	f.Y = chart.Axis{Label: other.metric, Unit: views.RateUnit(other.metric, other.unit), Better: better(other.better), Scale: scaleOf(ys)}
	front, beaten := frontOf(pairs)
	mark := func(p pair, says string) chart.Mark {
		k := d.mark(cell{places: []int{p.place}}, "")
		k.X, k.Y = p.x, p.y
		k.Text = sentence(d.names[p.place]+": "+d.metric+" "+d.quantity(p.x), other.metric+" "+other.quantity(p.y), says)
		return k
	}
	best := chart.Series{Name: "front", Style: chart.Steps} // between two of its points nothing was measured that is better
	for _, p := range front {
		k := mark(p, "no other point is better in both")
		k.Label = d.names[p.place]
		best.Marks = append(best.Marks, k)
	}
	best.Marks = best.Marks[:min(len(best.Marks), chart.MaxMarks/2)]
	rest := chart.Series{Name: "beaten", Style: chart.Points, Tone: chart.Neutral}
	if len(front)+len(beaten) <= chart.MaxMarks {
		for _, p := range beaten {
			rest.Marks = append(rest.Marks, mark(p, "beaten by another point"))
		}
	} else {
		rest.Marks = d.clouds(&other, f, beaten)
		f.Notes = append(f.Notes, term.Count(len(beaten), "point")+" beaten by others are combined where they lie close together")
	}
	f.Series = []chart.Series{best}
	if len(rest.Marks) > 0 {
		f.Series = append(f.Series, rest)
	}
	second := plain(other.metric)
	if d.better != other.better {
		second = other.better + " " + second
	}
	f.Notes = append(f.Notes, fmt.Sprintf("%s of %s on the front: %s %s and %s are better", term.Thousands(len(front)), term.Count(len(pairs), "point"), d.better, plain(d.metric), second))
	if left := len(req.All) - len(pairs); left > 0 {
		f.Notes = append(f.Notes, term.Count(left, "point")+" not drawn: no value of one of the metrics")
	}
	return f, nil
}

// pairsOf returns the points with a value of both metrics.
func pairsOf(x, y *valued) (all []pair) {
	cost := func(v float64, better string) float64 {
		if better == string(schema.BetterHigher) {
			return -v
		}
		return v
	}
	for i := range x.values {
		if x.values[i] != nil && y.values[i] != nil {
			p := pair{place: i, x: *x.values[i].Median, y: *y.values[i].Median}
			p.cost = [2]float64{cost(p.x, x.better), cost(p.y, y.better)}
			all = append(all, p)
		}
	}
	return all
}

// frontOf returns the points that no other one beats: that is as good in both metrics, and better in one.
func frontOf(all []pair) (front, beaten []pair) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.cost[0], b.cost[0]), cmp.Compare(a.cost[1], b.cost[1]))
	})
	for _, p := range all {
		if n := len(front); n == 0 || p.cost[1] < front[n-1].cost[1] || p.cost == front[n-1].cost {
			front = append(front, p)
		} else {
			beaten = append(beaten, p)
		}
	}
	return front, beaten
}

// clouds puts points together that lie in one field of a grid over the figure.
func (d *measured) clouds(other *valued, f *chart.Figure, all []pair) (marks []chart.Mark) {
	const fields = 30 // along each axis
	place := func(values func(p pair) float64, scale chart.Scale) func(p pair) int {
		of := func(p pair) float64 {
			if scale == chart.Log {
				return math.Log(values(p))
			}
			return values(p)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range all {
			low, high = min(low, of(p)), max(high, of(p))
		}
		return func(p pair) int {
			if high == low {
				return 0
			}
			return min(int((of(p)-low)/(high-low)*fields), fields-1)
		}
	}
	x, y := place(func(p pair) float64 { return p.x }, f.X.Scale), place(func(p pair) float64 { return p.y }, f.Y.Scale)
	clouds := map[[2]int][]pair{}
	var order [][2]int
	for _, p := range all {
		at := [2]int{x(p), y(p)}
		if clouds[at] == nil {
			order = append(order, at)
		}
		clouds[at] = append(clouds[at], p)
	}
	for _, at := range order {
		own := clouds[at]
		var xs, ys []float64
		c := cell{}
		for _, p := range own {
			xs, ys, c.places = append(xs, p.x), append(ys, p.y), append(c.places, p.place)
		}
		k := d.mark(c, "")
		k.X, k.Y = median(xs), median(ys)
		k.Text = fmt.Sprintf("%s about %s %s, %s %s, beaten by others", term.Count(len(own), "point"), d.metric, d.quantity(k.X), other.metric, other.quantity(k.Y))
		marks = append(marks, k)
	}
	return marks
}
