package chart

import (
	"cmp"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// canvas is a rectangle of cells. Each has dots (eight in braille, one in ASCII), and may have a character instead, above or below
// them.
type canvas struct {
	textPen
	columns, rows int
	cells         []cell
}

type cell struct {
	dots         byte // bits of braille
	dot          rune // what dots are in ASCII
	above, below rune
	color        string // of what is seen
}

// bits are the dots of braille, by row and column within a cell.
var bits = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (p textPen) canvas(columns, rows int) *canvas {
	return &canvas{textPen: p, columns: columns, rows: rows, cells: make([]cell, columns*rows)}
}

// dotsIn returns how many dots a cell has beside and above one another.
func (c *canvas) dotsIn() (across, up int) {
	if c.ASCII {
		return 1, 1
	}
	return 2, 4
}

func (c *canvas) at(column, row int) *cell { return &c.cells[row*c.columns+column] }

// dot sets a dot, counted from the left and from the top.
func (c *canvas) dot(x, y int, ink textStyle) {
	across, up := c.dotsIn()
	if x < 0 || y < 0 || x >= c.columns*across || y >= c.rows*up {
		return
	}
	at := c.at(x/across, y/up)
	at.dots |= bits[y%up][x%across]
	at.dot, at.color = ink.ascii, ink.color
}

// line sets the dots between two dots, by Bresenham's algorithm.
func (c *canvas) line(x, y, toX, toY int, ink textStyle) {
	dx, dy := abs(toX-x), -abs(toY-y)
	stepX, stepY := cmp.Compare(toX, x), cmp.Compare(toY, y)
	for off := dx + dy; ; {
		c.dot(x, y, ink)
		if x == toX && y == toY {
			return
		}
		twice := 2 * off
		if twice >= dy {
			off += dy
			x += stepX
		}
		if twice <= dx {
			off += dx
			y += stepY
		}
	}
}

// behind puts a character into a cell that nothing else is in.
func (c *canvas) behind(column, row int, r rune) {
	if column >= 0 && column < c.columns && row >= 0 && row < c.rows {
		c.at(column, row).below = r
	}
}

// lines returns the rows of the canvas, without spaces at their ends.
func (c *canvas) lines() []string {
	lines := make([]string, c.rows)
	for row := range lines {
		var b strings.Builder
		color := ""
		for column := range c.columns {
			r, own := c.at(column, row).seen(c.ASCII)
			if !c.color {
				own = ""
			}
			if own != color {
				if color != "" {
					b.WriteString(term.Plain)
				}
				b.WriteString(own)
				color = own
			}
			b.WriteRune(r)
		}
		if color != "" {
			b.WriteString(term.Plain)
		}
		lines[row] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// seen returns the character of a cell, with its colour.
func (c cell) seen(ascii bool) (r rune, color string) {
	switch {
	case c.above != 0:
		return c.above, c.color
	case c.dots != 0 && ascii:
		return c.dot, c.color
	case c.dots != 0:
		return 0x2800 + rune(c.dots), c.color
	case c.below != 0:
		return c.below, faint
	}
	return ' ', ""
}

func abs(n int) int { return max(n, -n) }
