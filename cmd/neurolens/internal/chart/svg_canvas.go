package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas draws as SVG: a vg.Canvas with groups. Its length of one is a pixel. What lies in which group, and where texts are held,
// is said beside the interface of canvases, by structure.
type svgCanvas struct {
	b      bytes.Buffer
	height float64
	state  svgState
	saved  []svgState
	anchor anchor
	bold   bool
	halo   bool
	err    error
}

type svgState struct {
	ink    ink
	width  float64
	dash   []vg.Length
	offset vg.Length
	m      matrix
}

// matrix takes points to where they are drawn: x' = a x + c y + e, y' = b x + d y + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) apply(p vg.Point) (x, y float64) {
	px, py := float64(p.X), float64(p.Y)
	return m.a*px + m.c*py + m.e, m.b*px + m.d*py + m.f
}

// then is the matrix that does n first, then m.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b,
		m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

// newSVGCanvas has the origin at the lower left, as canvases have it, where SVG has it at the upper left.
func newSVGCanvas(height float64) *svgCanvas {
	c := &svgCanvas{height: height}
	c.state = svgState{width: 1, m: matrix{1, 0, 0, -1, 0, height}}
	return c
}

func (c *svgCanvas) SetLineWidth(w vg.Length) { c.state.width = float64(w) }

func (c *svgCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.state.dash, c.state.offset = pattern, offset
}

func (c *svgCanvas) SetColor(k color.Color) {
	named, ok := k.(ink)
	if !ok {
		named = ink{name: "text"}
	}
	c.state.ink = named
}

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.state.m = c.state.m.then(matrix{cos, sin, -sin, cos, 0, 0})
}

func (c *svgCanvas) Translate(pt vg.Point) {
	c.state.m = c.state.m.then(matrix{1, 0, 0, 1, float64(pt.X), float64(pt.Y)})
}

func (c *svgCanvas) Scale(x, y float64) { c.state.m = c.state.m.then(matrix{x, 0, 0, y, 0, 0}) }

func (c *svgCanvas) Push() { c.saved = append(c.saved, c.state) }

func (c *svgCanvas) Pop() {
	c.state = c.saved[len(c.saved)-1]
	c.saved = c.saved[:len(c.saved)-1]
}

func (c *svgCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 {
		return
	}
	c.path(p, "l-")
	if c.state.width != 1 {
		fmt.Fprintf(&c.b, ` stroke-width="%s"`, px(c.state.width))
	}
	if len(c.state.dash) > 0 {
		parts := make([]string, len(c.state.dash))
		for i, d := range c.state.dash {
			parts[i] = px(float64(d))
		}
		fmt.Fprintf(&c.b, ` stroke-dasharray="%s"`, strings.Join(parts, " "))
		if c.state.offset != 0 {
			fmt.Fprintf(&c.b, ` stroke-dashoffset="%s"`, px(float64(c.state.offset)))
		}
	}
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) Fill(p vg.Path) {
	c.path(p, "f-")
	c.b.WriteString("/>\n")
}

// path begins an element of a path: a circle and an upright rectangle are told from others, which is shorter and is read more easily.
func (c *svgCanvas) path(p vg.Path, kind string) {
	class := kind + c.state.ink.name
	if len(p) == 3 && p[0].Type == vg.MoveComp && p[1].Type == vg.ArcComp && math.Abs(p[1].Angle) >= 2*math.Pi {
		x, y := c.state.m.apply(p[1].Pos)
		fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"`, class, px(x), px(y), px(float64(p[1].Radius)))
		return
	}
	if x, y, w, h, ok := c.rectangle(p); ok {
		fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, class, px(x), px(y), px(w), px(h))
		return
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="`, class)
	for _, comp := range p {
		x, y := c.state.m.apply(comp.Pos)
		switch comp.Type {
		case vg.MoveComp:
			c.to("M", x, y)
		case vg.LineComp:
			c.to("L", x, y)
		case vg.ArcComp:
			c.arc(comp)
		case vg.CurveComp:
			c.b.WriteString([]string{"", "Q", "C"}[len(comp.Control)])
			for _, control := range comp.Control {
				cx, cy := c.state.m.apply(control)
				c.to("", cx, cy)
				c.b.WriteByte(' ')
			}
			c.to("", x, y)
		case vg.CloseComp:
			c.b.WriteByte('Z')
		}
	}
	c.b.WriteByte('"')
}

func (c *svgCanvas) to(how string, x, y float64) { c.b.WriteString(how + px(x) + " " + px(y)) }

// arc goes to the beginning of an arc, and along it in two halves, for SVG has no arc from a point to itself.
func (c *svgCanvas) arc(comp vg.PathComp) {
	at := func(angle float64) (x, y float64) {
		sin, cos := math.Sincos(angle)
		return c.state.m.apply(vg.Point{X: comp.Pos.X + comp.Radius*vg.Length(cos), Y: comp.Pos.Y + comp.Radius*vg.Length(sin)})
	}
	x, y := at(comp.Start)
	c.to("L", x, y)
	sweep := "0" // angles grow against the clock, in SVG with it
	if comp.Angle < 0 {
		sweep = "1"
	}
	r := px(float64(comp.Radius))
	for _, share := range []float64{.5, 1} {
		x, y := at(comp.Start + share*comp.Angle)
		c.b.WriteString("A" + r + " " + r + " 0 0 " + sweep + " ")
		c.to("", x, y)
	}
}

// rectangle tells whether a path is an upright rectangle.
func (c *svgCanvas) rectangle(p vg.Path) (x, y, w, h float64, ok bool) {
	if len(p) != 5 || p[0].Type != vg.MoveComp || p[4].Type != vg.CloseComp {
		return 0, 0, 0, 0, false
	}
	for i := 1; i < 4; i++ {
		if p[i].Type != vg.LineComp {
			return 0, 0, 0, 0, false
		}
	}
	if p[0].Pos.Y != p[1].Pos.Y || p[1].Pos.X != p[2].Pos.X || p[2].Pos.Y != p[3].Pos.Y || p[3].Pos.X != p[0].Pos.X {
		return 0, 0, 0, 0, false
	}
	x0, y0 := c.state.m.apply(p[0].Pos)
	x1, y1 := c.state.m.apply(p[2].Pos)
	return min(x0, x1), min(y0, y1), math.Abs(x1 - x0), math.Abs(y1 - y0), c.state.m.b == 0 && c.state.m.c == 0
}

func (c *svgCanvas) FillString(f font.Face, pt vg.Point, text string) {
	if f.Font.Size == 0 || text == "" {
		return
	}
	x, y := c.state.m.apply(pt)
	class := "f-" + c.state.ink.name
	if c.halo {
		class += " halo"
	}
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" font-size="%s"`, class, px(x), px(y), px(float64(f.Font.Size)))
	if c.anchor != start {
		fmt.Fprintf(&c.b, ` text-anchor="%s"`, c.anchor)
	}
	if c.bold {
		c.b.WriteString(` font-weight="600"`)
	}
	if c.state.m.b != 0 {
		// The canvas turns against the clock, and SVG with it.
		degrees := math.Atan2(c.state.m.b, c.state.m.a) * 180 / math.Pi
		fmt.Fprintf(&c.b, ` transform="rotate(%s %s %s)"`, px(degrees), px(x), px(y))
	}
	c.b.WriteString(">" + escaped(text) + "</text>\n")
}

// DrawImage is what no figure needs.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {
	c.err = errors.New("drawing an image as SVG: not possible")
}

func (c *svgCanvas) begin(g group) {
	name := "g"
	if g.link != "" {
		name = "a"
	}
	fmt.Fprintf(&c.b, `<%s class="%s"`, name, escaped(g.class))
	if g.link != "" {
		fmt.Fprintf(&c.b, ` href="%s"`, escaped(g.link))
	}
	for _, a := range g.data {
		fmt.Fprintf(&c.b, ` data-%s="%s"`, a.name, escaped(a.value))
	}
	c.b.WriteString(">")
	if g.title != "" {
		c.b.WriteString("<title>" + escaped(g.title) + "</title>")
	}
	c.b.WriteString("\n")
}

func (c *svgCanvas) end(g group) {
	if g.link != "" {
		c.b.WriteString("</a>\n")
		return
	}
	c.b.WriteString("</g>\n")
}

func (c *svgCanvas) hold(a anchor, bold, halo bool) bool {
	c.anchor, c.bold, c.halo = a, bold, halo
	return true
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
