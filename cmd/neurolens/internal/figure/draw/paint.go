package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

// draw draws the whole sheet.
func (s *sheet) draw() {
	if !s.options.Embedded {
		s.fill("paper", s.rectangle(box{0, 0, s.size.right, s.height}))
	}
	y := edge - 4
	for _, line := range s.title {
		y += titleSize + 5
		s.text(lettering{ink: "text", size: titleSize, bold: true}, edge, y-4, line)
	}
	y += 8
	for _, row := range s.legend {
		x := edge
		y += lineHeight + 2
		for _, e := range row {
			if e.sample != nil {
				e.sample(s, x, y-9)
				x += e.width + 4
			}
			s.text(lettering{ink: "muted", size: smallSize}, x, y-5, e.text)
			x += s.width(e.text, smallSize, false) + entryGap
		}
	}
	if s.nothing {
		s.text(lettering{ink: "muted", size: 13, anchor: center},
			(s.plots.left+s.plots.right)/2, (s.plots.top+s.plots.bottom)/2, "No values to show.")
	} else {
		if s.y.title != "" {
			s.text(lettering{ink: "muted", size: textSize}, edge, y+13, s.fit(s.y.title, textSize, s.size.right-2*edge, false))
		}
		for i, part := range s.parts {
			s.drawPanel(i, part)
		}
		if s.x.title != "" {
			title := s.fit(s.x.title, textSize, s.size.right-2*edge, false)
			middle := (s.plots.left + s.plots.right) / 2
			half := s.width(title, textSize, false) / 2
			middle = min(max(middle, edge+half), s.size.right-edge-half)
			s.text(lettering{ink: "muted", size: textSize, anchor: center}, middle, s.plots.bottom+s.below+13, title)
		}
	}
	y = s.height - s.notesHeight() + 6
	for _, note := range s.notes {
		y += smallSize + 4
		s.text(lettering{ink: "muted", size: smallSize}, edge, y, note)
	}
}

// view is a panel that is being drawn.
type view struct {
	*sheet
	box
	part  figure.Panel
	index int
}

func (v *view) px(value float64) float64 { return v.left + v.x.share(value)*v.width() }

// py is from above for categories, which are read from above, and from below for values.
func (v *view) py(value float64) float64 {
	share := v.y.share(value)
	if v.y.Scale == figure.Categories && v.y.ordinal == nil {
		return v.top + share*v.height()
	}
	return v.bottom - share*v.height()
}

func (v *view) width() float64  { return v.box.width() }
func (v *view) height() float64 { return v.box.height() }

func (s *sheet) drawPanel(i int, part figure.Panel) {
	v := &view{sheet: s, box: s.panel(i), part: part, index: i}
	if len(s.figure.Panels) > 0 {
		y := v.top - 7 - float64(s.guideRows)*15
		s.text(lettering{ink: "text", size: textSize, bold: true}, v.left, y, s.fit(part.Title, textSize, v.width(), true))
	}
	v.drawGrid()
	v.drawAreas()
	v.drawGuides()
	var later []labelled
	for place, series := range part.Series {
		later = append(later, v.drawSeries(series, place)...)
	}
	v.drawLabels(later)
	if s.direct {
		v.nameEnds()
	}
}

// drawGrid draws lines at ticks, and the names of ticks at the left and at the bottom.
func (v *view) drawGrid() {
	quiet := style{ink: "grid", width: 1}
	cells := v.figure.Kind == figure.Heatmap
	for _, t := range v.y.ticks {
		y := v.py(t.at)
		if !cells {
			v.line(quiet, point{v.left, y}, point{v.right, y})
		}
		if v.index%v.columns == 0 && t.text != "" {
			v.text(lettering{ink: tickInk(v.y), size: textSize, anchor: end}, v.left-8, y+4, t.text)
		}
	}
	for _, t := range v.x.ticks {
		x := v.px(t.at)
		if !cells && t.text != "" {
			v.line(quiet, point{x, v.top}, point{x, v.bottom})
		}
		if v.index+v.columns < len(v.parts) || t.text == "" {
			continue
		}
		if v.turned {
			v.text(lettering{ink: tickInk(v.x), size: textSize, anchor: end, turned: turnedBy}, x+4, v.bottom+13, t.text)
			continue
		}
		v.text(lettering{ink: tickInk(v.x), size: textSize, anchor: center}, x, v.bottom+15, t.text)
	}
	if !cells {
		v.line(style{ink: "axis", width: 1}, point{v.left, v.bottom}, point{v.right, v.bottom})
	}
}

// tickInk has names darker than numbers.
func tickInk(a *axis) string {
	if a.Scale == figure.Categories {
		return "text"
	}
	return "muted"
}

// drawAreas fills the areas of guides.
func (v *view) drawAreas() {
	for _, g := range v.part.Guides {
		if !(g.Until > g.At) || g.Along == figure.Diagonal {
			continue
		}
		v.in(v.guideGroup(g), func() {
			if g.Along == figure.Horizontal {
				if v.y.placeable(g.At) && v.y.placeable(g.Until) {
					v.fill("margin", v.rectangle(box{v.left, v.py(g.Until), v.right, v.py(g.At)}))
				}
				return
			}
			if v.x.placeable(g.At) && v.x.placeable(g.Until) {
				v.fill("margin", v.rectangle(box{v.px(g.At), v.top, v.px(g.Until), v.bottom}))
			}
		})
	}
}

func (v *view) guideGroup(g figure.Guide) group {
	data := []attribute{{"along", string(g.Along)}}
	if g.Along != figure.Diagonal {
		data = append(data, attribute{"at", number(g.At)})
		if g.Until > g.At {
			data = append(data, attribute{"until", number(g.Until)})
		}
	}
	return group{class: "guide", title: whole(g.Text), data: data}
}

// drawGuides draws the lines of guides, and the names of all guides.
func (v *view) drawGuides() {
	line := style{ink: "guide", width: 1, dash: []vg.Length{4, 3}}
	for _, g := range v.part.Guides {
		if g.Until > g.At || !v.seen(g) {
			continue
		}
		v.in(v.guideGroup(g), func() {
			switch g.Along {
			case figure.Vertical:
				v.line(line, point{v.px(g.At), v.top - 4}, point{v.px(g.At), v.bottom})
			case figure.Horizontal:
				v.line(line, point{v.left, v.py(g.At)}, point{v.right, v.py(g.At)})
			case figure.Diagonal:
				v.diagonal(line)
			}
		})
	}
	for _, name := range v.placeNames(v.part.Guides) {
		y := v.top - 8 - float64(name.row)*15
		v.text(lettering{ink: "guide", size: smallSize, anchor: name.anchor}, v.left+name.x, y, name.text)
	}
	for _, g := range v.part.Guides {
		text := v.fit(g.Text, smallSize, v.width()*.6, false)
		switch {
		case g.Text == "" || !v.seen(g):
		case g.Along == figure.Horizontal:
			at := g.At
			if g.Until > g.At {
				at = g.Until
			}
			y := v.py(at) - 4
			if y < v.top+9 {
				y = v.py(at) + 12
			}
			v.text(lettering{ink: "guide", size: smallSize, anchor: end, halo: true}, v.right-4, y, text)
		case g.Along == figure.Diagonal:
			low, high := max(v.x.low, v.y.low), min(v.x.high, v.y.high)
			if low < high {
				v.text(lettering{ink: "guide", size: smallSize, anchor: end, halo: true}, v.px(high)-8, v.py(high)+12, text)
			}
		}
	}
}

// seen tells whether a guide lies in the panel.
func (v *view) seen(g figure.Guide) bool {
	switch g.Along {
	case figure.Vertical:
		return v.x.inside(g.At) || g.Until > g.At && g.At < v.x.high && g.Until > v.x.low
	case figure.Horizontal:
		return v.y.inside(g.At) || g.Until > g.At && g.At < v.y.high && g.Until > v.y.low
	}
	return true
}

// diagonal draws y = x, which is no straight line where one axis is logarithmic and the other is not.
func (v *view) diagonal(line style) {
	low, high := max(v.x.low, v.y.low), min(v.x.high, v.y.high)
	if !(low < high) {
		return
	}
	steps := 1
	if v.x.Scale != v.y.Scale {
		steps = 48
	}
	var points []point
	for i := range steps + 1 {
		at := low + (high-low)*float64(i)/float64(steps)
		points = append(points, point{v.px(at), v.py(at)})
	}
	v.line(line, points...)
}

// placed is the name of a guide above a panel.
type placed struct {
	text   string
	x      float64 // from the left of the panel
	row    int
	anchor anchor
}

const mostGuideRows = 3

// placeNames puts the names of vertical guides into rows above a panel, so that none lies on another one.
func (s *sheet) placeNames(guides []figure.Guide) []placed {
	guides = slices.Clone(guides)
	slices.SortStableFunc(guides, func(a, b figure.Guide) int { return cmp.Compare(middleOf(a), middleOf(b)) })
	var names []placed
	var used [mostGuideRows]float64
	for i := range used {
		used[i] = math.Inf(-1)
	}
	for _, g := range guides {
		v := view{sheet: s}
		if g.Along != figure.Vertical || g.Text == "" || !v.seen(g) {
			continue
		}
		x := s.x.share(middleOf(g)) * s.panelWidth
		text := s.fit(g.Text, smallSize, min(s.panelWidth, 180), false)
		half := s.width(text, smallSize, false) / 2
		x = min(max(x, half), max(s.panelWidth-half, half))
		row := slices.IndexFunc(used[:], func(end float64) bool { return x-half > end+8 })
		if row < 0 {
			continue
		}
		used[row] = x + half
		names = append(names, placed{text, x, row, center})
	}
	return names
}

func middleOf(g figure.Guide) float64 {
	if g.Until > g.At {
		return g.At/2 + g.Until/2
	}
	return g.At
}

// rowsOfGuides is how many lines of names stand above panels, and which names have no room there.
func (s *sheet) rowsOfGuides() int {
	rows := 0
	for _, part := range s.parts {
		names := s.placeNames(part.Guides)
		for _, name := range names {
			rows = max(rows, name.row+1)
		}
	}
	return rows
}

// labelled is a mark with a few words beside it.
type labelled struct {
	text string
	at   point
}

// drawLabels writes words beside marks, where they lie on nothing.
func (v *view) drawLabels(labels []labelled) {
	const most = 60
	var taken []box
	eachMark(v.part, func(_ figure.Series, m figure.Mark) {
		if v.x.placeable(m.X) && v.y.placeable(m.Y) {
			x, y := v.px(m.X), v.py(m.Y)
			taken = append(taken, box{x - 4, y - 4, x + 4, y + 4})
		}
	})
	for _, l := range labels[:min(len(labels), most)] {
		text := v.fit(l.text, smallSize, v.width()/3, false)
		w := v.width2(text)
		for _, try := range []struct {
			x, y   float64
			anchor anchor
		}{{8, 4, start}, {0, -8, center}, {-8, 4, end}, {0, 16, center}, {7, -6, start}, {-7, 14, end}, {7, 14, start}, {-7, -6, end}} {
			x, y := l.at.x+try.x, l.at.y+try.y
			left := x
			switch try.anchor {
			case center:
				left -= w / 2
			case end:
				left -= w
			}
			b := box{left, y - 9, left + w, y + 3}
			if b.left < v.left || b.right > v.right || b.top < v.top-2 || b.bottom > v.bottom+2 || slices.ContainsFunc(taken, b.meets) {
				continue
			}
			taken = append(taken, b)
			v.text(lettering{ink: "text", size: smallSize, anchor: try.anchor, halo: true}, x, y, text)
			break
		}
	}
}

func (v *view) width2(text string) float64 { return v.pen.width(text, smallSize, false) }

func (b box) meets(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

// nameEnds writes the names of lines beside their ends, as far apart as texts are high.
func (v *view) nameEnds() {
	type name struct {
		text, ink string
		x, y, at  float64
	}
	var names []name
	for place, series := range v.part.Series {
		for _, m := range slices.Backward(series.Marks) {
			if !v.x.placeable(m.X) || !v.y.placeable(m.Y) {
				continue
			}
			y := v.py(m.Y)
			names = append(names, name{series.Name, v.look(series, place).ink, v.px(m.X), y, y})
			break
		}
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	const apart = 14.0
	for range 50 {
		for i := 1; i < len(names); i++ {
			if d := names[i].at - names[i-1].at; d < apart {
				names[i-1].at -= (apart - d) / 2
				names[i].at += (apart - d) / 2
			}
		}
	}
	room := v.size.right - edge - v.right - 10
	for _, n := range names {
		if math.Abs(n.at-n.y) > 2 || n.x < v.right-2 {
			v.line(style{ink: "axis", width: .75}, point{n.x + 5, n.y}, point{v.right + 6, n.at})
		}
		v.text(lettering{ink: n.ink, size: textSize}, v.right+10, n.at+4, v.fit(strings.TrimSpace(n.text), textSize, room, false))
	}
}
