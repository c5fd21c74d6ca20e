package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// shape is the form of a point.
type shape int

const (
	disc shape = iota
	square
	triangle
	diamond
	ring
	downward
	cross
)

// look is how a series is drawn.
type look struct {
	ink, area string
	line      style
	shape     shape
}

// of returns the ink and the shape of a mark: those of its tone, or else those of its series.
func (l look) of(m Mark) (ink string, form shape) {
	if m.Tone != Plain {
		return string(m.Tone), lookOf(m.Tone).shape
	}
	return l.ink, l.shape
}

// dashes tell lines apart that have no points to do so.
var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {14, 4}}

// tonedBefore returns how many of some series have a colour for what they say rather than for their place.
func tonedBefore(series []Series) int {
	n := 0
	for _, s := range series {
		if s.Tone != Plain {
			n++
		}
	}
	return n
}

// showsPoints tells whether the marks of a line are seen themselves.
func (s *figureLayout) showsPoints(series Series) bool {
	const few = 40
	switch series.Style {
	case Line, Steps:
		return s.figure.Kind == Pareto || series.Tone == Plain && s.figure.Kind != ECDF && len(series.Marks) <= few
	}
	return series.Style != Band
}

func (s *figureLayout) look(series Series, place int) look {
	i, named := s.colours[series.Name]
	if !named {
		i = place
	}
	l := look{
		ink: "s" + strconv.Itoa(i%plainInks), area: "b" + strconv.Itoa(i%plainInks),
		shape: []shape{disc, square, triangle, diamond, downward}[i%5],
	}
	if series.Tone != Plain {
		l.ink, l.area, l.shape, i = string(series.Tone), "margin", lookOf(series.Tone).shape, 0
	}
	l.line = style{ink: l.ink, width: 1.75}
	if !s.showsPoints(series) {
		l.line.dash = dashes[i%len(dashes)]
	}
	return l
}

// shape draws a point.
func (p *pen) shape(form shape, ink string, x, y, r float64) {
	corners := func(points ...point) {
		for i := range points {
			points[i] = point{x + points[i].x*r, y + points[i].y*r}
		}
		p.fill(ink, p.closed(points...))
	}
	switch form {
	case square:
		corners(point{-.9, -.9}, point{.9, -.9}, point{.9, .9}, point{-.9, .9})
	case triangle:
		corners(point{0, -1.2}, point{1.15, .85}, point{-1.15, .85})
	case downward:
		corners(point{0, 1.2}, point{1.15, -.85}, point{-1.15, -.85})
	case diamond:
		corners(point{0, -1.3}, point{1.3, 0}, point{0, 1.3}, point{-1.3, 0})
	case ring:
		p.fill("paper", p.circle(x, y, r*.9))
		p.stroke(style{ink: ink, width: 1.5}, p.circle(x, y, r*.9))
	case cross:
		s := style{ink: ink, width: 1.75}
		p.line(s, point{x - r*.9, y - r*.9}, point{x + r*.9, y + r*.9})
		p.line(s, point{x - r*.9, y + r*.9}, point{x + r*.9, y - r*.9})
	default:
		p.fill(ink, p.circle(x, y, r))
	}
}

// radius is smaller where there are many marks.
func (v *view) radius(m Mark) float64 {
	n := 0
	for _, series := range v.part.Series {
		n += len(series.Marks)
	}
	r := 1.8
	switch {
	case n <= 60:
		r = 3.6
	case n <= 400:
		r = 2.6
	}
	if m.Count > 1 {
		r *= 1 + .15*min(math.Log10(float64(m.Count)), 4)
	}
	return r
}

// drawSeries draws the marks of a series, and gives those that have words beside them.
func (v *view) drawSeries(series Series, place int) []labelled {
	l := v.look(series, place-tonedBefore(v.part.Series[:place]))
	var labels []labelled
	data := []attribute{}
	if series.Name != "" {
		data = append(data, attribute{"name", whole(series.Name)})
	}
	v.in(group{class: "series " + string(styleOf(series)), data: data}, func() {
		v.drawLine(series, l)
		for i, m := range series.Marks {
			v.in(v.markGroup(series, m), func() {
				at, drawn := v.drawMark(series, i, l)
				if drawn && m.Label != "" && !v.figure.alongX() && !v.direct {
					labels = append(labels, labelled{m.Label, at, series.Style == Bars})
				}
				if drawn && v.direct && !v.y.placeable(m.Y) { // no line leads to it
					labels = append(labels, labelled{v.ends[series.Name], at, false})
				}
			})
		}
	})
	return labels
}

func styleOf(series Series) Style {
	switch series.Style {
	case Line, Steps, Intervals, Band, Bars, Cells, Frames:
		return series.Style
	}
	return Points
}

// longestCommand is how long a command may be that stands in a picture.
const longestCommand = 4000

// markGroup returns the element of a mark: all that it says, as it is stored.
func (v *view) markGroup(series Series, m Mark) group {
	g := group{class: "mark", title: whole(m.Text)}
	if tone := series.ToneOf(m); tone != Plain {
		g.class += " " + string(tone)
	}
	add := func(name string, value float64, said bool) {
		if said && !math.IsNaN(value) {
			g.data = append(g.data, attribute{name, svgNumber(value)})
		}
	}
	add("x", m.X, true)
	add("y", m.Y, true)
	add("low", m.Low, hasInterval(series.Style, m))
	add("high", m.High, hasInterval(series.Style, m))
	add("value", m.Value, series.Style == Cells || m.Value != 0)
	if m.Count > 0 {
		g.data = append(g.data, attribute{"count", strconv.Itoa(m.Count)})
	}
	if m.Run != "" {
		g.data = append(g.data, attribute{"run", middle(m.Run, longestID)})
	}
	if m.Point != "" {
		g.data = append(g.data, attribute{"point", middle(m.Point, longestID)})
	}
	if m.Command != "" && len(m.Command) <= longestCommand {
		g.data = append(g.data, attribute{"command", m.Command})
	}
	return g
}

// drawLine draws what lies between the marks of a series.
func (v *view) drawLine(series Series, l look) {
	switch series.Style {
	case Line, Steps:
		for _, points := range v.pieces(series) {
			if len(points) > 1 {
				v.line(l.line, points...)
			}
		}
	case Band:
		for _, b := range v.bands(series) {
			if len(b) > 3 {
				v.fill(l.area, v.closed(b...))
			}
		}
	}
}

// pieces returns the lines of a series: one ends where a mark has no number.
func (v *view) pieces(series Series) [][]point {
	var pieces [][]point
	var piece []point
	for _, m := range series.Marks {
		if !v.x.placeable(m.X) || !v.y.placeable(m.Y) {
			pieces, piece = append(pieces, piece), nil
			continue
		}
		at := point{v.px(m.X), v.py(m.Y)}
		switch {
		case series.Style == Steps && len(piece) > 0:
			piece = append(piece, point{at.x, piece[len(piece)-1].y})
		case series.Style == Steps && v.figure.Kind == ECDF && v.y.inside(0):
			piece = append(piece, point{at.x, v.py(0)})
		}
		piece = append(piece, at)
	}
	return append(pieces, piece)
}

// bands returns the areas of a series.
func (v *view) bands(series Series) [][]point {
	var bands [][]point
	var above, below []point
	done := func() {
		slices.Reverse(below)
		bands = append(bands, append(above, below...))
		above, below = nil, nil
	}
	for _, m := range series.Marks {
		if !v.x.placeable(m.X) || math.IsNaN(m.Low) || math.IsNaN(m.High) {
			done()
			continue
		}
		above = append(above, point{v.px(m.X), v.py(m.High)})
		below = append(below, point{v.px(m.X), v.py(m.Low)})
	}
	done()
	return bands
}

// drawMark draws a mark by itself, and says where; not where it has no place.
func (v *view) drawMark(series Series, i int, l look) (point, bool) {
	m := series.Marks[i]
	if series.Style == Cells {
		return v.drawCell(series, m)
	}
	if series.Style == Frames {
		return v.drawFrame(m)
	}
	if v.figure.Kind == Forest {
		return v.drawRow(series, m, l)
	}
	tone := series.ToneOf(m)
	if !v.x.placeable(m.X) {
		return point{}, false
	}
	if !v.y.placeable(m.Y) {
		if tone == Failed {
			at := point{v.across(series, m), v.bottom - 8}
			v.shape(cross, "failed", at.x, at.y, 4)
			return at, true
		}
		return point{}, false
	}
	at := point{v.px(m.X), v.py(m.Y)}
	ink, form := l.of(m)
	warned := m.Tone == Warned && series.Tone == Plain
	if warned { // still of its series
		ink, form = l.ink, l.shape
	}
	r := v.radius(m)
	switch series.Style {
	case Bars:
		return v.drawBar(series, m, ink), true
	case Band:
		v.fill("nothing", v.circle(at.x, at.y, 4))
		return at, true
	case Line, Steps:
		if m.Tone == Plain && !v.showsPoints(series) {
			v.fill("nothing", v.circle(at.x, at.y, 4))
			return at, true
		}
	}
	if hasInterval(series.Style, m) && m.Low < m.High {
		width := 1.0
		if series.Style == Intervals {
			width = 1.75
		}
		v.line(style{ink: ink, width: width}, point{at.x, v.py(m.Low)}, point{at.x, v.py(m.High)})
	}
	if warned {
		v.warned(form, ink, at, r)
		return at, true
	}
	if m.Tone != Plain {
		r = max(r*1.15, 3)
	}
	v.shape(form, ink, at.x, at.y, r)
	return at, true
}

// warned draws a mark with a warning: the mark of its series, with an outline.
func (p *pen) warned(form shape, ink string, at point, r float64) {
	p.shape(form, ink, at.x, at.y, r)
	p.stroke(style{ink: "text", width: 1}, p.circle(at.x, at.y, r+2.2))
}

// across returns where a mark lies along: bars of several series side by side.
func (v *view) across(series Series, m Mark) float64 {
	if series.Style != Bars {
		return v.px(m.X)
	}
	place := slices.Index(v.slots, series.Name)
	return v.px(m.X) + (float64(place)-float64(len(v.slots)-1)/2)*v.barWidth()
}

// barWidth returns how wide bars are, with the gap between two.
func (v *view) barWidth() float64 {
	const most = 72
	return min(v.x.each(v.width())*.76/float64(len(v.slots)), most)
}

// bar returns the box of a bar.
func (v *view) bar(series Series, m Mark) box {
	x, half, zero, end := v.across(series, m), v.barWidth()*.46, v.py(0), v.py(m.Y)
	return box{x - half, min(zero, end), x + half, max(zero, end)}
}

// drawBar draws a bar with its interval, and returns where a label has room.
func (v *view) drawBar(series Series, m Mark, ink string) point {
	b := v.bar(series, m)
	at := point{(b.left + b.right) / 2, v.py(m.Y)}
	v.fill(ink, v.rectangle(b))
	if m.Tone == Warned && series.Tone == Plain {
		v.stroke(style{ink: "text", width: 1}, v.rectangle(b))
	}
	if m.Low <= m.High {
		line, low, high := style{ink: "text", width: 1.25}, v.py(m.Low), v.py(m.High)
		v.line(line, point{at.x, low}, point{at.x, high})
		for _, y := range []float64{low, high} {
			v.line(line, point{at.x - 3.5, y}, point{at.x + 3.5, y})
		}
		at.y = min(at.y, high)
	}
	return at
}

// drawRow draws a mark of a forest: an interval along, with arrows where it has no end, and its label at the end of its row.
func (v *view) drawRow(series Series, m Mark, l look) (point, bool) {
	if !v.y.placeable(m.Y) {
		return point{}, false
	}
	y := v.py(m.Y)
	ink, form := l.of(m)
	if m.Label != "" && len(v.parts) == 1 {
		room := v.size.right - edge - v.right - 4
		v.text(lettering{ink: ink, size: textSize, anchor: end}, v.size.right-edge, y+4, v.fit(v.rowLabel(m), textSize, room+8, false))
	}
	if m.Low < m.High {
		low, high := v.px(m.Low), v.px(m.High)
		line := style{ink: ink, width: 2}
		v.line(line, point{low, y}, point{high, y})
		v.endOf(line, m.Low, low, y, -1)
		v.endOf(line, m.High, high, y, 1)
	}
	if !v.x.placeable(m.X) {
		word := "not known"
		if series.ToneOf(m) == Failed {
			v.shape(cross, "failed", v.left+10, y, 4)
			word = "failed"
		}
		v.text(lettering{ink: "muted", size: smallSize, halo: true}, v.left+20, y+4, word)
		return point{v.left + 10, y}, true
	}
	at := point{v.px(m.X), y}
	v.shape(form, ink, at.x, at.y, 4.2)
	return at, true
}

// endOf ends an interval: with a stroke, or with an arrow where nothing bounds it.
func (v *view) endOf(line style, value, x, y, towards float64) {
	if math.IsInf(value, 0) {
		v.line(line, point{x - 5*towards, y - 4}, point{x, y}, point{x - 5*towards, y + 4})
		return
	}
	line.width = 1.5
	v.line(line, point{x, y - 3.5}, point{x, y + 3.5})
}

// drawCell draws a cell of a heat map, with its value in it where that has room.
func (v *view) drawCell(series Series, m Mark) (point, bool) {
	if !v.x.placeable(m.X) || !v.y.placeable(m.Y) {
		return point{}, false
	}
	x, y := v.px(m.X), v.py(m.Y)
	w, h := v.x.each(v.width()), v.y.each(v.height())
	gap := min(1, w*.1, h*.1)
	cell := box{x - w/2 + gap, y - h/2 + gap, x + w/2 - gap, y + h/2 - gap}
	if !finite(m.Value) {
		v.stroke(style{ink: "grid", width: 1}, v.rectangle(cell))
		if series.ToneOf(m) == Failed {
			v.shape(cross, "failed", x, y, min(4, h/4, w/4))
		}
		return point{x, y}, true
	}
	shade := min(int(v.values.share(m.Value)*shades), shades-1)
	if v.values.Low == v.values.High {
		shade = shades / 2
	}
	v.fill("q"+strconv.Itoa(shade), v.rectangle(cell))
	ink := "onlow"
	if shade >= firstHigh {
		ink = "onhigh"
	}
	if v.cellSize > 0 {
		text := v.figure.Values.quantity(m.Value)
		v.text(lettering{ink: ink, size: v.cellSize, anchor: center}, x, y+v.cellSize*.36, text)
	}
	if tone := series.ToneOf(m); tone != Plain && h >= 12 && w >= 16 {
		v.shape(lookOf(tone).shape, ink, cell.right-6, cell.top+6, 3)
	}
	return point{x, y}, true
}

// drawFrame draws a frame of a flame graph, with as much of its name as has room. Neighbours have different shades.
func (v *view) drawFrame(m Mark) (point, bool) {
	const least, around = 24, 4 // the width of a frame with a name, and the room on each side of it
	y, h := v.py(m.Y), v.y.each(v.height())
	frame := box{v.px(m.Low), y - h/2 + .5, v.px(m.High), y + h/2 - .5}
	if frame.right-frame.left > 1.5 {
		frame.right -= .5
	}
	shade := "q" + strconv.Itoa(1+int(m.Y+math.Round(m.Low))%2)
	v.fill(shade, v.rectangle(frame))
	if w := frame.right - frame.left; w >= least {
		v.text(lettering{ink: "onlow", size: smallSize}, frame.left+around, y+smallSize*.36, v.fit(m.Label, smallSize, w-2*around, false))
	}
	return point{frame.left, y}, true
}
