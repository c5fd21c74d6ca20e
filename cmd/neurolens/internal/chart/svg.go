package chart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// ImageOptions are the options of a picture.
type ImageOptions struct {
	Width    int    // in pixels; 0: 720
	Dark     bool   // of pictures in pixels; an SVG is light or dark as its reader's system is
	Embedded bool   // part of a page that has Stylesheet once, and its own paper
	Untitled bool   // its title and its notes stand beside it, as texts of the page
	Prefix   string // of ids, which differ from those of other figures of a page
}

const (
	usualWidth = 720
	minWidth   = 240
	maxPixels  = 8192 // of the width
)

// SVG writes a figure as an SVG.
func SVG(w io.Writer, f *Figure, o ImageOptions) error {
	s, err := newSheet(f, o, drawnThere)
	if err != nil {
		return err
	}
	svg := &svgSurface{height: s.height}
	s.open(&svg.b)
	s.surface = svg
	s.draw()
	svg.b.WriteString("</svg>\n")
	_, err = w.Write(svg.b.Bytes())
	return err
}

// open begins the document: its size, what is said to people who do not see it, and its colours.
func (s *figureLayout) open(b *bytes.Buffer) {
	prefix := idPrefix(s.options.Prefix)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="nl-fig nl-%s" role="img" aria-labelledby="%st %sd" width="%s" height="%s" viewBox="0 0 %s %s" font-family="system-ui, sans-serif">`+"\n",
		s.kind(), prefix, prefix, px(s.size.right), px(s.height), px(s.size.right), px(s.height))
	fmt.Fprintf(b, "<title id=\"%st\">%s</title>\n", prefix, escaped(cmp.Or(whole(s.figure.Title), s.kind())))
	fmt.Fprintf(b, "<desc id=\"%sd\">%s</desc>\n", prefix, escaped(s.description()))
	if !s.options.Embedded {
		b.WriteString("<style>\n" + Stylesheet() + "</style>\n")
	}
}

// kind returns the figure's as part of a class.
func (s *figureLayout) kind() string {
	switch s.figure.Kind {
	case ECDF, Runs, History, Forest, Scatter, Heatmap, Lines, Pareto, Telemetry, Flame:
		return string(s.figure.Kind)
	}
	return "other"
}

// idPrefix leaves what every id may have.
func idPrefix(s string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	return "nl-" + kept
}

// description says in words what the picture has.
func (s *figureLayout) description() string {
	var parts []string
	say := func(what string, a Axis) {
		if a.Label != "" {
			parts = append(parts, what+whole(a.Label)+".")
		}
	}
	say("Along: ", s.figure.X)
	say("Up: ", s.figure.Y)
	say("In colours: ", s.figure.Values)
	parts = append(parts, marksInWords(s.figure.Marks()))
	for _, note := range s.figure.Notes {
		parts = append(parts, whole(note))
	}
	return strings.Join(parts, " ")
}

func marksInWords(n int) string {
	switch n {
	case 0:
		return "No values to show."
	case 1:
		return "One mark."
	}
	return strconv.Itoa(n) + " marks."
}

// PNG writes a figure as a PNG, with two dots a pixel.
func PNG(w io.Writer, f *Figure, o ImageOptions) error {
	o.Embedded = false
	s, err := newSheet(f, o, drawnHere)
	if err != nil {
		return err
	}
	colors := colorsOf(o.Dark)
	canvas := vgimg.NewWith(
		vgimg.UseWH(vg.Length(s.size.right), vg.Length(s.height)), vgimg.UseDPI(144), vgimg.UseBackgroundColor(colors["paper"]))
	s.surface = &pixelSurface{canvas, colors, s.face}
	s.draw()
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(w); err != nil {
		return fmt.Errorf("writing a PNG: %w", err)
	}
	return nil
}

// check refuses what cannot be drawn.
func check(f *Figure, o ImageOptions) error {
	if f == nil {
		return errors.New("drawing: no figure")
	}
	if o.Width < 0 || o.Width > maxPixels {
		return fmt.Errorf("drawing %d pixels wide: want 0 to %d", o.Width, maxPixels)
	}
	return nil
}

// draw draws the whole sheet.
func (s *figureLayout) draw() {
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
		for i, part := range s.parts {
			part.Title = s.titles[i]
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
	*figureLayout
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

func (s *figureLayout) drawPanel(i int, part Panel) {
	v := &view{figureLayout: s, box: s.panel(i), x: s.xs[i], y: s.ys[i], part: part, index: i}
	if len(s.figure.Panels) > 0 {
		y := v.top - 7 - float64(s.guideRows)*15
		left := v.left
		if s.width(part.Title, textSize, true) > v.width() { // it begins above the names of the ticks
			left -= s.inset
		}
		s.text(lettering{ink: "text", size: textSize, bold: true}, left, y, part.Title)
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
		if !cells && t.Text != "" && len(v.slots) == 0 {
			v.line(quiet, point{x, v.top}, point{x, v.bottom})
		}
		if v.index+v.columns < len(v.parts) && !v.ownX() || t.Text == "" {
			continue
		}
		if v.turned {
			v.text(lettering{ink: tickInk(v.x), size: textSize, anchor: end, turned: turnedBy}, x+4, v.bottom+13, t.Text)
			continue
		}
		x = v.left + v.beside(x-v.left, v.pen.width(t.Text, textSize, false)/2)
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
