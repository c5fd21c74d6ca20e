package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// vegaSchema is the version of Vega-Lite that a specification is for.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v6.json"

// object is one of JSON, of which the members are written in the order of their names.
type object = map[string]any

// VegaLite returns the specification of a figure.
func VegaLite(f *Figure, width int) ([]byte, error) {
	if n := f.Marks(); n > MaxMarks {
		return nil, fmt.Errorf("writing the chart for Vega-Lite: %d marks, at most %d", n, MaxMarks)
	}
	rows := vegaRowsOf(f)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"$schema\": %q,\n  \"data\": {\"values\": [", vegaSchema)
	for i, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("writing the chart for Vega-Lite: mark %d: %w", i, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(text)
	}
	rest, err := json.MarshalIndent(newChart(f, rows).spec(width), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the chart for Vega-Lite: %w", err)
	}
	b.WriteString("\n  ]},")
	b.Write(rest[1:])
	b.WriteByte('\n')
	inert := func(r rune) bool { return r != '\n' && term.IsControl(r) }
	return []byte(term.Escaped(b.String(), inert)), nil
}

// chart is a figure on its way to a specification.
type chart struct {
	f      *Figure
	rows   []row
	groups []string // in their order
	tones  map[string]string
	x, y   vegaAxis
	values vegaAxis
}

// vegaAxis is a channel: how its stored numbers are shown.
type vegaAxis struct {
	Axis
	unit   string
	factor float64

	from, to float64 // what is to be seen
}

func newChart(f *Figure, rows []row) chart {
	c := chart{f: f, rows: rows, tones: map[string]string{}}
	var xs, ys, values []*float64
	for _, r := range rows {
		xs, ys, values = append(xs, r.X), append(ys, r.Y), append(values, r.Value)
		if c.alongX() {
			xs = append(xs, r.Low, r.High)
		} else {
			ys = append(ys, r.Low, r.High)
		}
		if r.Group != "" && !slices.Contains(c.groups, r.Group) {
			c.groups = append(c.groups, r.Group)
			if r.Series == "" {
				c.tones[r.Group] = r.Tone
			}
		}
	}
	c.x, c.y, c.values = newVegaAxis(f.X, xs), newVegaAxis(f.Y, ys), newVegaAxis(f.Values, values)
	return c
}

// alongX reports whether intervals lie along the x axis.
func (c chart) alongX() bool { return c.f.alongX() }

func newVegaAxis(a Axis, values []*float64) vegaAxis {
	var all []float64
	for _, v := range values {
		if v != nil {
			all = append(all, *v)
		}
	}
	seen := NewAxisScale(a, all)
	unit, factor := seen.Unit()
	if a.Scale == Time {
		unit, factor = "", 1e-3 // Vega counts milliseconds
	}
	return vegaAxis{a, unit, factor, seen.Low, seen.High}
}

// spec returns the specification without the data.
func (c chart) spec(wanted int) object {
	chart := object{"layer": c.layers()}
	rest := object{
		"title":     object{"text": c.f.Title, "subtitle": append([]string{}, c.f.Notes...), "anchor": "start"},
		"transform": c.shown(),
		"config":    object{"view": object{"stroke": nil}, "axis": object{"gridOpacity": .5}},
	}
	width, height := c.size()
	if len(c.f.Panels) == 0 {
		if wanted > 0 {
			width = wanted
		}
		rest["layer"], rest["width"], rest["height"] = chart["layer"], width, height
		return rest
	}
	// The panels of a facet cannot have a logarithmic axis here and a linear one there.
	if slices.ContainsFunc(c.f.Panels, func(p Panel) bool { return p.Y != nil || c.f.YOf(p).Scale != c.f.YOf(c.f.Panels[0]).Scale }) {
		delete(rest, "transform")
		rest["concat"], rest["columns"] = c.apart(), columns
		if c.f.Kind == Telemetry {
			rest["columns"] = 1
		}
		return rest
	}
	chart["width"], chart["height"] = width, height
	rest["facet"] = object{"field": "panel", "type": "nominal", "sort": panelTitles(c.f), "title": nil}
	rest["columns"] = columns
	rest["spec"] = chart
	own := object{}
	if c.f.X.Own {
		own["x"] = "independent"
	}
	if c.f.Y.Own {
		own["y"] = "independent"
	}
	if len(own) > 0 {
		rest["resolve"] = object{"scale": own}
	}
	return rest
}

// columns is the number of panels side by side.
const columns = 3

// apart returns the panels as charts of their own.
func (c chart) apart() []object {
	var all []object
	titles := panelTitles(c.f)
	for i, p := range c.f.Panels {
		c.y.Axis = c.f.YOf(p)
		if p.Y != nil {
			c.y = c.ownAxis(p)
		}
		width, height := c.size()
		title, _ := json.Marshal(titles[i]) // a text has no error
		all = append(all, object{
			"title": titles[i], "width": width, "height": height, "layer": c.layers(),
			"transform": append(where("datum.panel === "+string(title)), c.shown()...),
		})
	}
	return all
}

// ownAxis returns the y axis of a panel that has a metric of its own.
func (c chart) ownAxis(p Panel) vegaAxis {
	var values []*float64
	for _, m := range p.All() {
		for _, v := range []float64{m.Y, m.Low, m.High} {
			if finite(v) {
				values = append(values, &v)
			}
		}
	}
	return newVegaAxis(*p.Y, values)
}

// size returns the size of a panel. Each category has a row or a column.
func (c chart) size() (width, height any) {
	width, height = 560, 320
	if len(c.f.Panels) > 0 {
		width, height = 240, 180
	}
	if c.f.Kind == Telemetry {
		width, height = 560, 90
	}
	if c.f.Kind == Heatmap {
		width = object{"step": 56}
	}
	if c.y.Scale == Categories {
		height = object{"step": 24}
	}
	return width, height
}

// shown computes the fields in the units of the axes.
func (c chart) shown() []object {
	var all []object
	add := func(field, as string, a vegaAxis) {
		test := "isValid(datum." + field + ")"
		if a.Scale == Log {
			test += " && datum." + field + " > 0"
		}
		factor := strconv.FormatFloat(a.factor, 'g', -1, 64)
		all = append(all, object{"calculate": fmt.Sprintf("%s ? datum.%s / %s : null", test, field, factor), "as": as})
	}
	if c.x.Scale != Categories {
		add("x", "shown_x", c.x)
	}
	if c.y.Scale != Categories {
		add("y", "shown_y", c.y)
	}
	along := c.y
	if c.alongX() {
		along = c.x
	}
	add("low", "shown_low", along)
	add("high", "shown_high", along)
	add("value", "shown_value", c.values)
	add("until", "shown_until_x", c.x)
	add("until", "shown_until_y", c.y)
	return all
}

// title returns the text of an axis, with its unit.
func (a vegaAxis) title() any {
	switch {
	case a.Scale == Time:
		return a.Label + " (UTC)"
	case a.Label != "" && a.unit != "":
		return a.Label + " (" + a.unit + ")"
	case a.Label == "" && a.unit == "":
		return nil
	}
	return a.Label + a.unit
}

// channel is x or y, of a field or of what is shown in place of it.
func (c chart) channel(name string) object {
	a := c.x
	if name == "y" {
		a = c.y
	}
	switch a.Scale {
	case Categories:
		return object{"field": name + "_name", "type": "nominal", "sort": distinctNames(a.Categories), "title": a.title(), "axis": object{"labelLimit": 240}}
	case Time:
		return object{"field": "shown_" + name, "type": "temporal", "title": a.title(), "scale": object{"type": "utc"}}
	}
	s := object{"zero": false}
	if a.Scale == Log {
		s = object{"type": "log"}
	}
	if (a.Low != 0 || a.High != 0) && !a.Own {
		s["domain"] = []float64{a.from / a.factor, a.to / a.factor}
	}
	encoding := object{"field": "shown_" + name, "type": "quantitative", "title": a.title(), "scale": s}
	if len(a.Measured) > 0 {
		encoding["axis"] = object{"values": a.Measured}
	}
	return encoding
}
