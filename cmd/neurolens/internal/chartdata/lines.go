package chartdata

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

// Lines draws a metric over one axis, a line for each value of another one, and a panel for each value of a third one where that is asked
// for. In a place of several points is the best of them.
func (m Maker) Lines(req Points) (*chart.Figure, error) {
	d, err := m.placed(req)
	if err != nil {
		return nil, err
	}
	l := lined{measured: d, panels: axis{Axis: views.Axis{Values: make([]string, len(d.subjects))}, values: []string{""}}}
	if req.Panels != "" {
		if l.panels, err = axisNamed(d.subjects, "--panels", req.Panels); err != nil {
			return nil, err
		}
	}
	if l.x, l.by, err = d.axisAndLines(l.panels); err != nil {
		return nil, err
	}
	f := &chart.Figure{Kind: chart.Lines, Title: titled(d.metric, d.title), Notes: d.notes}
	f.X, l.at = l.x.positions()
	f.Y = chart.Axis{Label: d.metric, Unit: d.unit, Better: better(d.better)}
	if l.style = chart.Line; f.X.Scale == chart.Categories { // nothing lies between two names
		l.style = chart.Points
	}
	f.Notes = append(f.Notes, l.cut()...)
	if n := len(l.panels.values) * len(l.by.values) * len(l.x.values); n > chart.MaxMarks {
		return nil, refused("%d lines of %d values are too many for a chart: use a narrower filter, or another axis with --x",
			len(l.panels.values)*len(l.by.values), len(l.x.values))
	}
	var values []float64
	titles := axisWords(l.panels.Name, l.panels.values)
	for n, of := range l.panels.values {
		series := l.series(of, titles[n])
		for _, s := range series {
			for _, k := range s.Marks {
				values = append(values, k.Y)
			}
		}
		if req.Panels == "" {
			f.Series = series
		} else if len(series) > 0 {
			f.Panels = append(f.Panels, chart.Panel{Title: titles[n], Series: series})
		}
	}
	f.Y.Scale = scaleOf(values)
	f.Y.Own = l.panels.Name == benchmarkAxis // a value of one is not better than one of another
	f.Notes = append(f.Notes, d.together(d.folded(l.x, l.by, l.panels))...)
	return f, nil
}

// lined are points with the axes of lines.
type lined struct {
	*measured
	x, by, panels axis
	at            map[string]float64 // places of values along
	style         chart.Style
}

// cut leaves out the lines and panels for which there is no room, and says so.
func (l *lined) cut() (notes []string) {
	for _, one := range []struct {
		axis  *axis
		nouns string
	}{{&l.by, "lines"}, {&l.panels, "panels"}} {
		if n := len(one.axis.values); n > maxPanels {
			notes = append(notes, shown(maxPanels, n, one.nouns, "the first values of "+plain(one.axis.Name)+" (a filter chooses others)"))
			one.axis.values = one.axis.values[:maxPanels]
		}
	}
	return notes
}

// series returns the lines of a panel with a title.
func (l *lined) series(panel, title string) (all []chart.Series) {
	names, alongs := axisWords(l.by.Name, l.by.values), axisWords(l.x.Name, l.x.values)
	for n, value := range l.by.values {
		places := l.grid(l.x, l.panels, l.by, value)
		s := chart.Series{Style: l.style}
		if l.by.Values != nil {
			s.Name = names[n]
		}
		of := s.Name
		if l.panels.Name != "" {
			of = strings.TrimSpace(of + " " + title)
		}
		for along, xv := range l.x.values {
			own := places[[2]string{xv, panel}]
			if len(own) == 0 {
				continue
			}
			c := l.cellOf(own)
			k := l.mark(c, strings.TrimSpace(alongs[along]+" "+of))
			k.X, k.Y = l.at[xv], c.value
			s.Marks = append(s.Marks, k)
		}
		if len(s.Marks) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// benchmarkAxis is the axis whose values are never compared.
const benchmarkAxis = "benchmark"

// axisAndLines returns the axis that was named, else that of numbers with the most values, and what the lines are of; by has no values
// where points differ in one axis alone. Neither is that of the panels, which may have no name.
func (d *measured) axisAndLines(panels axis) (x, by axis, err error) {
	all := axesOf(d.subjects)
	if by, err = d.asked("--by", d.req.By); err != nil {
		return x, by, err
	}
	if x, err = d.asked("--x", d.req.X); err != nil {
		return x, by, err
	}
	if d.req.X == "" {
		free := slices.DeleteFunc(slices.Clone(all), func(a axis) bool { return a.Name == by.Name || a.Name == panels.Name })
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
		if at := slices.IndexFunc(all, func(a axis) bool { return a.Name != x.Name && a.Name != panels.Name && len(a.values) <= maxPanels }); at >= 0 {
			by = all[at]
		}
		if benchmarks, needed := d.apart(x, by, panels); needed {
			by = benchmarks
		}
	}
	switch {
	case x.Name == by.Name:
		return x, by, refused("--x %s and --by %s: want two axes", plain(x.Name), plain(by.Name))
	case panels.Name != "" && panels.Name == x.Name:
		return x, by, refused("--x %s and --panels %s: want two axes", plain(x.Name), plain(panels.Name))
	case panels.Name != "" && panels.Name == by.Name:
		return x, by, refused("--by %s and --panels %s: want two axes", plain(by.Name), plain(panels.Name))
	}
	return x, by, nil
}

// ThirdAxis returns the axis for panels of Lines where points differ in more axes than a chart without panels draws: that of benchmarks,
// else the one with the most values, of those with few enough. Empty: there is none.
func (m Maker) ThirdAxis(req Points) string {
	d, err := m.placed(req)
	if err != nil {
		return ""
	}
	x, by, err := d.axisAndLines(axis{})
	if err != nil {
		return ""
	}
	free := slices.DeleteFunc(d.folded(x, by), func(a axis) bool { return len(a.values) > maxPanels })
	switch {
	case len(free) == 0:
		return ""
	case by.Name == benchmarkAxis && len(by.values) <= maxPanels:
		return benchmarkAxis
	}
	return free[0].Name
}
