package chartdata

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

// Lines draws a metric over one axis, with a line for each value of a second axis, and a panel for each combination of the other axes in
// which points differ.
// Over names it draws bars from zero, as nothing lies between two names: where values span more than two decades, points.
func (m Maker) Lines(req Points) (*chart.Figure, error) {
	d, err := m.placed(req)
	if err != nil {
		return nil, err
	}
	asked, err := d.asked("--panels", req.Panels)
	if err != nil {
		return nil, err
	}
	l := lined{measured: d}
	if l.x, l.by, err = d.axisAndLines(asked); err != nil {
		return nil, err
	}
	if d.dropWithout(&l.x, &asked) { // the lines are of an axis that the rest has
		d.req.X = l.x.Name
		if l.x, l.by, err = d.axisAndLines(asked); err != nil {
			return nil, err
		}
	}
	d.dropWithout(&l.x, &l.by, &asked)
	l.panels = d.panels(asked, l.x, l.by)
	f := &chart.Figure{Kind: chart.Lines, Title: titled(d.metric, d.title), Notes: d.notes}
	f.X, l.at = l.x.positions()
	f.Y = chart.Axis{Label: d.metric, Unit: views.RateUnit(d.metric, d.unit), Better: better(d.better)}
	if n := len(l.by.values); n > maxPanels {
		f.Notes = append(f.Notes, shown(maxPanels, n, "lines", "the first values of "+plain(l.by.Name)+" (a filter chooses others)"))
		l.by.values = l.by.values[:maxPanels]
	}
	f.Notes = append(f.Notes, l.panels.cut(len(l.x.values)*len(l.by.values))...)
	if n := len(l.panels.values) * len(l.by.values) * len(l.x.values); n > chart.MaxMarks {
		return nil, refused("%d lines of %d values are too many for a chart: use a narrower filter, or another axis with --x",
			len(l.panels.values)*len(l.by.values), len(l.x.values))
	}
	for n, of := range l.panels.values {
		series := l.series(of, l.panels.titles[n])
		if len(l.panels.of) == 0 {
			f.Series = series
		} else if len(series) > 0 {
			f.Panels = append(f.Panels, chart.Panel{Title: l.panels.titles[n], Series: series})
		}
	}
	shareTitles(f)
	f.Y.Own = slices.ContainsFunc(l.panels.of, func(a axis) bool { return a.Name == benchmarkAxis }) // a value of one is not better than one of another
	l.shape(f)
	f.Notes = append(f.Notes, d.together(d.folded(l.x, l.by, l.panels.axis))...)
	return f, nil
}

// shape chooses between lines, bars and points, and the scale of their axis, and says what the intervals are.
func (l *lined) shape(f *chart.Figure) {
	var values []float64
	intervals, single := false, false
	for _, k := range f.All() {
		if values = append(values, k.Y); views.Finite(k.Low) {
			values, intervals = append(values, k.Low), true
		}
		single = single || views.Finite(k.Y) && !views.Finite(k.Low)
	}
	f.Y.Scale = scaleOf(values)
	style := chart.Line
	switch {
	case f.X.Scale == chart.Categories && f.Y.Scale == chart.Log:
		if style = chart.Points; intervals {
			style = chart.Intervals
		}
	case f.X.Scale == chart.Categories:
		style = chart.Bars
		for _, v := range values { // zero is seen as well
			if views.Finite(v) && (f.Y.High == 0 || v < f.Y.High) {
				f.Y.High = v
			}
		}
	}
	for _, part := range f.Parts() {
		for i := range part.Series {
			part.Series[i].Style = style
			for k := range part.Series[i].Marks {
				if m := &part.Series[i].Marks[k]; style == chart.Bars && len(values) <= maxLabels && views.Finite(m.Y) {
					m.Label = l.quantity(m.Y)
				}
			}
		}
	}
	switch {
	case intervals && single:
		f.Notes = append(f.Notes, "intervals are 95 % intervals of the median of runs; points with fewer than 6 runs have none")
	case intervals:
		f.Notes = append(f.Notes, "intervals are 95 % intervals of the median of runs")
	case style == chart.Bars:
		f.Notes = append(f.Notes, "no intervals: these need at least 6 runs per point")
	}
}

// maxLabels is how many bars have their values in words.
const maxLabels = 24

// lined are points with the axes of lines.
type lined struct {
	*measured
	x, by  axis
	panels panels
	at     map[string]float64 // places of values along
}

// series returns the lines of a panel with a title.
func (l *lined) series(panel, title string) (all []chart.Series) {
	names, alongs := axisWords(l.by.Name, l.by.values), axisWords(l.x.Name, l.x.values)
	for n, value := range l.by.values {
		places := l.grid(l.x, l.panels.axis, l.by, value)
		s := chart.Series{}
		if l.by.Values != nil {
			s.Name = names[n]
		}
		of := strings.TrimSpace(s.Name + " " + title)
		for along, xv := range l.x.values {
			own := places[[2]string{xv, panel}]
			if len(own) == 0 {
				continue
			}
			c := l.cellOf(own)
			k := l.mark(c, strings.TrimSpace(alongs[along]+" "+of))
			k.X, k.Y, k.Low, k.High = l.at[xv], c.value, c.low, c.high
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
	all := d.axesOf(d.subjects)
	if by, err = d.asked("--by", d.req.By); err != nil {
		return x, by, err
	}
	if x, err = d.asked("--x", d.req.X); err != nil {
		return x, by, err
	}
	if d.req.X == "" {
		free := slices.DeleteFunc(slices.Clone(all), func(a axis) bool { return a.Name == by.Name || a.Name == panels.Name })
		if len(free) == 0 {
			return x, by, refused("lines need an axis with several values%s", d.known(d.subjects))
		}
		x = free[0]
		for _, better := range []func(a axis) bool{func(a axis) bool { return len(a.numbers) > 1 }, func(a axis) bool { return !d.isCompared(a.Name) }} {
			if at := slices.IndexFunc(free, better); at >= 0 {
				x = free[at]
				break
			}
		}
	}
	if d.req.By == "" {
		by = axis{values: []string{""}}
		free := slices.DeleteFunc(slices.Clone(all), func(a axis) bool { return a.Name == x.Name || a.Name == panels.Name || len(a.values) > maxPanels })
		if len(free) > 0 {
			by = slices.MinFunc(free, func(a, b axis) int { return d.besides(a.Name) - d.besides(b.Name) })
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
