package chart

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
		if title := s.ys[0].title; title != "" {
			s.text(lettering{ink: "muted", size: textSize}, edge, y+13, s.fit(title, textSize, s.size.right-2*edge, false))
		}
		titles := make([]string, len(s.parts))
		for i, part := range s.parts {
			titles[i] = part.Title
		}
		titles = s.names(titles, textSize, s.panelWidth, true)
		for i, part := range s.parts {
			part.Title = titles[i]
			s.drawPanel(i, part)
		}
		if title := s.xs[0].title; title != "" {
			title = s.fit(title, textSize, s.size.right-2*edge, false)
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
	x, y  *axis
	part  Panel
	index int
}

func (v *view) px(value float64) float64 { return v.left + v.x.share(value)*v.width() }

// py is from above for categories, which are read from above, and from below for values.
func (v *view) py(value float64) float64 {
	share := v.y.share(value)
	if v.y.spec.Scale == Categories && v.y.ordinal == nil {
		return v.top + share*v.height()
	}
	return v.bottom - v.strip - share*(v.height()-v.strip)
}

func (v *view) width() float64  { return v.box.width() }
func (v *view) height() float64 { return v.box.height() }

func (s *sheet) drawPanel(i int, part Panel) {
	v := &view{sheet: s, box: s.panel(i), x: s.xs[i], y: s.ys[i], part: part, index: i}
	if len(s.figure.Panels) > 0 {
		y := v.top - 7 - float64(s.guideRows)*15
		s.text(lettering{ink: "text", size: textSize, bold: true}, v.left, y, part.Title)
	}
	v.drawGrid()
	v.drawAreas()
	v.drawGuides()
	var later []labelled
	for place, series := range part.Series {
		later = append(later, v.drawSeries(series, place)...)
	}
	v.drawLabels(later, v.nameAcross(v.obstacles()))
	if s.direct {
		v.nameEnds()
	}
}

// drawGrid draws lines at ticks, and the names of ticks at the left and at the bottom.
func (v *view) drawGrid() {
	quiet := style{ink: "grid", width: 1}
	cells := v.figure.Kind == Heatmap
	for _, t := range v.y.ticks {
		y := v.py(t.At)
		if !cells {
			v.line(quiet, point{v.left, y}, point{v.right, y})
		}
		if (v.index%v.columns == 0 || v.inset > 0) && t.Text != "" {
			v.text(lettering{ink: tickInk(v.y), size: textSize, anchor: end}, v.left-8, y+4, t.Text)
		}
	}
	for _, t := range v.x.ticks {
		x := v.px(t.At)
		if !cells && t.Text != "" {
			v.line(quiet, point{x, v.top}, point{x, v.bottom})
		}
		if v.index+v.columns < len(v.parts) && !v.ownX() || t.Text == "" {
			continue
		}
		if v.turned {
			v.text(lettering{ink: tickInk(v.x), size: textSize, anchor: end, turned: turnedBy}, x+4, v.bottom+13, t.Text)
			continue
		}
		v.text(lettering{ink: tickInk(v.x), size: textSize, anchor: center}, x, v.bottom+15, t.Text)
	}
	if !cells {
		v.line(style{ink: "axis", width: 1}, point{v.left, v.bottom}, point{v.right, v.bottom})
	}
}

// tickInk has names darker than numbers.
func tickInk(a *axis) string {
	if a.spec.Scale == Categories {
		return "text"
	}
	return "muted"
}

// drawAreas fills the areas of guides.
func (v *view) drawAreas() {
	for _, g := range v.part.Guides {
		if !(g.Until > g.At) || g.Along == Diagonal {
			continue
		}
		v.in(v.guideGroup(g), func() {
			if g.Along == Horizontal {
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
