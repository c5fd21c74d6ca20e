package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
// another one, no line goes through one, and none stands over a line that has no name, of which it would seem to be. Names that have no room
// are left.
func (s *sheet) placeNames(guides []Guide, x *axis) (names []placed, left []string) {
	order := byRoom(guides)
	wide := slices.DeleteFunc(slices.Clone(guides), func(g Guide) bool { return s.tooNarrow(g, x) })
	order = slices.DeleteFunc(order, func(g Guide) bool {
		return g.Along != Vertical || !seenAlong(g, x) || g.Within(wide) || s.tooNarrow(g, x)
	})
	nameless := map[int]Guide{}
	for known := -1; known < len(nameless); { // a name that has no room makes its line one of which others keep clear
		known, names, left = len(nameless), nil, nil
		for i, g := range order {
			name := placed{guide: g, text: s.fit(g.Text, smallSize, min(s.panelWidth, 180), false)}
			switch {
			case g.Text != "" && s.placeName(&name, names, nameless, x):
				names = append(names, name)
				continue
			case g.Text != "" && !g.Noted:
				left = append(left, whole(g.Text))
			}
			nameless[i] = g
		}
	}
	slices.Reverse(left)
	return names, left
}

// byRoom are guides in the order in which their names get their places: areas last, as the name of one can stand anywhere above, and before
// them those that a note says anyway.
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
func (s *sheet) tooNarrow(g Guide, x *axis) bool {
	const least = 2 // pixels
	return g.Until > g.At && (x.share(g.Until)-x.share(g.At))*s.panelWidth < least
}

// placeName finds a place for a name: at the right of its line or at the left, as low as possible.
func (s *sheet) placeName(name *placed, others []placed, nameless map[int]Guide, x *axis) bool {
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
func (s *sheet) covers(name *placed, nameless map[int]Guide, x *axis) bool {
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
func (s *sheet) nameGuides(room float64) {
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
			if !slices.Contains(left, text) {
				left = append(left, text)
			}
		}
	}
	for _, text := range narrow {
		s.notes = append(s.notes, s.lines(text, smallSize, room, false)...)
	}
	if len(left) > 0 {
		const most = 20
		text := "Unlabelled lines: " + strings.Join(left[:min(len(left), most)], "; ")
		if len(left) > most {
			text += fmt.Sprintf("; and %d more", len(left)-most)
		}
		s.notes = append(s.notes, s.lines(text+".", smallSize, room, false)...)
	}
}
