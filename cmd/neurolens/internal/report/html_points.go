package report

import (
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// results is the table of all points.
func (s *sheet) results() {
	if len(s.d.Points) == 0 {
		return
	}
	subjects := make([]views.Subject, len(s.d.Points))
	for i := range s.d.Points {
		subjects[i] = views.Subject{Point: s.d.Points[i].Point(), Side: string(s.d.Points[i].Side)}
	}
	constants, axes := views.AxesBut(subjects, views.RunColumns, func(string) bool { return false })
	axes = readable(axes)
	if len(axes) == 0 { // one point: its name is the row
		axes, constants = []views.Axis{{Name: "point", Values: slices.Repeat([]string{s.names.name(&s.d.Points[0].Subject)}, len(subjects))}}, nil
	}
	t := &Table{ID: "points", Title: "All points", Command: s.ofPoint()}
	if len(constants) > 0 {
		t.Text = append(t.Text, "All: "+joined(constants...)+".")
	}
	if text := s.sameRuns(); text != "" && s.d.Counts.ByStatus[string(schema.StatusOK)] > 0 {
		t.Text = append(t.Text, "Each point has "+text+" (runs × samples of a run).")
	}
	columns := s.columns(axes)
	everywhere := common(s.d.Points)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	t.Columns = append(t.Columns, Column{Header: "notes"})
	for i := range s.d.Points {
		p := &s.d.Points[i]
		r := Row{Key: string(p.PointID)}
		for _, c := range columns {
			r.Cells = append(r.Cells, c.cell(i, p))
		}
		r.Cells = append(r.Cells, Cell{Text: notes(p, everywhere)})
		t.Rows = append(t.Rows, r)
	}
	s.add(Section{ID: "points", Title: "All points", Tables: []*Table{t}})
}

// sameRuns is how often points were measured where that is the same for all; empty where it is not.
func (s *sheet) sameRuns() string {
	text := runsText(&s.d.Points[0])
	for i := range s.d.Points {
		if runsText(&s.d.Points[i]) != text {
			return ""
		}
	}
	return text
}

// pointColumn is a column of the table of points.
type pointColumn struct {
	Column
	cell func(i int, p *summary.Point) Cell
}

// lean is from how many points on a table has the columns alone that are read most: its file grows with them.
const lean = 1000

// columns are what the table of points shows of each: what it is, its values, and its comparisons.
func (s *sheet) columns(axes []views.Axis) (all []pointColumn) {
	for _, x := range axes {
		c := axisColumn(x)
		all = append(all, pointColumn{Column{Header: c.header, Right: c.right}, func(i int, _ *summary.Point) Cell {
			return Cell{Text: views.AxisCell(x, i).Text}
		}})
	}
	all = append(all, s.values()...)
	if s.sameRuns() == "" {
		all = append(all, pointColumn{Column{Header: "runs × n", Right: true}, func(_ int, p *summary.Point) Cell { return Cell{Text: runsText(p)} }})
	}
	for _, a := range among(s.against, s.d.Points) {
		all = append(all, pointColumn{Column{Header: "vs " + a.name, Unit: "ratio", Right: true, Stored: true}, func(_ int, p *summary.Point) Cell {
			pair := a.pairs[pairKey{p.PointID, p.Machine}]
			if pair == nil || p.Side == "base" {
				return Cell{}
			}
			c := changeCell(pair)
			c.Text = a.cell(p)
			if c.Tone = toneOf(pair.Verdict); c.Tone == chart.Neutral {
				c.Tone = "" // most are
			}
			return c
		}})
	}
	return all
}

// values are the columns of what was measured: the primary metric, how much it varies, and others beside it.
func (s *sheet) values() (all []pointColumn) {
	primary := func(_ int, p *summary.Point) *summary.Value {
		for i := range p.Metrics {
			if p.Metrics[i].Metric == string(p.Metric) {
				return &p.Metrics[i]
			}
		}
		return &summary.Value{}
	}
	names := map[string]bool{}
	units := make([]*summary.Value, len(s.d.Points))
	for i := range s.d.Points {
		units[i] = primary(i, &s.d.Points[i])
		if units[i].Metric != "" {
			names[units[i].Metric] = true
		}
	}
	header := "value"
	if len(names) == 1 {
		for name := range names {
			header = name
		}
	} else {
		all = append(all, pointColumn{Column{Header: "metric"}, func(_ int, p *summary.Point) Cell {
			return Cell{Text: views.OrUnknown(string(p.Metric))}
		}})
	}
	unit := unitOf(units, func(v *summary.Value) summary.Text { return v.Unit })
	value := func(name, unit string, cell func(v *summary.Value) Cell) {
		all = append(all, pointColumn{Column{Header: name, Unit: unit, Right: true, Stored: true}, func(i int, p *summary.Point) Cell { return cell(primary(i, p)) }})
	}
	value(header, unit, func(v *summary.Value) Cell { return amount(v.Median, v.Unit) })
	value("p99", unit, func(v *summary.Value) Cell { return amount(v.P99, v.Unit) })
	value("spread", "ratio", func(v *summary.Value) Cell { return ratio(v.Spread, share(v.Spread)) })
	if len(s.d.Points) > lean {
		return all
	}
	value("between runs", "ratio", func(v *summary.Value) Cell { return ratio(v.RunsSpread, share(v.RunsSpread)) })
	for _, metric := range s.others(names) {
		all = append(all, s.metric(metric))
	}
	return all
}

// metric is the column of a metric beside the primary one.
func (s *sheet) metric(name string) pointColumn {
	var units []*summary.Value
	of := func(p *summary.Point) *summary.Value {
		for i := range p.Metrics {
			if p.Metrics[i].Metric == name && name != string(p.Metric) {
				return &p.Metrics[i]
			}
		}
		return &summary.Value{}
	}
	for i := range s.d.Points {
		units = append(units, of(&s.d.Points[i]))
	}
	unit := unitOf(units, func(v *summary.Value) summary.Text { return v.Unit })
	return pointColumn{Column{Header: name, Unit: unit, Right: true, Stored: true}, func(_ int, p *summary.Point) Cell {
		v := of(p)
		return amount(v.Median, v.Unit)
	}}
}

// others are the metrics beside the primary ones that have columns.
func (s *sheet) others(primary map[string]bool) (names []string) {
	const most = maxColumns - 1
	p := page{d: s.d}
	for _, g := range s.d.Groups {
		metrics, _ := p.columns(&g)
		for _, name := range metrics {
			if !primary[name] && !slices.Contains(names, name) && len(names) < most {
				names = append(names, name)
			}
		}
	}
	return names
}
