package chart

import (
	"image/color"
	"math"
	"strconv"
	"testing"
)

// contrast returns how much lighter one of two colours is, as accessibility guidelines count it.
func contrast(a, b color.NRGBA) float64 {
	light := func(c color.NRGBA) float64 {
		linear := func(v uint8) float64 {
			c := float64(v) / 255
			if c <= .04045 {
				return c / 12.92
			}
			return math.Pow((c+.055)/1.055, 2.4)
		}
		return .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B)
	}
	x, y := light(a)+.05, light(b)+.05
	return max(x, y) / min(x, y)
}

// TestDarkShades: in the dark the lowest cell is no background, each shade is lighter than the one before, and values can be read on all.
func TestDarkShades(t *testing.T) {
	p := colorsOf(true)
	before := 1.5
	for i := range shades {
		shade, on := p["q"+strconv.Itoa(i)], p["onlow"]
		if i >= firstHigh {
			on = p["onhigh"]
		}
		if c := contrast(shade, p["paper"]); c <= before {
			t.Errorf("shade %d has %.2f to 1 against the background, want more than %.2f", i, c, before)
		} else {
			before = c
		}
		if c := contrast(shade, on); c < 4.5 {
			t.Errorf("a value has %.2f to 1 on shade %d", c, i)
		}
	}
}
