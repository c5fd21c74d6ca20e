package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// TextOptions are how a figure is drawn, beside what its page says.
type TextOptions struct {
	ASCII bool // nothing but ASCII
}

// narrowest is the smallest width of a figure.
const narrowest = 30

// maxTitle is the largest number of lines of a title.
const maxTitle = 3

// maxNote is the largest number of lines of a note, so that notes are complete on a narrow page.
const maxNote = 20

// Text draws a figure as lines that are as wide as the page at most.
func Text(f *Figure, page term.Page, o TextOptions) []string {
	p := textPen{TextOptions: o, width: page.Width, color: page.Color, whole: page.Whole}
	if p.width < narrowest {
		return p.tooNarrow()
	}
	f = withoutEveryWarning(f)
	lines := p.sentence(f.Title)
	switch {
	case f.Marks() > MaxMarks: // whoever made it has to put some together
		return append(lines, p.sentence(fmt.Sprintf("%s are too many to draw: %s at most.", term.Count(f.Marks(), "mark"), term.Thousands(MaxMarks)))...)
	case !anyMark(f):
		lines = append(lines, p.sentence("There is nothing to draw: no values.")...)
	case f.Kind == Forest:
		lines = append(lines, p.forest(f)...)
	case f.Kind == Heatmap:
		lines = append(lines, p.heatmap(f)...)
	case f.Kind == Flame:
		lines = append(lines, p.flame(f)...)
	default:
		lines = append(lines, p.plots(f)...)
	}
	for _, note := range f.Notes {
		lines = append(lines, p.wrapped(note, maxNote)...)
	}
	return lines
}

// tooNarrow returns a message that there is no room for a figure, as long as the width allows.
func (p textPen) tooNarrow() []string {
	for _, text := range []string{fmt.Sprintf("too narrow for a figure (%d)", narrowest), fmt.Sprintf("too narrow (%d)", narrowest)} {
		if term.Width(text) <= p.width {
			return []string{text}
		}
	}
	return term.Wrapped("too narrow", p.width)
}

// withoutEveryWarning returns a figure whose marks all have a warning without these warnings: a note names them, and each series keeps its
// shape.
func withoutEveryWarning(f *Figure) *Figure {
	marks := 0
	for s, m := range f.All() {
		if m.Tone != Warned || s.Tone != Plain {
			return f
		}
		marks++
	}
	if marks == 0 || f.Kind == History {
		return f
	}
	plain := *f
	plainSeries := func(all []Series) []Series {
		all = slices.Clone(all)
		for i := range all {
			all[i].Marks = slices.Clone(all[i].Marks)
			for k := range all[i].Marks {
				all[i].Marks[k].Tone = Plain
			}
		}
		return all
	}
	plain.Series, plain.Panels = plainSeries(f.Series), slices.Clone(f.Panels)
	for i := range plain.Panels {
		plain.Panels[i].Series = plainSeries(plain.Panels[i].Series)
	}
	if f.Kind != Runs { // its notes say it
		plain.Notes = append([]string{"all " + f.Explained(Warned, lookOf(Warned).word)}, f.Notes...)
	}
	return &plain
}

// anyMark reports whether a figure has any mark, even a failure.
func anyMark(f *Figure) bool {
	for s, m := range f.All() {
		if known(f, m) || s.ToneOf(m) != Plain {
			return true
		}
	}
	return false
}

// known reports whether a mark has a value.
func known(f *Figure, m Mark) bool {
	switch f.Kind {
	case Heatmap:
		return !math.IsNaN(m.Value)
	case Forest:
		return !math.IsNaN(m.X)
	}
	return !math.IsNaN(m.X) && (!math.IsNaN(m.Y) || !math.IsNaN(m.Low) && !math.IsNaN(m.High))
}

// says returns the tone of which a mark has the shape. A line that has a tone, as a level, is a line: its ends have none.
func says(s Series, m Mark) Tone {
	if isCurve(s) {
		return m.Tone
	}
	return s.ToneOf(m)
}

func isCurve(s Series) bool { return s.Style == Line || s.Style == Steps }

// textPen writes texts as the page and the options want them.
type textPen struct {
	TextOptions
	width        int
	color, whole bool
}

// inASCII are the characters of our own texts that ASCII lacks.
var inASCII = strings.NewReplacer(
	"µ", "u", "μ", "u", "−", "-", "–", "-", "…", "...", "·", "-", "×", "x", "±", "+-", "→", "->", "≤", "<=", "≥", ">=", "°", "", "²", "2",
)

// text returns a text in one line that steers no terminal.
func (p textPen) text(s string) string {
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

// cut returns a text in so many columns at most.
func (p textPen) cut(s string, width int) string {
	s = p.text(s)
	short := term.Cut(s, width)
	if p.ASCII {
		return strings.Replace(short, "…", "~", 1)
	}
	return short
}

// anyWidth is a width that all texts have.
const anyWidth = math.MaxInt32

// labels returns names in so many columns each. Those that differ look different, also where they differ in their middles, or in characters
// that ASCII lacks.
func (p textPen) labels(whole []string, width int) []string {
	texts := term.Texts(whole, p.text)
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

// pad returns a text in just so many columns.
func (p textPen) pad(s string, width int, right bool) string {
	return term.Pad(p.cut(s, width), width, right)
}

// center returns a text in the middle of so many columns.
func (p textPen) center(s string, width int) string {
	s = p.cut(s, width)
	return strings.Repeat(" ", (width-term.Width(s))/2) + s
}

// sentence returns the lines of a text as short as a title.
func (p textPen) sentence(s string) []string { return p.wrapped(s, maxTitle) }

// broken breaks words that are wider than the page, of which the end may matter.
func (p textPen) broken(s string) string {
	words := strings.Fields(p.text(s))
	for i, word := range words {
		for rest := word; term.Width(rest) > p.width && len(rest) > p.width; {
			head := term.Cut(rest, p.width)
			head = strings.TrimSuffix(head, "…")
			words[i] = strings.TrimSuffix(words[i], rest) + head + " " + rest[len(head):]
			rest = rest[len(head):]
		}
	}
	return strings.Join(words, " ")
}

// wrapped returns the lines of a text that is broken at words; of one that is very long, the first ones.
func (p textPen) wrapped(s string, most int) []string {
	if s == "" {
		return nil
	}
	lines := term.Wrapped(p.cut(p.broken(s), most*p.width), p.width)
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for i, line := range lines {
		lines[i] = p.cut(line, p.width)
	}
	return lines
}

// paint colours a text, where there is colour.
func (p textPen) paint(s, color string) string {
	if !p.color || color == "" || s == "" {
		return s
	}
	return color + s + term.Plain
}

// one returns the first character, or the second one in ASCII.
func (p textPen) one(utf8, ascii string) rune { return []rune(p.either(utf8, ascii))[0] }

// either returns the first text, or the second one in ASCII.
func (p textPen) either(utf8, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return utf8
}
