package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// labelled is a mark with a few words beside it.
type labelled struct {
	text string
	at   point
}

// obstacles are what texts in the panel must not lie on.
func (v *view) obstacles() []box {
	var taken []box
	around := func(at point, r float64) { taken = append(taken, box{at.x - r, at.y - r, at.x + r, at.y + r}) }
	for _, series := range v.part.Series {
		if series.Style == Line || series.Style == Steps {
			for _, piece := range v.pieces(series) {
				for _, at := range sampled(piece) {
					around(at, 1)
				}
			}
		}
		for _, m := range series.Marks {
			if v.x.placeable(m.X) && v.y.placeable(m.Y) && v.figure.Kind != Heatmap {
				around(point{v.px(m.X), v.py(m.Y)}, 4)
			}
		}
	}
	for _, g := range v.part.Guides {
		if g.Along == Diagonal {
			for _, at := range sampled(v.diagonal()) {
				around(at, 1)
			}
		}
	}
	return taken
}

// atOnePlace joins the words of marks that lie on one another: only one mark is seen, and it stands for all of them.
func atOnePlace(labels []labelled) (joined []labelled) {
	at := map[point]int{}
	seen := map[labelled]bool{}
	for _, l := range labels {
		place, known := at[l.at]
		switch {
		case seen[l]:
		case known:
			joined[place].text += ", " + l.text
		default:
			at[l.at] = len(joined)
			joined = append(joined, l)
		}
		seen[l] = true
	}
	return joined
}

// drawLabels writes words beside marks, where they lie on nothing.
func (v *view) drawLabels(labels []labelled, taken []box) {
	const most = 60
	labels = atOnePlace(labels)
	for _, l := range labels[:min(len(labels), most)] {
		text := v.fit(l.text, smallSize, v.width()/3, false)
		w := v.pen.width(text, smallSize, false)
		for _, try := range []struct {
			x, y float64
			held anchor
		}{{8, 4, start}, {0, -8, center}, {-8, 4, end}, {0, 17, center}, {7, -6, start}, {-7, -6, end}, {7, 15, start}, {-7, 15, end}} {
			at := point{l.at.x + try.x, l.at.y + try.y}
			b := textBox(point{at.x - w*try.held.before(), at.y}, w)
			if b.left < v.left || b.right > v.right || b.top < v.top-2 || b.bottom > v.bottom || slices.ContainsFunc(taken, b.meets) {
				continue
			}
			taken = append(taken, b)
			v.text(lettering{ink: "text", size: smallSize, anchor: try.held, halo: true}, at.x, at.y, text)
			break
		}
	}
}

// before is which share of a text lies before its place.
func (a anchor) before() float64 {
	switch a {
	case center:
		return .5
	case end:
		return 1
	}
	return 0
}

func (b box) meets(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

// nameEnds writes the names of lines beside their ends, as far apart as texts are high.
func (v *view) nameEnds() {
	type name struct {
		text     string
		look     look
		x, y, at float64
	}
	var names []name
	for place, series := range v.part.Series {
		for _, m := range slices.Backward(series.Marks) {
			if !v.x.placeable(m.X) || !v.y.placeable(m.Y) {
				continue
			}
			y := v.py(m.Y)
			names = append(names, name{series.Name, v.look(series, place-tonedBefore(v.part.Series[:place])), v.px(m.X), y, y})
			break
		}
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	const apart = 14.0
	for range 50 {
		for i := 1; i < len(names); i++ {
			if d := names[i].at - names[i-1].at; d < apart {
				names[i-1].at -= (apart - d) / 2
				names[i].at += (apart - d) / 2
			}
		}
	}
	room := v.size.right - edge - v.right - 10
	for _, n := range names {
		const near = 48 // a line from farther away would look like values
		switch {
		case n.x < v.right-near:
			v.shape(n.look.shape, n.look.ink, v.right+4, n.at, 3)
		case math.Abs(n.at-n.y) > 2 || n.x < v.right-2:
			v.line(style{ink: "guide", width: .75, dash: []vg.Length{1, 3}}, point{n.x + 5, n.y}, point{v.right + 6, n.at})
		}
		v.text(lettering{ink: n.look.ink, size: textSize}, v.right+10, n.at+4, v.fit(strings.TrimSpace(v.ends[n.text]), textSize, room, false))
	}
}
