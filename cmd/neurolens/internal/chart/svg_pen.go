package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// anchor is which part of a text lies at its place.
type anchor string

const (
	start  anchor = "start"
	center anchor = "middle"
	end    anchor = "end"
)

// pen draws in pixels from the upper left, with y downwards.
type pen struct {
	surface
	height  float64
	slack   float64 // how much wider than measured a text may be
	regular *opentype.Font
	bold    *opentype.Font
	widths  map[letter]float64
	letters *letters
	keys    []string // whole names of series and panels that have a number
}

type letter struct {
	r    rune
	bold bool
}

// fonts are read once, when the first figure is drawn.
var fonts = sync.OnceValues(func() (parsed [2]*opentype.Font, err error) {
	for i, data := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		if parsed[i], err = opentype.Parse(data); err != nil {
			return parsed, err
		}
	}
	return parsed, nil
})

func (p *pen) face(size float64, bold bool) font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}, Face: p.regular}
	if bold {
		f.Font.Weight, f.Face = xfont.WeightBold, p.bold
	}
	return f
}

const (
	drawnHere  = 1.02 // how much wider than measured a text may be that is drawn here
	drawnThere = 1.2  // and one that is drawn in the font of who reads it: some are that wide
)

// width returns how wide a text is at most.
func (p *pen) width(s string, size float64, bold bool) float64 {
	w := 0.0
	for _, r := range s {
		w += p.advance(letter{r, bold})
	}
	return w * size * p.slack
}

// advance returns how wide a character is, in its height. Those of scripts that the font lacks count as wide as high.
func (p *pen) advance(l letter) float64 {
	const firstWide = 0x1100
	switch {
	case unicode.In(l.r, unicode.Mn, unicode.Me):
		return 0
	case l.r >= firstWide && !unicode.In(l.r, unicode.P, unicode.Sm, unicode.Latin, unicode.Greek):
		return 1
	}
	w, known := p.widths[l]
	if !known {
		const precise = 1000
		face := p.face(precise, l.bold)
		w = float64(face.Width(string(l.r))) / precise
		p.widths[l] = w
	}
	return w
}

func (p *pen) at(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)} }

// style is how a line is drawn.
type style struct {
	ink   string
	width float64
	dash  []vg.Length
}

// point is a place in pixels.
type point struct{ x, y float64 }

func (p *pen) path(points ...point) vg.Path {
	var path vg.Path
	for i, at := range points {
		if i == 0 {
			path.Move(p.at(at.x, at.y))
		} else {
			path.Line(p.at(at.x, at.y))
		}
	}
	return path
}

func (p *pen) closed(points ...point) vg.Path {
	path := p.path(points...)
	path.Close()
	return path
}

func (p *pen) line(s style, points ...point) { p.stroke(s, p.path(points...)) }

func (p *pen) rectangle(r box) vg.Path {
	return p.closed(point{r.left, r.top}, point{r.right, r.top}, point{r.right, r.bottom}, point{r.left, r.bottom})
}

func (p *pen) circle(x, y, r float64) vg.Path {
	var path vg.Path
	path.Move(p.at(x+r, y))
	path.Arc(p.at(x, y), vg.Length(r), 0, 2*math.Pi)
	path.Close()
	return path
}

// lettering is how a text is written.
type lettering struct {
	ink    string
	size   float64
	bold   bool
	anchor anchor
	turned float64 // degrees against the clock
	halo   bool    // with paper around it, where it may lie on lines
}

// text writes a text that fits already, with its base line at y.
func (p *pen) text(l lettering, x, y float64, s string) {
	if l.anchor == "" {
		l.anchor = start
	}
	p.surface.text(l, p.at(x, y), p.letters.shown(s))
}

// in draws something as one element.
func (p *pen) in(g group, draw func()) {
	p.begin(g)
	draw()
	p.end()
}

// box is a part of the picture.
type box struct{ left, top, right, bottom float64 }

func (b box) width() float64  { return b.right - b.left }
func (b box) height() float64 { return b.bottom - b.top }

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

// shown returns a text with a box for each character that cannot be drawn. Marks that only change others go without.
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

// textsOf returns the texts of a figure that are drawn.
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
		for _, m := range part.All() {
			all = append(all, m.Label, m.Word)
		}
	}
	return all
}
