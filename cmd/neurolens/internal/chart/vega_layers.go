package chart

import (
	"cmp"
	"maps"
	"slices"
)

// vegaColors are those of Okabe and Ito, which colour-blind people can tell apart.
var vegaColors = []string{"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#999933"}

var vegaShapes = []string{"circle", "square", "diamond", "triangle-up", "triangle-down", "cross"}

// layers are guides, then marks by their style, then what is marked of them.
func (c chart) layers() []object {
	layers := append([]object{}, c.guides()...)
	for _, style := range []Style{Cells, Frames, Band, Bars, Line, Steps, Intervals, Points} {
		for _, grouped := range []bool{false, true} {
			if slices.ContainsFunc(c.rows, func(r row) bool {
				return r.Part == "mark" && cmp.Or(Style(r.Style), Points) == style && (r.Group != "") == grouped
			}) {
				layers = append(layers, c.marks(style, grouped)...)
			}
		}
	}
	return append(layers, c.states()...)
}

// layerOf returns a layer of the rows that pass a test.
func layerOf(test string, mark, encoding object) object {
	return object{"transform": where(test), "mark": mark, "encoding": encoding}
}

// where filters rows.
func where(test string) []object { return []object{{"filter": test}} }

// marks returns the layers of a style. What has no group has one colour.
func (c chart) marks(style Style, grouped bool) []object {
	test := "datum.part === 'mark' && datum.style === '" + string(style) + "'"
	if style == Points {
		test = "datum.part === 'mark' && (!datum.style || datum.style === 'points')"
	}
	test += " && " + map[bool]string{true: "datum.group", false: "!datum.group"}[grouped]
	layer := func(mark object, encoding object) object {
		if grouped && style != Cells {
			encoding["color"] = object{"field": "group", "type": "nominal", "title": nil, "scale": object{"domain": c.groups, "range": c.looks(vegaColors, func(l toneLook) string { return l.vegaColor })}}
		} else if style != Cells {
			mark["color"] = vegaColors[0]
		}
		encoding["tooltip"] = object{"field": "text", "type": "nominal"}
		return layerOf(test, mark, encoding)
	}
	x, y := c.channel("x"), c.channel("y")
	breaks := "break-paths-show-domains"
	order := object{"field": "place", "type": "quantitative"}
	switch style {
	case Cells:
		return c.cells(test, x, y)
	case Band:
		return []object{layer(object{"type": "area", "opacity": .25, "invalid": breaks}, object{"x": x, "y": c.low(y), "y2": object{"field": "shown_high"}})}
	case Frames:
		return []object{layer(object{"type": "rect", "stroke": "white"}, object{"x": c.low(x), "x2": object{"field": "shown_high"}, "y": y})}
	case Bars:
		layers := []object{layer(object{"type": "bar"}, c.sideBySide(object{"x": x, "y": y}))}
		if c.hasIntervals(style) {
			ends := c.sideBySide(object{"x": x, "y": c.low(y), "y2": object{"field": "shown_high"}})
			layers = append(layers, layerOf(test+" && isValid(datum.low)", object{"type": "rule", "strokeWidth": 1.5}, ends))
		}
		return layers
	case Line:
		layers := []object{layer(object{"type": "line", "point": c.f.Kind != History, "invalid": breaks}, object{"x": x, "y": y, "order": order, "detail": series()})}
		if c.hasIntervals(style) {
			layers = append(layers, layer(object{"type": "rule"}, object{"x": x, "y": c.low(y), "y2": object{"field": "shown_high"}}))
		}
		return layers
	case Steps:
		return []object{layer(object{"type": "line", "interpolate": "step-after", "point": c.f.Kind == Pareto, "invalid": breaks}, object{"x": x, "y": y, "order": order, "detail": series()})}
	case Intervals:
		ends := object{"x": x, "y": c.low(y), "y2": object{"field": "shown_high"}}
		if c.alongX() {
			ends = object{"x": c.low(x), "x2": object{"field": "shown_high"}, "y": y}
		}
		return []object{layer(object{"type": "rule", "strokeWidth": 2}, ends), layer(vegaPoint(), c.shaped(grouped, object{"x": x, "y": y}))}
	}
	return []object{layer(vegaPoint(), c.shaped(grouped, object{"x": x, "y": y}))}
}

// hasIntervals reports whether a mark of a style has an interval.
func (c chart) hasIntervals(style Style) bool {
	return slices.ContainsFunc(c.rows, func(r row) bool { return Style(r.Style) == style && r.Low != nil && r.High != nil })
}

// sideBySide gives bars of several series places next to each other.
func (c chart) sideBySide(encoding object) object {
	if slots := c.f.slots(); len(slots) > 1 {
		encoding["xOffset"] = object{"field": "series", "type": "nominal", "sort": slots}
	}
	return encoding
}

func series() object { return object{"field": "series", "type": "nominal"} }

// low returns a channel of the lower ends of intervals.
func (c chart) low(of object) object {
	low := maps.Clone(of)
	low["field"] = "shown_low"
	return low
}

func vegaPoint() object { return object{"type": "point", "filled": true, "size": 60} }

// shaped gives groups shapes.
func (c chart) shaped(grouped bool, encoding object) object {
	if grouped {
		encoding["shape"] = object{"field": "group", "type": "nominal", "title": nil, "scale": object{"domain": c.groups, "range": c.looks(vegaShapes, func(l toneLook) string { return l.vegaShape })}}
	}
	return encoding
}

// looks returns the colours or the shapes of groups: of a tone its own, of others one of some ways.
func (c chart) looks(ways []string, own func(toneLook) string) []string {
	all := make([]string, len(c.groups))
	for i, group := range c.groups {
		all[i] = cmp.Or(own(lookOf(Tone(c.tones[group]))), ways[i%len(ways)])
	}
	return all
}

// cells returns the layers of the cells of a heat map, with their values.
func (c chart) cells(test string, x, y object) []object {
	s := object{"scheme": "viridis"}
	if c.values.Scale == Log {
		s["type"] = "log"
	}
	color := object{"field": "shown_value", "type": "quantitative", "title": c.values.title(), "scale": s}
	tooltip := object{"field": "text", "type": "nominal"}
	known, value := test+" && isValid(datum.shown_value)", object{"field": "shown_value", "type": "quantitative", "format": ".3~g"}
	return []object{
		layerOf(known, object{"type": "rect"}, object{"x": x, "y": y, "color": color, "tooltip": tooltip}),
		layerOf(known, object{"type": "text", "stroke": "white", "strokeWidth": 3}, object{"x": x, "y": y, "text": value}),
		layerOf(known, object{"type": "text", "color": "black"}, object{"x": x, "y": y, "text": value, "tooltip": tooltip}),
		layerOf(test+" && !isValid(datum.shown_value)", object{"type": "text", "color": "#D55E00"}, object{"x": x, "y": y, "text": object{"value": "–"}, "tooltip": tooltip}),
	}
}

// states mark what marks of named series say, and failures, which have no place on the y axis.
func (c chart) states() []object {
	var layers []object
	x, y := c.channel("x"), c.channel("y")
	for _, look := range toneLooks {
		if look.tone == Neutral || c.alongX() || c.f.Kind == Heatmap {
			continue
		}
		mark := object{"type": "point", "filled": true, "size": 90, "color": look.vegaColor, "shape": look.vegaShape}
		test := "datum.part === 'mark' && datum.tone === '" + string(look.tone) + "' && "
		tooltip := object{"field": "text", "type": "nominal"}
		has := func(known bool) bool {
			return slices.ContainsFunc(c.rows, func(r row) bool {
				return r.Part == "mark" && r.Tone == string(look.tone) && r.X != nil && (r.Y != nil) == known && (r.Series != "" || !known)
			})
		}
		if has(true) {
			layers = append(layers, layerOf(test+"isValid(datum.y) && datum.series", mark, object{"x": x, "y": y, "tooltip": tooltip}))
		}
		if has(false) {
			layers = append(layers, layerOf(test+"!isValid(datum.y)", mark, object{"x": x, "y": object{"value": "height"}, "tooltip": tooltip}))
		}
	}
	return layers
}

// guides returns the layers of guides.
func (c chart) guides() []object {
	has := func(along Along, wide bool) bool {
		return slices.ContainsFunc(c.rows, func(r row) bool { return r.Part == string(along) && (r.Until != nil) == wide })
	}
	var layers []object
	line := object{"type": "rule", "color": "#777777", "strokeDash": []int{4, 3}}
	for _, along := range []Along{Vertical, Horizontal} {
		name := map[Along]string{Vertical: "x", Horizontal: "y"}[along]
		test := "datum.part === '" + string(along) + "' && "
		encoding := func() object {
			return object{name: c.channel(name), "tooltip": object{"field": "text", "type": "nominal"}}
		}
		if has(along, true) {
			area := encoding()
			area[name+"2"] = object{"field": "shown_until_" + name}
			layers = append(layers, layerOf(test+"isValid(datum.until)", object{"type": "rect", "color": "#999999", "opacity": .2}, area))
		}
		if has(along, false) {
			layers = append(layers, layerOf(test+"!isValid(datum.until)", line, encoding()))
		}
		if has(along, true) || has(along, false) {
			words := encoding()
			words["text"] = object{"field": "text", "type": "nominal"}
			mark := object{"type": "text", "align": "left", "baseline": "top", "dx": 3, "dy": 2, "color": "#555555", "limit": 160}
			words[map[string]string{"x": "y", "y": "x"}[name]] = object{"value": 0}
			layers = append(layers, layerOf(test+"datum.text", mark, words))
		}
	}
	if has(Diagonal, false) {
		low, high := c.span()
		ends := []object{{"shown_x": low / c.x.factor, "shown_y": low / c.y.factor}, {"shown_x": high / c.x.factor, "shown_y": high / c.y.factor}}
		mark := maps.Clone(line)
		mark["type"] = "line"
		layers = append(layers, object{"data": object{"values": ends}, "mark": mark, "encoding": object{"x": c.channel("x"), "y": c.channel("y")}})
	}
	return layers
}

// span is from the least number of both axes to the largest.
func (c chart) span() (low, high float64) {
	var all []float64
	for _, r := range c.rows {
		for _, v := range []*float64{r.X, r.Y} {
			if v != nil && r.Part == "mark" && (*v > 0 || c.x.Scale != Log) {
				all = append(all, *v)
			}
		}
	}
	if len(all) == 0 {
		return 1, 1
	}
	return slices.Min(all), slices.Max(all)
}
