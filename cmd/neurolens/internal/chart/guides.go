package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

func (v *view) guideGroup(g Guide) group {
	data := []attribute{{"along", string(g.Along)}}
	if g.Along != Diagonal {
		data = append(data, attribute{"at", svgNumber(g.At)})
		if g.Until > g.At {
			data = append(data, attribute{"until", svgNumber(g.Until)})
		}
	}
	return group{class: "guide", title: whole(g.Text), data: data}
}

// drawGuides draws the lines of guides, and the names of all guides.
func (v *view) drawGuides() {
	line := style{ink: "guide", width: 1, dash: []vg.Length{4, 3}}
	names, _ := v.placeNames(v.part.Guides, v.x)
	for _, g := range v.part.Guides {
		if g.Until > g.At || !v.seen(g) {
			continue
		}
		v.in(v.guideGroup(g), func() {
			switch g.Along {
			case Vertical:
				top := v.top
				for _, name := range names {
					if name.guide == g {
						top = v.top - 17 - float64(name.row)*15
					}
				}
				v.line(line, point{v.px(g.At), top}, point{v.px(g.At), v.bottom})
			case Horizontal:
				v.line(line, point{v.left, v.py(g.At)}, point{v.right, v.py(g.At)})
			case Diagonal:
				v.line(line, v.diagonal()...)
			}
		})
	}
	for _, name := range names {
		y := v.top - 8 - float64(name.row)*15
		at, held := v.left+name.left, start
		if name.right < name.stem {
			at, held = v.left+name.right, end
		}
		v.text(lettering{ink: "guide", size: smallSize, anchor: held}, at, y, name.text)
	}
}

// nameAcross writes the names of guides that lie in the panel, where they lie on no mark.
func (v *view) nameAcross(taken []box) []box {
	for _, g := range v.part.Guides {
		if g.Text == "" || g.Along == Vertical || !v.seen(g) {
			continue
		}
		text := v.fit(g.Text, smallSize, v.width()*.6, false)
		w := v.pen.width(text, smallSize, false)
		var at point
		var found bool
		if g.Along == Horizontal {
			at, found = v.besideLevel(g, w, taken)
		} else {
			at, found = v.besideDiagonal(w, taken)
		}
		if found {
			v.text(lettering{ink: "guide", size: smallSize, anchor: center, halo: true}, at.x+w/2, at.y, text)
			taken = append(taken, textBox(at, w))
		}
	}
	return taken
}

// textBox is what a text covers.
func textBox(at point, width float64) box { return box{at.x, at.y - 9, at.x + width, at.y + 3} }

// besideLevel is a place for the name of a horizontal guide: on its line, at the right if possible.
func (v *view) besideLevel(g Guide, w float64, taken []box) (point, bool) {
	level := v.py(max(g.At, g.Until))
	if !(g.Until > g.At) {
		level = v.py(g.At)
	}
	first := point{v.right - 4 - w, level - 4}
	if first.y < v.top+9 {
		first.y = level + 12
	}
	for _, below := range []float64{level - 4, level + 12} {
		for x := v.right - 4 - w; x > v.left; x -= 20 {
			at := point{x, below}
			if b := textBox(at, w); b.top >= v.top-2 && b.bottom <= v.bottom && !slices.ContainsFunc(taken, b.meets) {
				return at, true
			}
		}
	}
	return first, true
}

// besideDiagonal is a place for the name of the diagonal: below its line, from the upper end on.
func (v *view) besideDiagonal(w float64, taken []box) (point, bool) {
	points := v.diagonal()
	if len(points) == 0 {
		return point{}, false
	}
	along := sampled(points)
	for _, on := range slices.Backward(along) {
		at := point{on.x + 10, on.y + 14}
		if b := textBox(at, w); b.right < v.right && b.bottom < v.bottom && b.top > v.top && !slices.ContainsFunc(taken, b.meets) {
			return at, true
		}
	}
	return point{}, false
}

// seen tells whether a guide lies in the panel.
func (v *view) seen(g Guide) bool {
	switch g.Along {
	case Vertical:
		return seenAlong(g, v.x)
	case Horizontal:
		return seenAlong(g, v.y)
	}
	return true
}

func seenAlong(g Guide, a *axis) bool {
	return a.inside(g.At) || g.Until > g.At && a.placeable(g.At) && a.placeable(g.Until) && a.share(g.At) < a.share(g.Until)
}

// diagonal is y = x, which is no straight line where one axis is logarithmic and the other is not.
func (v *view) diagonal() []point {
	low, high := max(v.x.Low, v.y.Low), min(v.x.High, v.y.High)
	if !(low < high) {
		return nil
	}
	steps := 1
	if v.x.spec.Scale != v.y.spec.Scale {
		steps = 48
	}
	var points []point
	for i := range steps + 1 {
		at := low + (high-low)*float64(i)/float64(steps)
		points = append(points, point{v.px(at), v.py(at)})
	}
	return points
}

// sampled are points along a line, so near that no text lies between two of them unseen.
func sampled(line []point) []point {
	const apart = 6
	var points []point
	for i := 1; i < len(line); i++ {
		from, to := line[i-1], line[i]
		n := int(math.Hypot(to.x-from.x, to.y-from.y)/apart) + 1
		for k := range n {
			share := float64(k) / float64(n)
			points = append(points, point{from.x + (to.x-from.x)*share, from.y + (to.y-from.y)*share})
		}
	}
	return points
}
