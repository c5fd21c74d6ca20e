package chart

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

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
