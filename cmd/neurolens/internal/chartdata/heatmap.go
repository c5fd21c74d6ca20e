package chartdata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

// Heatmap draws a metric over two axes, with a panel for each combination of the other axes in which points differ.
func (m Maker) Heatmap(req Points) (*chart.Figure, error) {
	d, err := m.placed(req)
	if err != nil {
		return nil, err
	}
	x, y, err := d.twoAxes()
	if err != nil {
		return nil, err
	}
	by, err := d.asked("--by", req.By)
	if err != nil {
		return nil, err
	}
	d.dropWithout(&x, &y, &by)
	p := d.panels(by, x, y)
	f := &chart.Figure{Kind: chart.Heatmap, Title: titled(d.metric, d.title), Notes: d.notes}
	f.X, f.Y = chart.Axis{Label: plain(x.Name), Scale: chart.Categories}, chart.Axis{Label: plain(y.Name), Scale: chart.Categories}
	var xs, ys map[string]float64
	f.X.Categories, xs = x.categories()
	f.Y.Categories, ys = y.categories()
	f.Values = chart.Axis{Label: d.metric, Unit: views.RateUnit(d.metric, d.unit), Better: better(d.better)}
	f.Notes = append(f.Notes, p.cut(len(x.values)*len(y.values))...)
	if n := len(x.values) * len(y.values) * len(p.values); n > chart.MaxMarks {
		return nil, refused("%d × %d cells are too many for a heat map (at most %s): use a narrower filter, or other axes with --x and --y",
			len(x.values), len(y.values)*len(p.values), term.Thousands(chart.MaxMarks))
	}
	var values []float64
	alongs, ups := axisWords(x.Name, x.values), axisWords(y.Name, y.values)
	for n, value := range p.values {
		places := d.grid(x, y, p.axis, value)
		s := chart.Series{Style: chart.Cells}
		for up, yv := range y.values {
			for along, xv := range x.values {
				at := places[[2]string{xv, yv}]
				if len(at) == 0 {
					continue
				}
				c := d.cellOf(at)
				k := d.mark(c, alongs[along]+" "+ups[up])
				k.X, k.Y, k.Value = xs[xv], ys[yv], c.value
				values = append(values, c.value)
				s.Marks = append(s.Marks, k)
			}
		}
		if len(p.of) == 0 {
			f.Series = []chart.Series{s}
		} else if len(s.Marks) > 0 {
			f.Panels = append(f.Panels, chart.Panel{Title: p.titles[n], Series: []chart.Series{s}})
		}
	}
	shareTitles(f)
	f.Values.Scale = logOver(10, values)
	f.Notes = append(f.Notes, d.together(d.folded(x, y, p.axis))...)
	return f, nil
}

// dropWithout leaves out points without a place on one of some axes, such as points without a number on an axis of numbers. A note counts
// these points and names their benchmarks.
func (d *measured) dropWithout(drawn ...*axis) (dropped bool) {
	for _, a := range drawn {
		var kept []int
		var benchmarks []string
		for i := range d.subjects {
			if a.Values == nil || slices.Contains(a.values, a.Values[i]) {
				kept = append(kept, i)
			} else if name := d.subjects[i].Point.Benchmark; !slices.Contains(benchmarks, name) {
				benchmarks = append(benchmarks, name)
			}
		}
		n := len(d.subjects) - len(kept)
		if n == 0 {
			continue
		}
		d.notes = append(d.notes, fmt.Sprintf("%s without %s not drawn: %s", term.Count(n, "point"), plain(a.Name), listed(benchmarks)))
		d.keep(kept)
		dropped = true
		for _, other := range drawn {
			if other.Values != nil {
				other.Values = views.Picked(other.Values, kept)
			}
		}
	}
	return dropped
}

// together says what a place of several points shows, and in which axes these differ.
func (d *measured) together(folded []axis) []string {
	if len(folded) == 0 {
		return nil
	}
	return []string{"the median of the points that differ in " + counted(folded)}
}

// folded returns the axes in which points differ that are in one place, where places are those of some axes. Points that differ in none of
// them differ in what no axis is.
func (d *measured) folded(drawn ...axis) (folded []axis) {
	places := map[string][]int{}
	for i := range d.subjects {
		var at []string
		for _, a := range drawn {
			if a.Values != nil {
				at = append(at, fmt.Sprintf("%q", a.Values[i]))
			}
		}
		place := strings.Join(at, " ")
		places[place] = append(places[place], i)
	}
	for _, a := range d.axesOf(d.subjects) {
		for _, own := range places {
			if slices.ContainsFunc(own, func(i int) bool { return a.Values[i] != a.Values[own[0]] }) {
				folded = append(folded, a)
				break
			}
		}
	}
	return folded
}

// panels are small multiples: one for each combination of values of some axes.
type panels struct {
	axis            // its values are the combinations
	of     []axis   // none: there is one panel
	titles []string // of the values
}

// panels returns the panels over an axis that was asked for, which may have no name, and over those in which points of a place of the drawn
// axes differ otherwise, so that a place has a single point. With --median it has several.
func (d *measured) panels(asked axis, drawn ...axis) panels {
	p := panels{axis: axis{Axis: views.Axis{Values: make([]string, len(d.subjects))}, values: []string{""}}, titles: []string{""}}
	if asked.Name != "" {
		p.of = append(p.of, asked)
	}
	if !d.req.Median {
		p.of = append(p.of, d.folded(append(drawn, asked)...)...)
	}
	if at := slices.IndexFunc(p.of, func(a axis) bool { return a.Name == benchmarkAxis }); at > 0 { // names begin with it
		p.of = slices.Insert(slices.Delete(slices.Clone(p.of), at, at+1), 0, p.of[at])
	}
	if len(p.of) == 0 {
		return p
	}
	of := map[string]int{} // a point of each combination
	for i := range d.subjects {
		key := strings.Join(term.Texts(p.of, func(a axis) string { return strconv.Quote(a.Values[i]) }), " ")
		if p.Values[i] = key; len(of) == 0 || of[key] == 0 {
			of[key] = i + 1
		}
	}
	p.Name = strings.Join(term.Texts(p.of, func(a axis) string { return a.Name }), ", ")
	p.values = slices.SortedFunc(maps.Keys(of), func(v, w string) int {
		for _, a := range p.of {
			if c := slices.Index(a.values, a.Values[of[v]-1]) - slices.Index(a.values, a.Values[of[w]-1]); c != 0 {
				return c
			}
		}
		return 0
	})
	p.titles = term.Texts(p.values, func(v string) string {
		return strings.Join(term.Texts(p.of, func(a axis) string { return axisWords(a.Name, []string{a.Values[of[v]-1]})[0] }), " ")
	})
	return p
}

// cut leaves out the panels whose marks would exceed the limit of a figure, and adds a note about them.
func (p *panels) cut(each int) []string {
	n, most := len(p.values), min(maxPanels, max(chart.MaxMarks/each, 1))
	if n <= most {
		return nil
	}
	p.values, p.titles = p.values[:most], p.titles[:most]
	return []string{shown(most, n, "panels", "the first values of "+plain(p.Name)+" (a filter chooses others, and --median combines them)")}
}

// grid returns the places of points by the values of two axes, of those with one value of a third.
func (d *measured) grid(x, y, by axis, value string) map[[2]string][]int {
	all := map[[2]string][]int{}
	for i := range d.subjects {
		if by.Values == nil || by.Values[i] == value {
			at := [2]string{x.Values[i], y.Values[i]}
			all[at] = append(all[at], i)
		}
	}
	return all
}

// twoAxes returns the axes that were named, else those with the most values.
func (d *measured) twoAxes() (x, y axis, err error) {
	all := d.axesOf(d.subjects)
	if x, err = d.asked("--x", d.req.X); err != nil {
		return x, y, err
	}
	if y, err = d.asked("--y", d.req.Y); err != nil {
		return x, y, err
	}
	by, err := d.asked("--by", d.req.By)
	if err != nil {
		return x, y, err
	}
	for _, one := range []*axis{&x, &y} {
		if one.Name != "" {
			continue
		}
		free := slices.IndexFunc(all, func(a axis) bool { return !slices.Contains([]string{x.Name, y.Name, by.Name}, a.Name) })
		if free < 0 {
			return x, y, refused("heatmap needs two axes with several values%s; plot lines draws one", d.known(d.subjects))
		}
		*one = all[free]
	}
	if x.Name == y.Name {
		return x, y, refused("--x %s and --y %s: want two axes", plain(d.req.X), plain(d.req.Y))
	}
	if d.req.X+d.req.Y == "" && x.numbers == nil && y.numbers != nil { // numbers go along
		x, y = y, x
	}
	return x, y, nil
}
