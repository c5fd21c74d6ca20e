package chart

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// stand is what stands for a character that cannot be drawn.
const stand = '□'

// letters are those that a picture has which brings its own font. That of an SVG is the one of who reads it: nil has them all.
type letters struct {
	font *opentype.Font
	room sfnt.Buffer
}

// rightToLeft are scripts that the font has in part, but that nobody puts in their order here.
var rightToLeft = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko}

// lacks tells whether a character cannot be drawn.
func (l *letters) lacks(r rune) bool {
	if l == nil {
		return false
	}
	at, err := l.font.GlyphIndex(&l.room, r)
	return err != nil || at == 0 || unicode.In(r, rightToLeft...)
}

// shown is a text with a box for each character that cannot be drawn. Marks that only change others go without.
func (l *letters) shown(s string) string {
	if l == nil {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !l.lacks(r):
			return r
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			return -1
		}
		return stand
	}, s)
}

// note says which characters of a figure cannot be drawn; empty where all can.
func (l *letters) note(f *Figure) string {
	const some = 3
	var all []rune
	for _, text := range textsOf(f) {
		for _, r := range whole(text) {
			if strings.ContainsRune(l.shown(string(r)), stand) && r != stand && !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, r := range all[:min(len(all), some)] {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if len(all) > some {
		names = append(names, "…")
	}
	return fmt.Sprintf("%c replaces %s that this picture has no font for (%s): an SVG shows them", stand, term.Count(len(all), "character"), strings.Join(names, ", "))
}

// textsOf are the texts of a figure that are drawn.
func textsOf(f *Figure) []string {
	all := append([]string{f.Title}, f.Notes...)
	for _, a := range []Axis{f.X, f.Y, f.Values} {
		all = append(append(all, a.Label, a.Unit), a.Categories...)
	}
	for _, part := range f.Parts() {
		all = append(all, part.Title)
		for _, g := range part.Guides {
			all = append(all, g.Text)
		}
		for _, s := range part.Series {
			all = append(all, s.Name)
		}
		eachMark(part, func(_ Series, m Mark) { all = append(all, m.Label, m.Word) })
	}
	return all
}
