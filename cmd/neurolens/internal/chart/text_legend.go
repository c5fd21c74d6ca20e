package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// guides draws what values are read against, behind the marks. Its texts stand in the legend, vertical ones by number.
func (d *plot) guides(all []Guide) {
	for _, g := range all {
		switch g.Along {
		case Vertical:
			d.vertical(g)
		case Horizontal:
			d.horizontal(g)
		case Diagonal:
			d.diagonal(g)
		}
	}
}

func (d *plot) vertical(g Guide) {
	share, ok := d.x.Place(g.At)
	if !ok || share < 0 || share > 1 {
		return
	}
	r := d.one("┊", "|")
	across, _ := d.dotsIn()
	from := dotAt(share, d.columns*across) / across
	to := from
	if end, ok := d.x.Place(g.Until); ok && g.Until > g.At {
		to = dotAt(min(end, 1), d.columns*across) / across
	}
	for row := range d.rows {
		d.behind(from, row, r)
		d.behind(to, row, r)
	}
	if g.Text != "" {
		d.numbers = append(d.numbers, numberAt{from, d.key.number(g.Text)})
	}
}

func (d *plot) horizontal(g Guide) {
	shade := d.either("┄", "-")
	_, up := d.dotsIn()
	rows := d.rows * up
	share, ok := d.up(g.At)
	if !ok || share < 0 || share > 1 {
		return
	}
	row := (rows - 1 - dotAt(share, rows)) / up
	to := row
	if end, ok := d.up(g.Until); ok && g.Until > g.At {
		to = (rows - 1 - dotAt(min(end, 1), rows)) / up
		shade = d.either("░", ":")
	}
	for ; to <= row; to++ {
		for column := range d.columns {
			d.behind(column, to, []rune(shade)[0])
		}
	}
	if g.Text != "" {
		d.key.add(shade, g.Text)
	}
}

// numberAt is the number of a guide, and its column.
type numberAt struct {
	column int
	text   string
}

// header returns the line above a canvas: the text of the y axis, and the numbers of vertical guides at their places, or as near as there
// is room for them.
func (d *plot) header(label string, left int) []string {
	above := d.cut(label, left+d.columns)
	if len(d.numbers) == 0 {
		if above == "" {
			return nil
		}
		return []string{above}
	}
	slices.SortStableFunc(d.numbers, func(a, b numberAt) int { return a.column - b.column })
	var lines []string
	row := above
	if term.Width(above) >= left+d.numbers[0].column {
		lines, row = append(lines, above), ""
	}
	for _, n := range d.numbers {
		at := left + n.column
		if row != "" {
			at = max(at, term.Width(row)+1)
		}
		if at+len(n.text) <= left+d.columns {
			row = term.Pad(row, at, false) + n.text
		}
	}
	return append(lines, row)
}

// diagonal is where both values are equal.
func (d *plot) diagonal(g Guide) {
	r := d.one("·", ".")
	_, up := d.dotsIn()
	for column := range d.columns {
		v := d.x.Value((float64(column) + .5) / float64(d.columns))
		if share, ok := d.up(v); ok && share >= 0 && share <= 1 {
			d.behind(column, (d.rows*up-1-dotAt(share, d.rows*up))/up, r)
		}
	}
	if g.Text != "" {
		d.key.add(string(r), g.Text)
	}
}

// faint is the colour of what is no value.
const faint = "\x1b[2m"

// textStyle is the colour and the shape of a mark.
type textStyle struct {
	color string
	shape rune // of a mark; 0: dots alone
	ascii rune // of a dot in ASCII
}

// maxSeries is how many series get a shape, a colour and a name.
const maxSeries = 6

// Shapes and colours of series. The colours are those of Okabe and Ito, which colour-blind people can tell apart, as near as the
// 256 colours of terminals come to them and as can be read on black and on white.
var (
	shapes      = [maxSeries]rune{'●', '○', '◆', '△', '■', '◇'}
	shapesASCII = [maxSeries]rune{'*', 'o', '+', '#', 'x', '@'}
	colors      = [maxSeries]string{"\x1b[38;5;32m", "\x1b[38;5;172m", "\x1b[38;5;36m", "\x1b[38;5;169m", "\x1b[38;5;166m", "\x1b[38;5;74m"}
)

// seriesInk returns how the series of a place is drawn. Those without a name, and those after the last shape, have none.
func (p textPen) seriesInk(place int) textStyle {
	if place < 0 || place >= maxSeries {
		return textStyle{ascii: '.'}
	}
	if p.ASCII {
		return textStyle{colors[place], shapesASCII[place], shapesASCII[place]}
	}
	return textStyle{colors[place], shapes[place], 0}
}

// toneInk returns how a mark of a tone is drawn.
func (p textPen) toneInk(t Tone) textStyle {
	own := lookOf(t)
	if p.ASCII {
		return textStyle{own.color, own.ascii, own.ascii}
	}
	return textStyle{own.color, own.text, 0}
}

// key assigns shapes and colours to series and tones, and writes the legend.
type key struct {
	textPen
	f        *Figure
	series   []Series // the first ones of their names, in the order of their shapes and colours
	curves   int      // how many of them are lines
	tones    map[Tone]bool
	alike    bool        // all marks are points of one name and one tone
	thinned  *kind       // the kind of those of which only some have shapes
	faint    []string    // names of series without a shape
	guides   [][2]string // how they look, and their texts
	numbered []string    // texts of guides
	unseen   []string    // lines that say which guides are not seen
}

// newKey gives a shape to each of the first names, the same one in all panels.
func (p textPen) newKey(f *Figure) *key {
	k := &key{textPen: p, f: f, tones: map[Tone]bool{}, alike: ofOneKind(f)}
	seen := map[string]bool{}
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			for _, m := range s.Marks {
				k.tones[says(s, m)] = true
			}
			if s.Name == "" || seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			k.take(s)
		}
	}
	return k
}

// kind identifies marks with the same shape.
type kind struct {
	name string
	tone Tone
}

// ofOneKind reports whether all visible marks of a figure are points of one series and one tone.
func ofOneKind(f *Figure) bool {
	kinds := map[kind]bool{}
	for s, m := range f.All() {
		if s.Style != Band && known(f, m) {
			kinds[kind{s.Name, says(s, m)}] = true
		}
	}
	return len(kinds) == 1 && !slices.ContainsFunc(f.Parts(), func(p Panel) bool { return slices.ContainsFunc(p.Series, isCurve) })
}

// take gives a series the next shape and colour.
func (k *key) take(s Series) {
	if len(k.series) >= maxSeries {
		k.faint = append(k.faint, s.Name)
		return
	}
	k.series = append(k.series, s)
	if isCurve(s) {
		k.curves++
	}
}

// place returns the index of a series in the shapes and colours.
func (k *key) place(s Series) int {
	return slices.IndexFunc(k.series, func(other Series) bool { return other.Name == s.Name && s.Name != "" })
}

// ink returns the style of a series.
func (k *key) ink(s Series) textStyle {
	with := k.seriesInk(k.place(s))
	switch {
	case s.Name == "" && !isCurve(s):
		with = k.seriesInk(0)
		with.color = ""
	case k.f.Kind == History && s.Style == Line && k.curves < 2: // a level: it goes through no value
		with.shape, with.ascii = 0, '='
	}
	if s.Tone != Plain {
		with.color = lookOf(s.Tone).color
	}
	return with
}

// add puts a guide into the legend, once.
func (k *key) add(look, text string) {
	if entry := [2]string{look, text}; text != "" && !slices.Contains(k.guides, entry) {
		k.guides = append(k.guides, entry)
	}
}

// number returns the number of a guide, which the legend explains.
func (k *key) number(text string) string {
	at := slices.Index(k.numbered, text)
	if at < 0 {
		at = len(k.numbered)
		k.numbered = append(k.numbered, text)
	}
	return strconv.Itoa(at + 1)
}

// legend returns the lines of the legend.
func (k *key) legend() []string {
	var entries []string
	room := k.width - 2
	if k.whole {
		room = anyWidth
	}
	const dots = " (dots too)"
	if k.thinned != nil {
		room -= len(dots)
	}
	names := k.labels(term.Texts(k.series, func(s Series) string { return s.Name }), room)
	for i, s := range k.series {
		color := k.ink(s).color
		if s.Style == Band {
			color = faint
		}
		if k.thinned != nil && *k.thinned == (kind{s.Name, s.Tone}) {
			names[i] += dots
		}
		entries = append(entries, k.entry(k.sample(s), color, names[i]))
	}
	for _, look := range toneLooks {
		t := look.tone
		named := slices.ContainsFunc(k.series, func(s Series) bool { return s.Tone == t && s.Style == Points })
		if k.tones[t] && !named {
			with, text := k.toneInk(t), k.f.Explained(t, look.word)
			if !k.whole {
				text = cutList(text, func(text string) bool { return term.Width(text) <= room })
			}
			if k.thinned != nil && k.thinned.tone == t {
				text += dots
			}
			entries = append(entries, k.entry(string(with.shape), with.color, text))
		}
	}
	for _, g := range k.guides {
		entries = append(entries, k.entry(g[0], "", g[1]))
	}
	for i, text := range k.numbered {
		entries = append(entries, k.entry(strconv.Itoa(i+1), "", text))
	}
	lines := k.flow(entries)
	if n := len(k.faint); n > 0 {
		lines = append(lines, k.sentence(fmt.Sprintf("%s more, without a symbol: %s", term.Thousands(n), strings.Join(k.faint, ", ")))...)
	}
	return lines
}

// sample returns the symbol of a series.
func (k *key) sample(s Series) string {
	with := k.ink(s)
	switch {
	case s.Style == Band:
		return k.either("░", ":")
	case s.Tone != Plain && s.Style == Points: // its marks have the shape of what they say
		return string(k.toneInk(s.Tone).shape)
	case with.shape != 0:
		return string(with.shape)
	case k.ASCII:
		return string(with.ascii)
	}
	return "─"
}

// entry returns a symbol with its meaning.
func (k *key) entry(mark, color, name string) string {
	if !k.whole {
		name = k.cut(name, k.width-term.Width(mark)-1)
	}
	return k.paint(mark, color) + " " + k.text(name)
}

// flow distributes texts over lines.
func (k *key) flow(entries []string) []string {
	const gap = "   "
	var lines []string
	for _, entry := range entries {
		last := len(lines) - 1
		if last >= 0 && term.Width(lines[last]+gap+entry) <= k.width {
			lines[last] += gap + entry
		} else {
			lines = append(lines, entry)
		}
	}
	return lines
}
