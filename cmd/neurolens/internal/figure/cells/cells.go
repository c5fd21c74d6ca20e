// Package cells draws figures as lines of text, for terminals, pipes and comments on pull requests.
//
// Lines, points and intervals are drawn in braille, which has eight dots per cell. Forests and heat maps have one line of
// text per row. Series differ by the shape of their marks, and by colour if the page has colours. Nothing is wider than
// the page, and no text of a figure can control the terminal. If the terminal has no UTF-8, everything is ASCII.
package cells

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Options are how a figure is drawn, beside what its page says.
type Options struct {
	ASCII bool // nothing but ASCII
}

// narrowest is the width below which there is no room for marks between the texts.
const narrowest = 30

// maxTitle is how many lines a title may have.
const maxTitle = 3

// maxNote is how many lines a note may have: what one says is not to be lost on a narrow page.
const maxNote = 20

// Text draws a figure as lines that are as wide as the page at most.
func Text(f *figure.Figure, page term.Page, o Options) []string {
	p := pen{Options: o, width: page.Width, color: page.Color, whole: page.Whole}
	if p.width < narrowest {
		return p.tooNarrow()
	}
	lines := p.sentence(f.Title)
	switch {
	case f.Marks() > figure.MaxMarks: // whoever made it has to put some together
		return append(lines, p.sentence(fmt.Sprintf("%s are too many to draw: %s at most.", term.Count(f.Marks(), "mark"), term.Thousands(figure.MaxMarks)))...)
	case !anyMark(f):
		lines = append(lines, p.sentence("There is nothing to draw: no values.")...)
	case f.Kind == figure.Forest:
		lines = append(lines, p.forest(f)...)
	case f.Kind == figure.Heatmap:
		lines = append(lines, p.heatmap(f)...)
	default:
		lines = append(lines, p.plots(f)...)
	}
	for _, note := range f.Notes {
		lines = append(lines, p.wrapped(note, maxNote)...)
	}
	return lines
}

// tooNarrow says that there is no room for a figure, in as many words as there is room for.
func (p pen) tooNarrow() []string {
	for _, text := range []string{fmt.Sprintf("too narrow for a figure (%d)", narrowest), fmt.Sprintf("too narrow (%d)", narrowest)} {
		if term.Width(text) <= p.width {
			return []string{text}
		}
	}
	return term.Wrapped("too narrow", p.width)
}

// anyMark tells whether a figure has a mark at all: a failure is one.
func anyMark(f *figure.Figure) bool {
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			if slices.ContainsFunc(s.Marks, func(m figure.Mark) bool { return known(f, m) || toneOf(s, m) != figure.Plain }) {
				return true
			}
		}
	}
	return false
}

// known tells whether a mark has the value that it is there for.
func known(f *figure.Figure, m figure.Mark) bool {
	switch f.Kind {
	case figure.Heatmap:
		return !math.IsNaN(m.Value)
	case figure.Forest:
		return !math.IsNaN(m.X)
	}
	return !math.IsNaN(m.X) && (!math.IsNaN(m.Y) || !math.IsNaN(m.Low) && !math.IsNaN(m.High))
}

func toneOf(s figure.Series, m figure.Mark) figure.Tone {
	if m.Tone != figure.Plain {
		return m.Tone
	}
	return s.Tone
}

// says is the tone of which a mark has the shape. A line that has a tone, as a level, is a line: its ends have none.
func says(s figure.Series, m figure.Mark) figure.Tone {
	if isCurve(s) {
		return m.Tone
	}
	return toneOf(s, m)
}

func isCurve(s figure.Series) bool { return s.Style == figure.Line || s.Style == figure.Steps }

// pen writes texts as the page and the options want them.
type pen struct {
	Options
	width        int
	color, whole bool
}

// inASCII are the characters of our own texts that ASCII lacks.
var inASCII = strings.NewReplacer(
	"µ", "u", "μ", "u", "−", "-", "–", "-", "…", "...", "·", "-", "×", "x", "±", "+-", "→", "->", "≤", "<=", "≥", ">=", "°", "", "²", "2",
)

// text is a text in one line that steers no terminal.
func (p pen) text(s string) string {
	if s = term.OneLine(s); !p.ASCII {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, inASCII.Replace(s))
}

// cut is a text in so many columns at most.
func (p pen) cut(s string, width int) string {
	s = p.text(s)
	short := term.Cut(s, width)
	if p.ASCII {
		return strings.Replace(short, "…", "~", 1)
	}
	return short
}

// anyWidth is a width that all texts have.
const anyWidth = math.MaxInt32

// labels are names in so many columns each. Those that differ look different, also where they differ in their middles, or in characters
// that ASCII lacks.
func (p pen) labels(whole []string, width int) []string {
	texts := make([]string, len(whole))
	for i, text := range whole {
		texts[i] = p.text(text)
	}
	width = max(width, 1)
	short := term.Numbered(whole, term.CutApart(texts, width), func(text, number string) string {
		return term.Cut(strings.TrimSpace(term.Cut(text, max(width-term.Width(number), 0))+number), width)
	})
	for i, text := range short {
		if p.ASCII {
			short[i] = strings.ReplaceAll(text, "…", "~")
		}
	}
	return short
}

// pad is a text in just so many columns.
func (p pen) pad(s string, width int, right bool) string {
	return term.Pad(p.cut(s, width), width, right)
}

// center is a text in the middle of so many columns.
func (p pen) center(s string, width int) string {
	s = p.cut(s, width)
	return strings.Repeat(" ", (width-term.Width(s))/2) + s
}

// sentence are the lines of a text as short as a title.
func (p pen) sentence(s string) []string { return p.wrapped(s, maxTitle) }

// wrapped are the lines of a text that is broken at words; of one that is very long, the first ones.
func (p pen) wrapped(s string, most int) []string {
	if s == "" {
		return nil
	}
	lines := term.Wrapped(p.cut(s, most*p.width), p.width)
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for i, line := range lines {
		lines[i] = p.cut(line, p.width)
	}
	return lines
}

// paint colours a text, where there is colour.
func (p pen) paint(s, color string) string {
	if !p.color || color == "" || s == "" {
		return s
	}
	return color + s + term.Plain
}

// one is the first character, or the second one in ASCII.
func (p pen) one(utf8, ascii string) rune { return []rune(p.either(utf8, ascii))[0] }

// either is the first text, or the second one in ASCII.
func (p pen) either(utf8, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return utf8
}
