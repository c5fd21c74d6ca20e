package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// plot draws one panel on a canvas.
type plot struct {
	*canvas
	f    *Figure
	x, y AxisScale
	key  *key
	part Panel

	numbers []numberAt        // of vertical guides
	failed  map[int]textStyle // by column: marks without a value
	apart   bool              // names of rows stand on lines of their own
}

// scales returns the scales that show all marks of panels.
func scales(f *Figure, parts []Panel) (x, y AxisScale) {
	var xs, ys []float64
	equal := false // both axes have the same range, so that y = x is a diagonal
	for _, part := range parts {
		for s, m := range part.All() {
			xs, ys = append(xs, m.X), append(ys, m.Y)
			if hasInterval(s.Style, m) {
				ys = append(ys, m.Low, m.High)
			}
		}
		for _, g := range part.Guides {
			equal = equal || g.Along == Diagonal
			if g.Along == Horizontal {
				ys = append(ys, g.At)
			}
		}
	}
	if equal {
		xs = append(xs, ys...)
		ys = xs
	}
	return NewAxisScale(f.X, xs), NewAxisScale(f.Y, ys)
}

// draw draws the contents of a panel.
func (d *plot) draw(part Panel) {
	d.part = part
	d.guides(part.Guides)
	d.bands(part.Series)
	for i := len(part.Series) - 1; i >= 0; i-- { // the first one above all
		d.lines(part.Series[i])
	}
	for above := range 3 {
		for _, s := range part.Series {
			d.shapes(s, above)
		}
	}
	d.failures()
}

// up returns the vertical position of a value, from 0 to 1. The first category is at the top, as in tables.
func (d *plot) up(y float64) (share float64, ok bool) {
	share, ok = d.y.Place(y)
	if d.f.Y.Scale == Categories {
		share = 1 - share
	}
	return share, ok
}

// place returns the dot of a mark.
func (d *plot) place(x, y float64) (column, row int, ok bool) {
	across, up := d.dotsIn()
	a, okX := d.x.Place(x)
	b, okY := d.up(y)
	if !okX || !okY {
		return 0, 0, false
	}
	return dotAt(a, d.columns*across), d.rows*up - 1 - dotAt(b, d.rows*up), true
}

// dotAt converts a share of an axis to a dot.
func dotAt(share float64, dots int) int { return int(math.Round(share * float64(dots-1))) }

// bands are areas: light, behind everything else.
func (d *plot) bands(all []Series) {
	shade := d.one("░", ":")
	across, up := d.dotsIn()
	for _, s := range all {
		if s.Style != Band {
			continue
		}
		for i := 1; i < len(s.Marks); i++ {
			from, to := s.Marks[i-1], s.Marks[i]
			x, low, ok := d.place(from.X, from.Low)
			_, high, okHigh := d.place(from.X, from.High)
			toX, toLow, okTo := d.place(to.X, to.Low)
			_, toHigh, okToHigh := d.place(to.X, to.High)
			if !ok || !okHigh || !okTo || !okToHigh {
				continue
			}
			for column := x / across; column <= toX/across; column++ {
				share := min(max(float64(column*across-x)/float64(max(toX-x, 1)), 0), 1)
				bottom, top := between(low, toLow, share)/up, between(high, toHigh, share)/up
				for row := top; row <= bottom; row++ {
					d.behind(column, row, shade)
				}
			}
		}
	}
}

func between(from, to int, share float64) int {
	return from + int(math.Round(share*float64(to-from)))
}

// lines draws the dots of a series.
func (d *plot) lines(s Series) {
	with := d.key.ink(s)
	lastX, lastY, open := 0, 0, false
	for _, m := range s.Marks {
		x, y, ok := d.place(m.X, m.Y)
		switch {
		case s.Style == Band:
			return
		case s.Style == Bars:
			d.bar(s, m, with)
			continue
		case s.Style == Intervals:
			d.interval(m, with)
		case ok && open && s.Style == Line:
			d.line(lastX, lastY, x, y, with)
		case ok && open && s.Style == Steps:
			d.line(lastX, lastY, x, lastY, with)
			d.line(x, lastY, x, y, with)
		}
		if ok {
			d.dot(x, y, with)
			if s.Style == Line && m.Low < m.High {
				d.interval(m, with)
			}
		}
		lastX, lastY, open = x, y, ok
	}
}

func (d *plot) interval(m Mark, with textStyle) {
	x, low, ok := d.place(m.X, m.Low)
	_, high, okHigh := d.place(m.X, m.High)
	if ok && okHigh {
		if with.ascii = '|'; !d.ASCII {
			with.ascii = 0
		}
		d.line(x, low, x, high, with)
	}
}

// across returns the dot of a mark along: bars of several series lie side by side, each as wide as half says on either side of it.
func (d *plot) across(s Series, m Mark) (x, half int) {
	across, _ := d.dotsIn()
	share, _ := d.x.Place(m.X)
	x = dotAt(share, d.columns*across)
	if s.Style != Bars {
		return x, 0
	}
	slots := d.f.slots()
	each := .8 * float64(d.columns*across) / (d.x.High - d.x.Low) / float64(len(slots))
	place := float64(slices.Index(slots, s.Name)) - float64(len(slots)-1)/2
	return x + int(math.Round(place*each)), int(min(each, 12)/2 - .5)
}

// bar draws a bar from zero, and its interval.
func (d *plot) bar(s Series, m Mark, with textStyle) {
	_, zero, _ := d.place(m.X, 0)
	_, end, ok := d.place(m.X, m.Y)
	if !ok {
		return
	}
	x, half := d.across(s, m)
	for row := min(zero, end); row <= max(zero, end); row++ {
		for column := x - half; column <= x+half; column++ {
			d.dot(column, row, with)
		}
	}
	_, low, okLow := d.place(m.X, m.Low)
	if _, high, okHigh := d.place(m.X, m.High); okLow && okHigh {
		d.line(x, low, x, high, with)
	}
}

// shapes puts the shapes of a series over its marks: over all where these are few, or a dot alone would not tell what they are, else
// over as many as lie apart. Marks that say something have the shape of that, and lie above those that do not.
func (d *plot) shapes(s Series, above int) {
	if s.Style == Band {
		return
	}
	own, count := d.key.ink(s), d.count(s)
	if d.many(count[Plain]) && s.Name == "" {
		own.shape = 0
	}
	across, up := d.dotsIn()
	lastColumn, lastRow := -farApart+d.key.place(s)*farApart/maxSeries, -farApart
	for _, m := range s.Marks {
		x, y, ok := d.place(m.X, m.Y)
		t := says(s, m)
		if !ok || above != layer(t) {
			continue
		}
		with := own
		if t != Plain {
			with = d.toneInk(t)
		}
		if s.Style == Bars {
			x, _ = d.across(s, m)
		}
		column, row := x/across, y/up
		apart := d.spacing(s, t, count[t])
		distance := abs(column - lastColumn)
		if s.Style != Points { // a line may be steep
			distance = max(distance, 2*abs(row-lastRow))
		}
		if with.shape != 0 && distance >= apart && (apart == 0 || d.at(column, row).above == 0) {
			at := d.at(column, row)
			at.above, at.color = with.shape, with.color
			lastColumn, lastRow = column, row
		}
	}
}

// layer returns how far above others a mark lies: what says something lies above what does not, and that above what says of no change.
func layer(t Tone) int {
	switch t {
	case Neutral:
		return 0
	case Plain:
		return 1
	}
	return 2
}

// farApart is how far shapes lie from one another where there are too many for all.
const farApart = 10

// count returns how many marks of a panel say what: those that say nothing by series, those that say something in all of them.
func (d *plot) count(s Series) map[Tone]int {
	count := map[Tone]int{}
	for other, m := range d.part.All() {
		if t := says(other, m); t != Plain || other.Name == s.Name {
			count[t]++
		}
	}
	return count
}

// many reports whether shapes would hide the positions of so many points.
func (d *plot) many(points int) bool {
	return points > d.columns*2/3 && d.f.Y.Scale != Categories
}

// spacing returns how far shapes of a tone lie from one another: 0 where each mark has one. Dots between them tell the way of a line, and
// more points where all of a figure are alike, which the legend says then.
func (d *plot) spacing(s Series, t Tone, count int) int {
	switch {
	case isCurve(s) && t == Plain && count > d.columns/3:
		return farApart
	case !isCurve(s) && d.key.alike && d.many(count):
		d.key.thinned = &kind{s.Name, t}
		return farApart
	}
	return 0
}

// failures are marked on the x axis, where they hide nothing.
func (d *plot) failures() {
	across, _ := d.dotsIn()
	for s, m := range d.part.All() {
		share, ok := d.x.Place(m.X)
		if t := s.ToneOf(m); ok && t != Plain && math.IsNaN(m.Y) && math.IsNaN(m.Low) {
			d.failed[dotAt(share, d.columns*across)/across] = d.toneInk(t)
		}
	}
}

// framed returns the lines of the canvas with its axes, as wide as the pen.
func (d *plot) framed(ticks []Tick, left int) []string {
	axis, tick, corner := d.either("│", "|"), d.either("┤", "+"), d.either("└", "+")
	texts := make([]string, d.rows)
	_, up := d.dotsIn()
	for _, t := range ticks {
		if share, ok := d.up(t.At); ok && share >= 0 && share <= 1 {
			texts[(d.rows*up-1-dotAt(share, d.rows*up))/up] = t.Text
		}
	}
	var lines []string
	for i, line := range d.canvas.lines() {
		side, text := tick, texts[i]
		switch {
		case text == "":
			side = axis
		case d.apart:
			lines, text = append(lines, text), ""
		}
		lines = append(lines, strings.TrimRight(d.pad(text, left-2, true)+" "+side+line, " "))
	}
	rule, names := d.ruler(d.columns, d.x, d.f.X)
	for column, with := range d.failed {
		rule[column] = d.paint(string(with.shape), with.color)
	}
	indent := strings.Repeat(" ", left-1)
	lines = append(lines, indent+corner+strings.Join(rule, ""), indent+" "+names)
	if label := axisLabel(d.f.X, d.x); label != "" {
		lines = append(lines, indent+" "+d.center(label, d.columns))
	}
	return lines
}

// axisLabel returns the text of an axis, with its unit where the texts of ticks have none.
func axisLabel(axis Axis, s AxisScale) string {
	switch {
	case axis.Scale != Time && axis.Label == "":
		return ""
	case axis.Scale != Time:
		return axis.Better.after(axis.Label)
	}
	const days = 2 * 24 * 3600
	parts := []string{axis.Label, "UTC"}
	if s.High-s.Low < days {
		parts[1] = "from " + TickText(axis, s.Low) + " UTC"
	}
	return strings.TrimPrefix(strings.Join(parts, ", "), ", ")
}

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

// titles returns the titles of the panels, as wide as the page at most.
func (p textPen) titles(f *Figure) []string {
	return p.labels(term.Texts(f.Parts(), Panel.title), p.width)
}

// panelScales returns the same for all panels, so that these can be compared, unless an axis says that each has its own.
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

// panel returns the lines of one panel.
func (p textPen) panel(f *Figure, part Panel, k *key) []string {
	x, y := panelScales(f, part)
	rows := min(max(p.width/5, 8), 16)
	if len(f.Panels) > 0 {
		rows = min(rows, 10)
	}
	if f.Y.Scale == Categories { // a row each
		rows = len(f.Y.Categories)
	}
	ticks, left, apart := p.sideTicks(f, y, rows)
	d := &plot{canvas: p.canvas(p.width-left, rows), f: f, x: x, y: y, key: k, failed: map[int]textStyle{}, apart: apart}
	d.draw(part)
	var lines []string
	if part.Title != "" {
		lines = append(lines, part.Title)
	}
	lines = append(lines, d.header(axisLabel(f.YOf(part), y), left)...)
	return append(lines, d.framed(ticks, left)...)
}

// sideTicks returns the ticks of a y axis, and how many columns they and the axis have. Names have more of the page than numbers. Where
// they could not be told apart there, each has a line of its own above its row.
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
	const narrow = 60
	short := term.CutApart(texts, left)
	apart = term.CountDistinct(short) < term.CountDistinct(f.Y.Categories) || p.width < narrow && !slices.Equal(short, texts)
	if apart {
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

// withoutPlace returns how many numbers have no place on the axes: those on a log axis that are not positive, and infinite ones.
func withoutPlace(f *Figure) (n int) {
	lost := func(s AxisScale, v float64) bool {
		_, ok := s.Place(v)
		return !ok && v == v
	}
	for _, part := range f.Parts() {
		x, y := panelScales(f, part)
		for _, m := range part.All() {
			if lost(x, m.X) || lost(y, m.Y) {
				n++
			}
		}
	}
	return n
}

// ruler returns a horizontal axis of so many columns, with the texts of its ticks below: as many as there is room for, of categories cut
// to what they have.
func (p textPen) ruler(columns int, s AxisScale, axis Axis) (rule []string, names string) {
	rule = slices.Repeat([]string{p.either("─", "-")}, columns)
	row := slices.Repeat([]string{" "}, columns)
	named := axis.Scale == Categories
	ticks := p.rulerTicks(columns, s, axis)
	texts := make([]string, len(ticks))
	for i, t := range ticks {
		texts[i] = p.text(t.Text)
		if named {
			texts[i] = t.Text
		}
	}
	if named {
		room := columns / max(min(len(ticks), columns/8), 1)
		texts = p.labels(texts, max(room-1, 7))
	}
	for i, t := range ticks {
		p.tick(rule, row, s, Tick{At: t.At, Text: texts[i]})
	}
	return rule, strings.TrimRight(strings.Join(row, ""), " ")
}

// rulerTicks returns ticks in the order in which they get room: what values are read against comes first, which is 1 for ratios on a log
// axis, where a tick below it and one above it tell better from worse.
func (p textPen) rulerTicks(columns int, s AxisScale, axis Axis) []Tick {
	const maxRatios = 9
	most, against := max(columns/11, 3, min(len(axis.Measured), columns/5)), 0.
	ratios := axis.Scale == Log && axis.Unit == "" && s.Low < 1 && s.High > 1
	if ratios {
		most, against = max(most, maxRatios), 1
	}
	ticks := s.Ticks(most)
	if ratios && !slices.ContainsFunc(ticks, func(t Tick) bool { return t.At == against }) {
		ticks = append(ticks, Tick{At: against, Text: "1"})
	}
	if axis.Scale == Categories {
		return ticks
	}
	slices.SortStableFunc(ticks, func(a, b Tick) int {
		switch {
		case a.At == against && b.At != against:
			return -1
		case b.At == against && a.At != against:
			return 1
		}
		return 0
	})
	return ticks
}

// columnAt converts a share of an axis to one of so many columns, with the precision of dots.
func (p textPen) columnAt(share float64, columns int) int {
	dots := 1
	if !p.ASCII {
		dots = 2
	}
	return dotAt(share, columns*dots) / dots
}

// tick marks a value on a ruler, where there is room for its text.
func (p textPen) tick(rule, row []string, s AxisScale, t Tick) {
	share, ok := s.Place(t.At)
	wide := term.Width(t.Text)
	if !ok || share < 0 || share > 1 || wide == 0 || wide > len(row) {
		return
	}
	column := p.columnAt(share, len(row))
	from := min(max(column-wide/2, 0), len(row)-wide)
	for i := max(from-1, 0); i < min(from+wide+1, len(row)); i++ {
		if row[i] != " " {
			return
		}
	}
	rule[column] = p.either("┬", "+")
	row[from] = t.Text
	for i := from + 1; i < from+wide; i++ {
		row[i] = "" // of the text
	}
}
