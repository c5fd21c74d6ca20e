package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// grid are the cells of a heat map, by row and column.
type grid struct {
	columns, rows []float64
	marks         map[[2]float64]heat
}

type heat struct {
	mark Mark
	tone Tone
}

// heatmap returns a table of values, each with a shade.
func (p textPen) heatmap(f *Figure) []string {
	var values []float64
	for _, m := range f.All() {
		values = append(values, m.Value)
	}
	shades := NewAxisScale(f.Values, values)
	var lines []string
	titles := p.titles(f)
	for i, part := range f.Parts() {
		if i > 0 {
			lines = append(lines, "")
		}
		if part.Title != "" {
			lines = append(lines, titles[i])
		}
		lines = append(lines, p.table(f, gridOf(part), shades)...)
	}
	return append(lines, p.shadeKey(f, shades)...)
}

func gridOf(part Panel) grid {
	g := grid{marks: map[[2]float64]heat{}}
	for s, m := range part.All() {
		if math.IsNaN(m.X) || math.IsNaN(m.Y) {
			continue
		}
		g.columns, g.rows = append(g.columns, m.X), append(g.rows, m.Y)
		g.marks[[2]float64{m.X, m.Y}] = heat{m, s.ToneOf(m)}
	}
	g.columns = slices.Compact(slices.Sorted(slices.Values(g.columns)))
	g.rows = slices.Compact(slices.Sorted(slices.Values(g.rows)))
	return g
}

// table returns the lines of a grid: as many columns beside one another as there is room for, the rest below.
func (p textPen) table(f *Figure, g grid, shades AxisScale) []string {
	names := term.Texts(g.rows, func(v float64) string { return TickText(f.Y, v) })
	side := term.Width(p.text(f.Y.Label))
	for _, name := range p.labels(names, anyWidth) {
		side = max(side, term.Width(name))
	}
	side = min(side, p.width/3)
	names = p.labels(names, side)
	width := p.cellWidth(f, g, p.width-side)
	headings := p.labels(term.Texts(g.columns, func(v float64) string { return TickText(f.X, v) }), width-p.around())
	beside := max((p.width-side)/width, 1)
	var lines []string
	for columns := g.columns; len(columns) > 0; {
		n := min(beside, len(columns))
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, strings.Repeat(" ", side+2)+p.cut(f.X.Label, p.width-side-2))
		header := p.pad(f.Y.Label, side, false)
		for _, text := range headings[:n] {
			header += p.heading(text, width)
		}
		lines = append(lines, strings.TrimRight(header, " "))
		for i, v := range g.rows {
			line := p.pad(names[i], side, false)
			for _, column := range columns[:n] {
				if h, has := g.marks[[2]float64{column, v}]; has {
					line += p.cell(f, h, shades, width)
				} else {
					line += strings.Repeat(" ", width)
				}
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
		columns, headings = columns[n:], headings[n:]
	}
	return lines
}

// heading stands over the values of a column.
func (p textPen) heading(text string, width int) string {
	if p.color {
		return " " + p.pad(text, width-p.around(), true) + " "
	}
	return "   " + p.pad(text, width-p.around(), true)
}

// around returns how many columns of a cell are not its text: a space on each side, or a space, the shade and a space.
func (p textPen) around() int {
	if p.color {
		return 2
	}
	return 3
}

// narrowHeading is the width that a column may have for its heading where more columns than have room stand below one another.
const narrowHeading = 16

// cellWidth returns how wide the cells of a grid are: wide enough for their values, and for as much of a heading as all columns have room
// for beside one another.
func (p textPen) cellWidth(f *Figure, g grid, room int) int {
	width, widest := 5, max(narrowHeading, room/max(len(g.columns), 1))
	for _, h := range g.marks {
		width = max(width, term.Width(p.text(p.heatText(f, h)))+p.around())
	}
	for _, v := range g.columns {
		width = max(width, min(term.Width(p.text(TickText(f.X, v)))+p.around(), widest))
	}
	return min(width, p.width/2)
}

// heatText returns what a cell says.
func (p textPen) heatText(f *Figure, h heat) string {
	switch {
	case h.tone == Failed:
		return "failed"
	case math.IsNaN(h.mark.Value):
		return term.Unknown
	}
	return TickText(f.Values, h.mark.Value)
}

// cell returns a value with its shade: behind it where there is colour, else beside it.
func (p textPen) cell(f *Figure, h heat, shades AxisScale, width int) string {
	text := p.pad(p.heatText(f, h), width-p.around(), true)
	share, ok := shades.Place(h.mark.Value)
	switch {
	case p.color && ok:
		return backgrounds[min(int(share*float64(len(backgrounds))), len(backgrounds)-1)] + " " + text + " " + term.Plain
	case p.color:
		return " " + p.paint(text, lookOf(h.tone).color) + " "
	case ok:
		return " " + p.shade(share) + " " + text
	}
	return "   " + text
}

// steps of shades, from the lowest value to the highest one.
const (
	shadesUTF8  = " ░▒▓█"
	shadesASCII = " .:*#"
)

func (p textPen) shade(share float64) string {
	all := []rune(p.either(shadesUTF8, shadesASCII))
	return string(all[min(int(share*float64(len(all))), len(all)-1)])
}

// backgrounds go from dark to light with texts that can be read on them; their lightness alone tells them apart.
var backgrounds = []string{
	"\x1b[48;5;17m\x1b[38;5;231m", "\x1b[48;5;18m\x1b[38;5;231m", "\x1b[48;5;24m\x1b[38;5;231m", "\x1b[48;5;30m\x1b[38;5;231m",
	"\x1b[48;5;72m\x1b[38;5;16m", "\x1b[48;5;114m\x1b[38;5;16m", "\x1b[48;5;191m\x1b[38;5;16m",
}

// shadeKey says which shade is which value.
func (p textPen) shadeKey(f *Figure, shades AxisScale) []string {
	low, high := TickText(f.Values, shades.Low), TickText(f.Values, shades.High)
	ramp := p.either(shadesUTF8, shadesASCII)[1:]
	if p.color {
		ramp = ""
		for i := range backgrounds {
			ramp += backgrounds[i] + strings.Repeat(" ", 1+p.width/80)
		}
		ramp += term.Plain
	}
	label := f.Values.Label
	if label != "" {
		label = f.Values.Better.after(label)
	}
	if f.Values.Scale == Log {
		label += ", log"
	}
	scale := p.text(low) + " " + ramp + " " + p.text(high)
	if label = p.text(label); term.Width(label)+2+term.Width(scale) > p.width {
		return []string{p.cut(label, p.width), scale}
	}
	return []string{label + "  " + scale}
}
