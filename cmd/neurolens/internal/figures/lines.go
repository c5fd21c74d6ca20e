package figures

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
)

// Lines draws a metric over one axis, a line for each value of another one. In a place of several points is the best of them.
func (m Maker) Lines(req Points) (*figure.Figure, error) {
	d, err := m.measured(req)
	if err != nil {
		return nil, err
	}
	d.dropWrong()
	d.dropUnlike()
	x, by, err := d.axisAndLines()
	if err != nil {
		return nil, err
	}
	f := &figure.Figure{Kind: figure.Lines, Title: titled(d.metric, d.title), Notes: d.notes}
	var at map[string]float64
	f.X, at = x.positions()
	f.Y = figure.Axis{Label: d.metric, Unit: d.unit, Better: better(d.better)}
	style := figure.Line
	if f.X.Scale == figure.Categories { // nothing lies between two names
		style = figure.Points
	}
	lines := by.values
	if len(lines) > mostPanels {
		f.Notes = append(f.Notes, shown(mostPanels, len(lines), "lines", "the first values of "+plain(by.Name)+" (a filter chooses others)"))
		lines = lines[:mostPanels]
	}
	if n := len(lines) * len(x.values); n > figure.MostMarks {
		return nil, refused("%d lines of %d values are more than a chart has room for: a filter leaves some out, or --x names another axis", len(lines), len(x.values))
	}
	var values []float64
	for _, value := range lines {
		places := d.grid(x, axis{Axis: wording.Axis{Values: make([]string, len(d.subjects))}}, by, value)
		s := figure.Series{Style: style}
		if by.Values != nil {
			s.Name = axisWord(by.Name, value)
		}
		for _, xv := range x.values {
			own := places[[2]string{xv, ""}]
			if len(own) == 0 {
				continue
			}
			c := d.cellOf(own)
			k := d.mark(c, strings.TrimSpace(axisWord(x.Name, xv)+" "+s.Name))
			k.X, k.Y = at[xv], c.value
			values = append(values, c.value)
			s.Marks = append(s.Marks, k)
		}
		if len(s.Marks) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	f.Y.Scale = scaleOf(values)
	f.Notes = append(f.Notes, d.together(d.folded(x, by))...)
	return f, nil
}

// axisAndLines are the axis that was named, else that of numbers with the most values, and what the lines are of; by has no values where
// points differ in one axis alone.
func (d *measured) axisAndLines() (x, by axis, err error) {
	all := axesOf(d.subjects)
	if d.req.By != "" {
		if by, err = axisNamed(d.subjects, "--by", d.req.By); err != nil {
			return x, by, err
		}
	}
	if d.req.X != "" {
		if x, err = axisNamed(d.subjects, "--x", d.req.X); err != nil {
			return x, by, err
		}
	} else {
		free := slices.DeleteFunc(slices.Clone(all), func(a axis) bool { return a.Name == by.Name })
		if len(free) == 0 {
			return x, by, refused("lines need an axis with several values%s", known(d.subjects))
		}
		x = free[0]
		if at := slices.IndexFunc(free, func(a axis) bool { return len(a.numbers) > 1 }); at >= 0 {
			x = free[at]
		}
	}
	if d.req.By == "" {
		by = axis{values: []string{""}}
		if at := slices.IndexFunc(all, func(a axis) bool { return a.Name != x.Name && len(a.values) <= mostPanels }); at >= 0 {
			by = all[at]
		}
		if benchmarks, needed := d.apart(x, by); needed {
			by = benchmarks
		}
	}
	if x.Name == by.Name {
		return x, by, refused("--x %s and --by %s: want two axes", plain(x.Name), plain(by.Name))
	}
	return x, by, nil
}
