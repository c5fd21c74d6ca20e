package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// surface takes the strokes of a pen. Its points are gonum's: the origin is at the lower left.
type surface interface {
	begin(group) // of an element around what belongs together; a surface without elements ignores it
	end()
	fill(ink string, path vg.Path)
	stroke(s style, path vg.Path)
	text(l lettering, at vg.Point, text string)
}

// group is an element around what belongs together.
type group struct {
	class string
	title string
	data  []attribute
}

type attribute struct{ name, value string }

// svgSurface writes the elements of an SVG, where a length of one is a pixel. Colours are classes of a stylesheet.
type svgSurface struct {
	b      bytes.Buffer
	height float64
}

// at converts a point to SVG, which has the origin at the upper left.
func (c *svgSurface) at(p vg.Point) (x, y float64) { return float64(p.X), c.height - float64(p.Y) }

func (c *svgSurface) fill(ink string, path vg.Path) {
	c.path("f-"+ink, path)
	c.b.WriteString("/>\n")
}

func (c *svgSurface) stroke(s style, path vg.Path) {
	c.path("l-"+s.ink, path)
	if s.width != 1 {
		fmt.Fprintf(&c.b, ` stroke-width="%s"`, px(s.width))
	}
	if len(s.dash) > 0 {
		lengths := term.Texts(s.dash, func(d vg.Length) string { return px(float64(d)) })
		fmt.Fprintf(&c.b, ` stroke-dasharray="%s"`, strings.Join(lengths, " "))
	}
	c.b.WriteString("/>\n")
}

// path begins an element. Circles and upright rectangles have elements of their own, which are shorter and easier to read.
func (c *svgSurface) path(class string, p vg.Path) {
	if len(p) == 3 && p[1].Type == vg.ArcComp {
		x, y := c.at(p[1].Pos)
		fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"`, class, px(x), px(y), px(float64(p[1].Radius)))
		return
	}
	if x, y, w, h, ok := c.rectangle(p); ok {
		fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, class, px(x), px(y), px(w), px(h))
		return
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="`, class)
	for _, step := range p {
		if step.Type == vg.CloseComp {
			c.b.WriteByte('Z')
			continue
		}
		x, y := c.at(step.Pos)
		c.b.WriteString(map[int]string{vg.MoveComp: "M", vg.LineComp: "L"}[step.Type] + px(x) + " " + px(y))
	}
	c.b.WriteByte('"')
}

// rectangle reports whether a path is an upright rectangle.
func (c *svgSurface) rectangle(p vg.Path) (x, y, w, h float64, ok bool) {
	if len(p) != 5 || p[4].Type != vg.CloseComp ||
		p[0].Pos.Y != p[1].Pos.Y || p[1].Pos.X != p[2].Pos.X || p[2].Pos.Y != p[3].Pos.Y || p[3].Pos.X != p[0].Pos.X {
		return 0, 0, 0, 0, false
	}
	x0, y0 := c.at(p[0].Pos)
	x1, y1 := c.at(p[2].Pos)
	return min(x0, x1), min(y0, y1), math.Abs(x1 - x0), math.Abs(y1 - y0), true
}

func (c *svgSurface) text(l lettering, at vg.Point, text string) {
	if text == "" {
		return
	}
	x, y := c.at(at)
	class := "f-" + l.ink
	if l.halo {
		class += " halo"
	}
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" font-size="%s"`, class, px(x), px(y), px(l.size))
	if l.anchor != start {
		fmt.Fprintf(&c.b, ` text-anchor="%s"`, l.anchor)
	}
	if l.bold {
		c.b.WriteString(` font-weight="600"`)
	}
	if l.turned != 0 { // SVG turns with the clock
		fmt.Fprintf(&c.b, ` transform="rotate(%s %s %s)"`, px(-l.turned), px(x), px(y))
	}
	c.b.WriteString(">" + escaped(text) + "</text>\n")
}

func (c *svgSurface) begin(g group) {
	fmt.Fprintf(&c.b, `<g class="%s"`, escaped(g.class))
	for _, a := range g.data {
		fmt.Fprintf(&c.b, ` data-%s="%s"`, a.name, escaped(a.value))
	}
	c.b.WriteString(">")
	if g.title != "" {
		c.b.WriteString("<title>" + escaped(g.title) + "</title>")
	}
	c.b.WriteString("\n")
}

func (c *svgSurface) end() { c.b.WriteString("</g>\n") }

// pixelSurface draws on a canvas of gonum.
type pixelSurface struct {
	canvas vg.Canvas
	colors map[string]color.NRGBA
	face   func(size float64, bold bool) font.Face
}

func (c *pixelSurface) begin(group) {}
func (c *pixelSurface) end()        {}

func (c *pixelSurface) fill(ink string, path vg.Path) {
	c.canvas.SetColor(c.colors[ink])
	c.canvas.Fill(path)
}

func (c *pixelSurface) stroke(s style, path vg.Path) {
	c.canvas.SetColor(c.colors[s.ink])
	c.canvas.SetLineWidth(vg.Length(s.width))
	c.canvas.SetLineDash(s.dash, 0)
	c.canvas.Stroke(path)
}

func (c *pixelSurface) text(l lettering, at vg.Point, text string) {
	face := c.face(l.size, l.bold)
	shift := -face.Width(text) * vg.Length(l.anchor.before())
	if l.halo { // the text in the colour of paper, around where it will be
		c.canvas.SetColor(c.colors["paper"])
		for i := range 8 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 4)
			c.canvas.FillString(face, vg.Point{X: at.X + shift + 1.2*vg.Length(cos), Y: at.Y - 1.2*vg.Length(sin)}, text)
		}
	}
	c.canvas.SetColor(c.colors[l.ink])
	if l.turned == 0 {
		c.canvas.FillString(face, vg.Point{X: at.X + shift, Y: at.Y}, text)
		return
	}
	c.canvas.Push()
	c.canvas.Translate(at)
	c.canvas.Rotate(l.turned * math.Pi / 180)
	c.canvas.FillString(face, vg.Point{X: shift}, text)
	c.canvas.Pop()
}

// px prints a length, or an angle, with two decimals at most.
func px(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // no minus
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// svgNumber prints a stored value so that it can be read back.
func svgNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func escaped(s string) string {
	var b strings.Builder
	// A strings.Builder takes everything. What XML has no place for becomes the mark of what cannot be shown.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
