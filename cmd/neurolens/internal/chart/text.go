package chart

import (
	"slices"

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

// header is the line above a canvas: the text of the y axis, and the numbers of vertical guides at their places, or as near as there
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

// cellInk is what a mark is drawn with.
type cellInk struct {
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

// tone is how marks are drawn that say something, whatever series they are of.
type tone struct {
	shape, ascii rune
	color, word  string
}

var tones = map[Tone]tone{
	Neutral:   {'○', 'o', "", "unchanged or inconclusive"},
	Regressed: {'✗', 'R', term.Red, "regressed"},
	Improved:  {'✓', 'I', term.Green, "improved"},
	Warned:    {'!', '!', "\x1b[38;5;172m", "with a warning"},
	Failed:    {'⊘', 'F', term.Red, "failed: no value"},
}

// toneOrder is the order of tones in a legend.
var toneOrder = []Tone{Regressed, Improved, Neutral, Warned, Failed}

// seriesInk is how the series of a place is drawn. Those without a name, and those after the last shape, have none.
func (p textPen) seriesInk(place int) cellInk {
	if place < 0 || place >= maxSeries {
		return cellInk{ascii: '.'}
	}
	if p.ASCII {
		return cellInk{colors[place], shapesASCII[place], shapesASCII[place]}
	}
	return cellInk{colors[place], shapes[place], 0}
}

// toneInk is how a mark of a tone is drawn.
func (p textPen) toneInk(t Tone) cellInk {
	own := tones[t]
	if p.ASCII {
		return cellInk{own.color, own.ascii, own.ascii}
	}
	return cellInk{own.color, own.shape, 0}
}
