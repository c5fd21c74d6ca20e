package figures

import (
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Heatmap draws a metric over two axes, and small multiples over a third one. In a place of several points is the best of them.
func (m Maker) Heatmap(req Points) (*figure.Figure, error) {
	d, err := m.measured(req)
	if err != nil {
		return nil, err
	}
	d.dropWrong()
	d.dropUnlike()
	x, y, err := d.twoAxes()
	if err != nil {
		return nil, err
	}
	by := axis{values: []string{""}}
	if req.By != "" {
		if by, err = axisNamed(d.subjects, "--by", req.By); err != nil {
			return nil, err
		}
	}
	f := &figure.Figure{Kind: figure.Heatmap, Title: titled(d.metric, d.title), Notes: d.notes}
	f.X, f.Y = figure.Axis{Label: plain(x.Name), Scale: figure.Categories}, figure.Axis{Label: plain(y.Name), Scale: figure.Categories}
	var xs, ys map[string]float64
	f.X.Categories, xs = x.categories()
	f.Y.Categories, ys = y.categories()
	f.Values = figure.Axis{Label: d.metric, Unit: d.unit, Better: better(d.better)}
	panels := by.values
	if len(panels) > mostPanels {
		f.Notes = append(f.Notes, shown(mostPanels, len(panels), "values", "the first of "+plain(by.Name)))
		panels = panels[:mostPanels]
	}
	if n := len(x.values) * len(y.values) * len(panels); n > figure.MostMarks {
		return nil, refused("%d × %d places are more than a heat map has room for (%s): a filter leaves some out, or --x and --y name other axes",
			len(x.values), len(y.values)*len(panels), term.Thousands(figure.MostMarks))
	}
	var values []float64
	several := false
	for _, value := range panels {
		places := d.grid(x, y, by, value)
		s := figure.Series{Style: figure.Cells}
		for _, yv := range y.values {
			for _, xv := range x.values {
				at := places[[2]string{xv, yv}]
				if len(at) == 0 {
					continue
				}
				c := d.cellOf(at)
				several = several || len(at) > 1
				k := d.mark(c, axisWord(x.Name, xv)+" "+axisWord(y.Name, yv))
				k.X, k.Y, k.Value = xs[xv], ys[yv], c.value
				values = append(values, c.value)
				s.Marks = append(s.Marks, k)
			}
		}
		if req.By == "" {
			f.Series = []figure.Series{s}
		} else if len(s.Marks) > 0 {
			f.Panels = append(f.Panels, figure.Panel{Title: axisWord(by.Name, value), Series: []figure.Series{s}})
		}
	}
	f.Values.Scale = shadesOf(values)
	f.Notes = append(f.Notes, d.together(several)...)
	return f, nil
}

// together says what a place of several points shows.
func (d *measured) together(several bool) []string {
	switch {
	case !several:
		return nil
	case d.req.Median:
		return []string{"where several points share a place, their median is shown"}
	case d.better == "":
		return []string{"where several points share a place, their median is shown: which values of " + plain(d.metric) + " are better is not known"}
	}
	return []string{"where several points share a place, the best of them is shown (" + d.better + " is better)"}
}

// grid are the places of points by the values of two axes, of those with one value of a third.
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

// twoAxes are the axes that were named, else those with the most values.
func (d *measured) twoAxes() (x, y axis, err error) {
	all := axesOf(d.subjects)
	if d.req.X != "" {
		if x, err = axisNamed(d.subjects, "--x", d.req.X); err != nil {
			return x, y, err
		}
	}
	if d.req.Y != "" {
		if y, err = axisNamed(d.subjects, "--y", d.req.Y); err != nil {
			return x, y, err
		}
	}
	taken := []string{x.Name, y.Name}
	if d.req.By != "" {
		by, err := axisNamed(d.subjects, "--by", d.req.By)
		if err != nil {
			return x, y, err
		}
		taken = append(taken, by.Name)
	}
	next := func() (axis, error) {
		for _, a := range all {
			if !slices.Contains(taken, a.Name) {
				taken = append(taken, a.Name)
				return a, nil
			}
		}
		return axis{}, refused("heatmap needs two axes with several values%s; plot lines draws one", known(d.subjects))
	}
	if x.Name == "" {
		if x, err = next(); err != nil {
			return x, y, err
		}
	}
	if y.Name == "" {
		if y, err = next(); err != nil {
			return x, y, err
		}
	}
	if x.Name == y.Name {
		return x, y, refused("--x %s and --y %s: want two axes", plain(d.req.X), plain(d.req.Y))
	}
	if d.req.X+d.req.Y == "" && x.numbers == nil && y.numbers != nil { // numbers go along
		x, y = y, x
	}
	return x, y, nil
}
