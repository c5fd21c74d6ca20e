package cells

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// faint is the colour of what is no value.
const faint = "\x1b[2m"

// ink is what a mark is drawn with.
type ink struct {
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

var tones = map[figure.Tone]tone{
	figure.Neutral:   {'○', 'o', "", "unchanged or inconclusive"},
	figure.Regressed: {'✗', 'R', term.Red, "regressed"},
	figure.Improved:  {'✓', 'I', term.Green, "improved"},
	figure.Warned:    {'!', '!', "\x1b[38;5;172m", "with a warning"},
	figure.Failed:    {'⊘', 'F', term.Red, "failed: no value"},
}

// toneOrder is the order of tones in a legend.
var toneOrder = []figure.Tone{figure.Regressed, figure.Improved, figure.Neutral, figure.Warned, figure.Failed}

// seriesInk is how the series of a place is drawn. Those without a name, and those after the last shape, have none.
func (p pen) seriesInk(place int) ink {
	if place < 0 || place >= maxSeries {
		return ink{ascii: '.'}
	}
	if p.ASCII {
		return ink{colors[place], shapesASCII[place], shapesASCII[place]}
	}
	return ink{colors[place], shapes[place], 0}
}

// toneInk is how a mark of a tone is drawn.
func (p pen) toneInk(t figure.Tone) ink {
	own := tones[t]
	if p.ASCII {
		return ink{own.color, own.ascii, own.ascii}
	}
	return ink{own.color, own.shape, 0}
}
