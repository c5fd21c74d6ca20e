package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

// textForest has a row for each estimate: what it is of, its interval, the value and the verdict in words.
type textForest struct {
	textPen
	x      AxisScale
	guides []Guide
	seen   map[Guide]bool // those of which a part is seen in a row
	widths forestWidths
}

// forestWidths are those of a forest's columns.
type forestWidths struct {
	name, plot, value, interval, word int  // interval: 0 where there is no room for its ends in words
	apart                             bool // names stand on lines of their own
}

// estimateRow is an estimate with its texts.
type estimateRow struct {
	mark                        Mark
	tone                        Tone
	name, value, interval, word string
}

func (r estimateRow) label() string { return r.name }

// Widths of the intervals, and of names that are cut.
const (
	minPlot = 20
	minName = 16
)

func (p textPen) forest(f *Figure) []string {
	var all []estimateRow
	parts, rows := f.Parts(), [][]estimateRow{}
	for _, part := range parts {
		rows = append(rows, estimateRows(f, part))
		all = append(all, rows[len(rows)-1]...)
	}
	d := textForest{textPen: p, x: forestScale(f), seen: map[Guide]bool{}, widths: p.forestWidths(all)}
	names := d.names(all)
	k, titles := p.newKey(&Figure{}), p.titles(f)
	var lines []string
	for i, part := range parts {
		if part.Title != "" {
			lines = append(lines, titles[i])
		}
		d.guides = part.Guides
		for _, row := range rows[i] {
			row.name, names = names[0], names[1:]
			lines = append(lines, d.row(row)...)
		}
		d.explain(k)
	}
	return slices.Concat(lines, d.axis(f), k.legend(), k.unseen)
}

// forestScale has room for all intervals and for what they are read against.
func forestScale(f *Figure) AxisScale {
	var xs []float64
	for _, m := range f.All() {
		xs = append(xs, m.X, m.Low, m.High)
	}
	for _, part := range f.Parts() {
		for _, g := range part.Guides {
			if xs = append(xs, g.At); g.Until > g.At {
				xs = append(xs, g.Until)
			}
		}
	}
	return NewAxisScale(f.X, xs)
}

// estimateRows returns the marks of a panel from the top.
func estimateRows(f *Figure, part Panel) []estimateRow {
	var rows []estimateRow
	for s, m := range part.All() {
		tone := s.ToneOf(m)
		row := estimateRow{mark: m, tone: tone, name: s.Name, value: cmp.Or(m.Label, estimate(f.X, m.X)), word: cmp.Or(m.Word, lookOf(tone).word)}
		if f.Y.Scale == Categories {
			row.name = TickText(f.Y, m.Y)
		}
		if !math.IsNaN(m.Low) && !math.IsNaN(m.High) {
			row.interval = "(" + cmp.Or(m.Interval, estimate(f.X, m.Low)+" to "+estimate(f.X, m.High)) + ")"
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b estimateRow) int { return cmp.Compare(a.mark.Y, b.mark.Y) })
	return rows
}

// estimate returns a value in words: a change as tables of changes have it.
func estimate(axis Axis, v float64) string {
	if axis.Unit == "ratio" && !math.IsNaN(v) {
		return views.Signed(v)
	}
	return TickText(axis, v)
}

// forestWidths shares the page: words and values whole, names cut where there is no room, the rest for the intervals. Where a name
// would become too short, or may not be cut, it gets a line of its own.
func (p textPen) forestWidths(rows []estimateRow) forestWidths {
	var w forestWidths
	interval := 0
	names := p.labels(term.Texts(rows, estimateRow.label), anyWidth)
	for i, row := range rows {
		w.name = max(w.name, term.Width(names[i]))
		w.value = max(w.value, min(term.Width(p.text(row.value)), p.width/4))
		w.word = max(w.word, min(term.Width(p.text(row.word)), p.width*2/5))
		interval = max(interval, term.Width(p.text(row.interval)))
	}
	left := p.width - 2*len(term.Gap) - w.value - w.word // for names and intervals
	least := min(w.name, minName)
	if p.whole {
		least = w.name
	}
	if left-len(term.Gap)-minPlot < least {
		w.apart, w.plot = true, left
		return w
	}
	if !p.whole {
		w.name = min(w.name, max(p.width/3, left-len(term.Gap)-2*minPlot), left-len(term.Gap)-minPlot)
	}
	w.plot = left - len(term.Gap) - w.name
	if w.plot-1-interval >= 3*minPlot/2 {
		w.interval = interval
		w.plot -= 1 + interval
	}
	return w
}

// names returns the names of rows, cut so that they can be told apart.
func (d textForest) names(rows []estimateRow) []string {
	width := d.widths.name
	switch {
	case d.widths.apart && d.whole:
		width = anyWidth
	case d.widths.apart:
		width = d.width
	}
	return d.labels(term.Texts(rows, estimateRow.label), width)
}

// row returns the line of an estimate; with a name of its own line, two.
func (d textForest) row(row estimateRow) []string {
	w := d.widths
	value := d.pad(row.value, w.value, true)
	if w.interval > 0 {
		value += " " + d.pad(row.interval, w.interval, false)
	}
	cells := []string{d.drawn(row), value, d.paint(d.cut(row.word, w.word), lookOf(row.tone).color)}
	if w.apart {
		names := []string{row.name}
		if d.whole { // a name that may not be cut goes on in the next line
			names = term.Wrapped(row.name, d.width)
		}
		return append(names, strings.TrimRight(strings.Join(cells, term.Gap), " "))
	}
	cells = append([]string{term.Pad(row.name, w.name, false)}, cells...)
	return []string{strings.TrimRight(strings.Join(cells, term.Gap), " ")}
}

// drawn returns an estimate with its interval over the guides.
func (d textForest) drawn(row estimateRow) string {
	c := d.canvas(d.widths.plot, 1)
	for _, g := range d.guides {
		if from, to, ok := d.reach(g); ok && g.Until > g.At {
			for i := from; i <= to; i++ {
				c.behind(i, 0, d.one("░", ":"))
			}
		}
	}
	for _, g := range d.guides {
		if from, _, ok := d.reach(g); ok && g.Until <= g.At {
			c.behind(from, 0, d.one("│", "|"))
		}
	}
	set := func(at int, r rune) { c.at(at, 0).above, c.at(at, 0).color = r, lookOf(row.tone).color }
	low, okLow := d.column(row.mark.Low)
	high, okHigh := d.column(row.mark.High)
	if okLow && okHigh {
		for i := low; i <= high; i++ {
			set(i, d.one("─", "-"))
		}
		set(low, d.one("├", "|"))
		set(high, d.one("┤", "|"))
	}
	if at, ok := d.column(row.mark.X); ok {
		set(at, d.one("●", "*"))
	}
	for _, g := range d.guides {
		if at, _, ok := d.reach(g); ok && g.Until <= g.At {
			if r, has := crossed[c.at(at, 0).above]; has {
				c.at(at, 0).above = r
			}
		}
	}
	d.look(c)
	return term.Pad(c.lines()[0], d.widths.plot, false)
}

// crossed are the characters of an interval where a line that it is read against goes through it.
var crossed = map[rune]rune{'─': '┿', '├': '┠', '┤': '┨', '●': '◉', '-': '+', '*': '@'}

// look notes which guides are seen in a row.
func (d textForest) look(c *canvas) {
	for _, g := range d.guides {
		from, to, ok := d.reach(g)
		if ok && g.Until <= g.At { // it goes through intervals
			d.seen[g] = true
			continue
		}
		shade := d.one("░", ":")
		for i := from; ok && i <= to; i++ {
			at := c.at(i, 0)
			d.seen[g] = d.seen[g] || at.below == shade && at.above == 0
		}
	}
}

// column returns where a value lies.
func (d textForest) column(v float64) (int, bool) {
	share, ok := d.x.Place(v)
	if !ok {
		return 0, false
	}
	return d.columnAt(share, d.widths.plot), true
}

// reach returns the columns of a guide.
func (d textForest) reach(g Guide) (from, to int, ok bool) {
	from, ok = d.column(g.At)
	if to, _ = d.column(g.Until); g.Until <= g.At {
		to = from
	}
	return from, to, ok && g.Along == Vertical
}

// axis returns the lines below the intervals. Its text may go on below the words.
func (d textForest) axis(f *Figure) []string {
	indent := ""
	if !d.widths.apart {
		indent = strings.Repeat(" ", d.widths.name+len(term.Gap))
	}
	rule, names := d.ruler(d.widths.plot, d.x, f.X)
	lines := []string{indent + strings.Join(rule, ""), indent + names}
	label := d.text(axisLabel(f.X, d.x))
	switch {
	case label == "":
	case term.Width(label) <= d.widths.plot:
		lines = append(lines, indent+d.center(label, d.widths.plot))
	default:
		lines = append(lines, indent+d.cut(label, d.width-len(indent)))
	}
	return lines
}

// explain puts the guides of a panel into the legend: those that are seen. An area that has no room says so below.
func (d textForest) explain(k *key) {
	for _, g := range d.guides {
		switch area := g.Until > g.At; {
		case g.Along != Vertical || g.Text == "":
		case area && d.seen[g]:
			k.add(d.either("░", ":"), g.Text)
		case area:
			if lines := k.wrapped(g.Text+" (too narrow to show, or hidden by intervals)", maxNote); !slices.Contains(k.unseen, lines[0]) {
				k.unseen = append(k.unseen, lines...)
			}
		case d.seen[g]:
			k.add(d.either("│", "|"), g.Text)
		}
	}
}
