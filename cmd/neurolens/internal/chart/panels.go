package chart

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// betweenPanels is how far panels lie apart.
const betweenPanels = 3

// plots draws the panels beside one another where there is room, and the legend of all of them below.
func (p textPen) plots(f *Figure) []string {
	k := p.newKey(f)
	parts := f.Parts()
	beside := min(max(p.width/(narrowest+8), 1), len(parts))
	each := p
	each.width = (p.width - betweenPanels*(beside-1)) / beside
	var lines []string
	titles := each.titles(f)
	for len(parts) > 0 {
		n := min(beside, len(parts))
		row := make([][]string, n)
		for i, part := range parts[:n] {
			part.Title, titles = titles[0], titles[1:]
			row[i] = each.panel(f, part, k)
		}
		lines = append(lines, besideOneAnother(row, each.width)...)
		parts = parts[n:]
	}
	lines = append(lines, k.legend()...)
	if n := withoutPlace(f); n > 0 {
		lines = append(lines, p.sentence(fmt.Sprintf("%s not drawn: 0 or less, or infinite.", term.Count(n, "value")))...)
	}
	return lines
}

// titles are those of the panels, as wide as the page at most.
func (p textPen) titles(f *Figure) []string {
	var titles []string
	for _, part := range f.Parts() {
		titles = append(titles, part.Title)
	}
	return p.labels(titles, p.width)
}

// panelScales are the same for all panels, so that these can be compared, unless an axis says that each has its own.
func panelScales(f *Figure, part Panel) (x, y AxisScale) {
	x, y = scales(f, f.Parts())
	alone := *f
	alone.Y = f.YOf(part)
	ownX, ownY := scales(&alone, []Panel{part})
	if f.X.Own {
		x = ownX
	}
	if f.Y.Own {
		y = ownY
	}
	return x, y
}

// panel are the lines of one panel.
func (p textPen) panel(f *Figure, part Panel, k *key) []string {
	x, y := panelScales(f, part)
	rows := rowsOf(p.width)
	if len(f.Panels) > 0 {
		rows = min(rows, 10)
	}
	if f.Y.Scale == Categories { // a row each
		rows = len(f.Y.Categories)
	}
	ticks, left, apart := p.sideTicks(f, y, rows)
	d := &plot{canvas: p.canvas(p.width-left, rows), f: f, x: x, y: y, key: k, failed: map[int]cellInk{}, apart: apart}
	d.draw(part)
	var lines []string
	if part.Title != "" {
		lines = append(lines, part.Title)
	}
	lines = append(lines, d.header(axisLabel(f.Y, y), left)...)
	return append(lines, d.framed(ticks, left)...)
}

// sideTicks are those of a y axis, and how many columns they and the axis have. Names have more of the page than numbers. Where they
// could not be told apart there, each has a line of its own above its row.
func (p textPen) sideTicks(f *Figure, y AxisScale, rows int) (ticks []Tick, left int, apart bool) {
	ticks = y.Ticks(rows/3 + 1)
	texts := make([]string, len(ticks))
	for i, t := range ticks {
		texts[i] = p.text(t.Text)
		left = max(left, term.Width(texts[i]))
	}
	if f.Y.Scale != Categories {
		return ticks, min(left, p.width/4) + 2, false
	}
	left = min(left, p.width*2/5)
	if apart = term.CountDistinct(term.CutApart(texts, left)) < term.CountDistinct(f.Y.Categories); apart {
		left = 0
	}
	for i, name := range p.labels(f.Y.Categories, cmp.Or(left, p.width)) {
		ticks[i].Text = name
	}
	return ticks, left + 2, apart
}

// besideOneAnother joins blocks of lines.
func besideOneAnother(blocks [][]string, width int) []string {
	if len(blocks) == 1 {
		return blocks[0]
	}
	var lines []string
	for i := 0; ; i++ {
		line, any := "", false
		for n, block := range blocks {
			if n > 0 {
				line = term.Pad(line, n*(width+betweenPanels), false)
			}
			if i < len(block) {
				line += block[i]
				any = true
			}
		}
		if !any {
			return lines
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
}

// withoutPlace is how many numbers have no place on the axes: those on a log axis that are not positive, and infinite ones.
func withoutPlace(f *Figure) (n int) {
	lost := func(s AxisScale, v float64) bool {
		_, ok := s.Place(v)
		return !ok && v == v
	}
	for _, part := range f.Parts() {
		x, y := panelScales(f, part)
		for _, s := range part.Series {
			for _, m := range s.Marks {
				if lost(x, m.X) || lost(y, m.Y) {
					n++
				}
			}
		}
	}
	return n
}
