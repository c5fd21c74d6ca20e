package chartdata

import "github.com/neurolens/neurolens/cmd/neurolens/internal/chart"

// Plan is what Lines draws of points, for somebody who draws it himself.
type Plan struct {
	Metric, Unit string
	Axes         []string // in which points differ, by their names in filters
	X, By        string   // of these; empty where points differ in none, and in no second one
	Numbers      bool     // the values of X are numbers
	Doubles      bool     // and lie on a logarithmic axis
}

// Plan says what Lines draws of points.
func (m Maker) Plan(req Points) (Plan, error) {
	d, err := m.measured(req)
	if err != nil {
		return Plan{}, err
	}
	d.dropWrong()
	d.dropUnlike()
	p := Plan{Metric: d.metric, Unit: d.unit}
	for _, a := range axesOf(d.subjects) {
		p.Axes = append(p.Axes, a.Name)
	}
	if len(p.Axes) == 0 {
		return p, nil
	}
	x, by, err := d.axisAndLines(axis{})
	if err != nil {
		return p, err
	}
	positions, _ := x.positions()
	p.X, p.By, p.Numbers, p.Doubles = x.Name, by.Name, positions.Scale != chart.Categories, positions.Scale == chart.Log
	return p, nil
}
