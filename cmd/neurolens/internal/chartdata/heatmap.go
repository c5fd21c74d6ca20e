package chartdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Heatmap draws a metric over two axes, and small multiples over a third one. In a place of several points is the best of them.
func (m Maker) Heatmap(req Points) (*chart.Figure, error) {
	d, err := m.placed(req)
	if err != nil {
		return nil, err
	}
	x, y, err := d.twoAxes()
	if err != nil {
		return nil, err
	}
	by, single := axis{values: []string{""}}, req.By == ""
	if !single {
		if by, err = axisNamed(d.subjects, "--by", req.By); err != nil {
			return nil, err
		}
	} else if benchmarks, needed := d.apart(x, y); needed {
		by, single = benchmarks, false
	}
	f := &chart.Figure{Kind: chart.Heatmap, Title: titled(d.metric, d.title), Notes: d.notes}
	f.X, f.Y = chart.Axis{Label: plain(x.Name), Scale: chart.Categories}, chart.Axis{Label: plain(y.Name), Scale: chart.Categories}
	var xs, ys map[string]float64
	f.X.Categories, xs = x.categories()
	f.Y.Categories, ys = y.categories()
	f.Values = chart.Axis{Label: d.metric, Unit: d.unit, Better: better(d.better)}
	panels := by.values
	if len(panels) > maxPanels {
		f.Notes = append(f.Notes, shown(maxPanels, len(panels), "values", "the first of "+plain(by.Name)))
		panels = panels[:maxPanels]
	}
	if n := len(x.values) * len(y.values) * len(panels); n > chart.MaxMarks {
		return nil, refused("%d × %d cells are too many for a heat map (at most %s): use a narrower filter, or other axes with --x and --y",
			len(x.values), len(y.values)*len(panels), term.Thousands(chart.MaxMarks))
	}
	var values []float64
	titles, alongs, ups := axisWords(by.Name, panels), axisWords(x.Name, x.values), axisWords(y.Name, y.values)
	for n, value := range panels {
		places := d.grid(x, y, by, value)
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
		if single {
			f.Series = []chart.Series{s}
		} else if len(s.Marks) > 0 {
			f.Panels = append(f.Panels, chart.Panel{Title: titles[n], Series: []chart.Series{s}})
		}
	}
	f.Values.Scale = logOver(10, values)
	f.Notes = append(f.Notes, d.together(d.folded(x, y, by))...)
	return f, nil
}

// together says what a place of several points shows, and in which axes these differ.
func (d *measured) together(folded []axis) []string {
	if len(folded) == 0 {
		return nil
	}
	over := " over " + counted(folded)
	switch {
	case d.req.Median:
		return []string{"each place shows the median" + over}
	case d.better == "":
		return []string{"each place shows the median" + over + ": it is unknown whether lower or higher " + plain(d.metric) + " is better"}
	}
	return []string{"each place shows the best" + over + " (" + d.better + " is better; --median shows the median)"}
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
	for _, a := range axesOf(d.subjects) {
		for _, own := range places {
			if slices.ContainsFunc(own, func(i int) bool { return a.Values[i] != a.Values[own[0]] }) {
				folded = append(folded, a)
				break
			}
		}
	}
	return folded
}

// apart returns the axis of benchmarks where several would be in one place: a value of one is not better than one of another.
func (d *measured) apart(drawn ...axis) (by axis, needed bool) {
	folded := d.folded(drawn...)
	at := slices.IndexFunc(folded, func(a axis) bool { return a.Name == benchmarkAxis })
	if at < 0 {
		return axis{}, false
	}
	return folded[at], true
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
	all := axesOf(d.subjects)
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
			return x, y, refused("heatmap needs two axes with several values%s; plot lines draws one", known(d.subjects))
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
