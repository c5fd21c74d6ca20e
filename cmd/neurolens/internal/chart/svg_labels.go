package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// labelled is a position with a few words to write beside it.
type labelled struct {
	text  string
	at    point
	above bool // its only place
}

// obstacles returns the boxes of lines and marks, which texts must not cover.
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
			switch {
			case !v.x.placeable(m.X) || !v.y.placeable(m.Y) || v.figure.Kind == Heatmap:
			case series.Style == Bars:
				taken = append(taken, v.bar(series, m))
			default:
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

// atOnePlace joins the words of marks at the same position, of which only one is visible.
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

// labelPlaces are the places beside a mark that its words may have.
var labelPlaces = []struct {
	x, y float64
	held anchor
}{{8, 4, start}, {0, -8, center}, {-8, 4, end}, {0, 17, center}, {7, -6, start}, {-7, -6, end}, {7, 15, start}, {-7, 15, end}, {10, -14, start}, {-10, -14, end}}

// drawLabels writes words beside marks, where there is free space.
func (v *view) drawLabels(labels []labelled, taken []box) {
	const most = 60
	labels = atOnePlace(labels)
	for _, l := range labels[:min(len(labels), most)] {
		text := v.fit(l.text, smallSize, v.width()/2, false)
		w := v.pen.width(text, smallSize, false)
		tries := labelPlaces
		if l.above {
			tries = tries[1:2]
		}
		for _, try := range tries {
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

// before returns the share of a text that lies before its position.
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

// textBox returns what a text covers.
func textBox(at point, width float64) box { return box{at.x, at.y - 9, at.x + width, at.y + 3} }

// besideLevel returns a place for the name of a horizontal guide: on its line, at the right if possible.
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

// besideDiagonal returns a place for the name of the diagonal: below its line, from the upper end on.
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

// sampled returns points along a line, so near that no text lies between two of them unseen.
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

// placed is the name of a guide above a panel.
type placed struct {
	text  string
	left  float64 // from the left of the panel, as all of these
	right float64
	stem  float64 // where the line of the guide goes up to its name; not known of an area, which has none
	row   int
	guide Guide
}

const maxGuideRows = 3

// placeNames puts the names of vertical guides into rows above a panel, each beside the upper end of its line, so that no name lies on
// another one, no line goes through one, and none stands over a line that has no name, of which it would seem to be. Names that have no
// room are left.
func (s *figureLayout) placeNames(guides []Guide, x *axis) (names []placed, left []string) {
	order := byRoom(guides)
	wide := slices.DeleteFunc(slices.Clone(guides), func(g Guide) bool { return s.tooNarrow(g, x) })
	order = slices.DeleteFunc(order, func(g Guide) bool {
		return g.Along != Vertical || !seenAlong(g, x) || g.Within(wide) || s.tooNarrow(g, x)
	})
	nameless := map[int]Guide{}
	for known := -1; known < len(nameless); { // a name that has no room makes its line one of which others keep clear
		known, names, left = len(nameless), nil, nil
		for i, g := range order {
			placed := slices.ContainsFunc([]string{g.Text, g.Short}, func(text string) bool {
				name := placed{guide: g, text: s.fit(text, smallSize, min(s.panelWidth, 180), false)}
				if text == "" || g.Until > g.At && name.text != whole(text) || !s.placeName(&name, names, nameless, x) { // a note has all of it
					return false
				}
				names = append(names, name)
				return true
			})
			switch {
			case placed:
				continue
			case g.Text != "" && !g.Noted:
				left = append(left, x.when(g)+whole(g.Text))
			}
			nameless[i] = g
		}
	}
	slices.Reverse(left)
	return names, left
}

// when returns the date of a guide on an axis of time.
func (a *axis) when(g Guide) string {
	if a.spec.Scale != Time {
		return ""
	}
	return day(g.At) + " "
}

// byRoom returns guides in the order in which their names get their places: areas last, as the name of one can stand anywhere above, and
// before them those that a note says anyway.
func byRoom(guides []Guide) []Guide {
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	area := func(g Guide) int { return last(g.Until > g.At) }
	return slices.SortedStableFunc(slices.Values(guides), func(a, b Guide) int {
		return cmp.Or(area(a)-area(b), last(a.Noted)-last(b.Noted), cmp.Compare(middleOf(b), middleOf(a)))
	})
}

// tooNarrow tells whether an area is too narrow to be seen.
func (s *figureLayout) tooNarrow(g Guide, x *axis) bool {
	const least = 2 // pixels
	return g.Until > g.At && (x.share(g.Until)-x.share(g.At))*s.panelWidth < least
}

// placeName finds a place for a name: at the right of its line or at the left, as low as possible.
func (s *figureLayout) placeName(name *placed, others []placed, nameless map[int]Guide, x *axis) bool {
	w := s.width(name.text, smallSize, false)
	at := x.share(middleOf(name.guide)) * s.panelWidth
	name.stem = at
	tries := []float64{at + 4, at - 4 - w}
	if name.guide.Until > name.guide.At {
		name.stem = Unknown()
		tries = []float64{min(max(at-w/2, 0), max(s.panelWidth-w, 0))}
	}
	for name.row = range maxGuideRows {
		for _, name.left = range tries {
			name.right = name.left + w
			if name.left < -4 || name.right > s.panelWidth+8 {
				continue
			}
			if !slices.ContainsFunc(others, name.disturbs) && !s.covers(name, nameless, x) {
				return true
			}
		}
	}
	return false
}

// covers tells whether a name stands over the line of another guide that has no name.
func (s *figureLayout) covers(name *placed, nameless map[int]Guide, x *axis) bool {
	for _, g := range nameless {
		at := x.share(g.At) * s.panelWidth
		if !(g.Until > g.At) && g.At != name.guide.At && at > name.left-2 && at < name.right+2 {
			return true
		}
	}
	return false
}

// disturbs tells whether two names lie on one another, or the line of one goes through the other.
func (p placed) disturbs(q placed) bool {
	const gap = 8
	through := func(p, q placed) bool { return p.row >= q.row && p.stem > q.left-2 && p.stem < q.right+2 }
	return p.row == q.row && p.left < q.right+gap && q.left < p.right+gap || through(p, q) || through(q, p)
}

func middleOf(g Guide) float64 {
	if g.Until > g.At {
		return g.At/2 + g.Until/2
	}
	return g.At
}

// nameGuides counts the lines of names above the panels. Names that have no room there are listed below.
func (s *figureLayout) nameGuides(room float64) {
	var left, narrow []string
	for i, part := range s.parts {
		for _, g := range part.Guides {
			if text := g.Text + " (too narrow to show)"; g.Along == Vertical && g.Text != "" && s.tooNarrow(g, s.xs[i]) && !slices.Contains(narrow, text) {
				narrow = append(narrow, text)
			}
		}
		names, more := s.placeNames(part.Guides, s.xs[i])
		for _, name := range names {
			s.guideRows = max(s.guideRows, name.row+1)
		}
		for _, text := range more {
			area := slices.ContainsFunc(part.Guides, func(g Guide) bool { return g.Until > g.At && whole(g.Text) == text })
			switch shaded := "shaded: " + text; {
			case area && !slices.Contains(narrow, shaded):
				narrow = append(narrow, shaded)
			case !area && !slices.Contains(left, text):
				left = append(left, text)
			}
		}
	}
	for _, text := range narrow {
		s.notes = append(s.notes, s.lines(text, smallSize, room, false)...)
	}
	if len(left) > 0 {
		const most = 20
		text := "vertical lines that have no room for a label: " + strings.Join(left[:min(len(left), most)], "; ")
		if len(left) > most {
			text += fmt.Sprintf("; and %d more", len(left)-most)
		}
		s.notes = append(s.notes, s.lines(text, smallSize, room, false)...)
	}
}
