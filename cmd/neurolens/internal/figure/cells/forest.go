package cells

import (
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/scale"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
)

// forestRow is an estimate with its texts.
type forestRow struct {
	mark              figure.Mark
	tone              figure.Tone
	name, value, word string
}

// columnsOf are the widths of a forest's columns; the middle one has the intervals.
type columnsOf struct{ name, plot, value, word int }

// leastPlot is how wide intervals are drawn at least.
const leastPlot = 9

// forest is a row for each estimate: what it is of, its interval, the value and the verdict in words.
func (p pen) forest(f *figure.Figure) []string {
	x := forestScale(f)
	parts := f.Parts()
	rows := make([][]forestRow, len(parts))
	for i, part := range parts {
		rows[i] = forestRows(f, part)
	}
	widths := p.forestWidths(slices.Concat(rows...))
	k := p.newKey(&figure.Figure{})
	var lines []string
	for i, part := range parts {
		if part.Title != "" {
			lines = append(lines, p.cut(part.Title, p.width))
		}
		for _, row := range rows[i] {
			lines = append(lines, p.forestLine(row, part.Guides, x, widths))
		}
		for _, g := range part.Guides {
			p.explain(g, k)
		}
	}
	rule, names := p.ruler(widths.plot, x, false)
	indent := strings.Repeat(" ", widths.name+len(term.Gap))
	lines = append(lines, indent+strings.Join(rule, ""), indent+names)
	if label := axisLabel(f.X, x); label != "" {
		lines = append(lines, strings.TrimRight(indent+p.label(label, widths), " "))
	}
	return append(lines, k.legend()...)
}

// label is the text of the axis below the intervals; it may go on under the words.
func (p pen) label(label string, widths columnsOf) string {
	if p.cut(label, widths.plot) == p.text(label) {
		return p.center(label, widths.plot)
	}
	return p.cut(label, p.width-widths.name-len(term.Gap))
}

// forestScale has room for all intervals and for what they are read against.
func forestScale(f *figure.Figure) scale.Scale {
	var xs []float64
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			for _, m := range s.Marks {
				xs = append(xs, m.X, m.Low, m.High)
			}
		}
		for _, g := range part.Guides {
			if xs = append(xs, g.At); g.Until > g.At {
				xs = append(xs, g.Until)
			}
		}
	}
	return scale.New(f.X, xs)
}

// forestRows are the marks of a panel from the top.
func forestRows(f *figure.Figure, part figure.Panel) []forestRow {
	var rows []forestRow
	for _, s := range part.Series {
		for _, m := range s.Marks {
			row := forestRow{mark: m, tone: toneOf(s, m), name: scale.Text(f.Y, m.Y), value: estimate(f.X, m.X), word: m.Word}
			if f.Y.Scale != figure.Categories {
				row.name = s.Name
			}
			if row.word == "" {
				row.word = tones[row.tone].word
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b forestRow) int {
		switch {
		case a.mark.Y < b.mark.Y:
			return -1
		case a.mark.Y > b.mark.Y:
			return 1
		}
		return 0
	})
	return rows
}

// estimate is a value in words: a change as tables of changes have it.
func estimate(axis figure.Axis, v float64) string {
	if axis.Unit == "ratio" && !math.IsNaN(v) {
		return wording.Signed(v)
	}
	return scale.Text(axis, v)
}

// interval are the ends of an interval in words.
func (r forestRow) interval(axis figure.Axis) string {
	if math.IsNaN(r.mark.Low) || math.IsNaN(r.mark.High) {
		return ""
	}
	return estimate(axis, r.mark.Low) + " " + estimate(axis, r.mark.High)
}

// forestWidths shares the page: words and values whole, the names cut to a third at most, the rest for the intervals.
func (p pen) forestWidths(rows []forestRow) columnsOf {
	var w columnsOf
	for _, row := range rows {
		w.name = max(w.name, term.Width(p.text(row.name)))
		w.value = max(w.value, term.Width(p.text(row.value)))
		w.word = max(w.word, term.Width(p.text(row.word)))
	}
	const gaps = 3 * len(term.Gap)
	if p.whole {
		w.plot = max(p.width-gaps-w.name-w.value-w.word, 4*leastPlot)
		return w
	}
	w.value = min(w.value, p.width/3)
	w.word = min(w.word, p.width*3/10)
	w.name = min(w.name, max(p.width-gaps-w.value-w.word-max(leastPlot, p.width/3), 6))
	w.plot = p.width - gaps - w.name - w.value - w.word
	return w
}

// forestLine is a row: name, interval, value, word.
func (p pen) forestLine(row forestRow, guides []figure.Guide, x scale.Scale, w columnsOf) string {
	color := tones[row.tone].color
	name := p.pad(row.name, w.name, false)
	value := p.pad(row.value, w.value, true)
	word := p.paint(p.cut(row.word, w.word), color)
	return strings.TrimRight(name+term.Gap+p.interval(row, guides, x, w.plot)+term.Gap+value+term.Gap+word, " ")
}

// interval draws an estimate with its interval over the guides.
func (p pen) interval(row forestRow, guides []figure.Guide, x scale.Scale, width int) string {
	c := p.canvas(width, 1)
	column := func(v float64) (int, bool) {
		share, ok := x.Place(v)
		return dotAt(share, width), ok && share >= 0 && share <= 1
	}
	for _, g := range guides {
		from, ok := column(g.At)
		to, until := column(g.Until)
		if g.Along != figure.Vertical || !ok {
			continue
		}
		if g.Until > g.At && until {
			for i := from; i <= to; i++ {
				c.behind(i, 0, p.one("░", ":"))
			}
		}
	}
	for _, g := range guides {
		if from, ok := column(g.At); g.Along == figure.Vertical && ok && g.Until <= g.At {
			c.behind(from, 0, p.one("│", "|"))
		}
	}
	color := tones[row.tone].color
	set := func(at int, r rune) { c.at(at, 0).above, c.at(at, 0).color = r, color }
	low, okLow := column(row.mark.Low)
	high, okHigh := column(row.mark.High)
	if okLow && okHigh {
		for i := low; i <= high; i++ {
			set(i, p.one("─", "-"))
		}
		set(low, p.one("├", "|"))
		set(high, p.one("┤", "|"))
	}
	if at, ok := column(row.mark.X); ok {
		set(at, p.one("●", "*"))
	}
	line := c.lines()[0]
	return line + strings.Repeat(" ", max(width-term.Width(line), 0))
}

// one is the character of UTF-8, or the one of ASCII.
func (p pen) one(utf8, ascii string) rune { return []rune(p.either(utf8, ascii))[0] }

// explain puts a guide of a forest into the legend.
func (p pen) explain(g figure.Guide, k *key) {
	switch {
	case g.Along != figure.Vertical:
	case g.Until > g.At:
		k.add(p.either("░", ":"), g.Text)
	default:
		k.add(p.either("│", "|"), g.Text)
	}
}
