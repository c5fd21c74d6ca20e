package chart

import (
	"math"
)

// namesLeft is how much room the names on the left need.
func (s *sheet) namesLeft(room float64) float64 {
	widest := 0.0
	for n, y := range s.ys {
		if n > 0 && y == s.ys[0] {
			break // the same one for all panels
		}
		s.nameTicks(y, y.names(), s.longestName(room))
		for _, t := range y.ticks {
			widest = max(widest, s.width(t.Text, textSize, false))
		}
	}
	return widest + 8
}

// nameTicks gives ticks names that have room.
func (s *sheet) nameTicks(a *axis, names []string, room float64) {
	for i, name := range s.names(names, textSize, room, false) {
		a.ticks[i].Text = name
	}
}

// longestName is how wide the name of a category may be.
func (s *sheet) longestName(room float64) float64 {
	if len(s.parts) > 1 {
		return room * .3
	}
	return room * .42
}

// namesRight is how much room the right side needs: for names of lines, or for what stands at the end of rows.
func (s *sheet) namesRight(room float64) float64 {
	widest := 0.0
	switch {
	case s.direct:
		for i, name := range s.names(namesOf(s.parts[0].Series), textSize, room*.25, false) {
			s.ends[s.parts[0].Series[i].Name] = name
			widest = max(widest, s.width(name, textSize, false))
		}
		widest += 14
	case s.figure.Kind == Forest && len(s.parts) == 1:
		eachMark(s.parts[0], func(_ Series, m Mark) {
			if m.Label != "" {
				widest = max(widest, s.width(s.fit(m.Label, textSize, room*.3, false), textSize, false)+12)
			}
		})
	}
	return max(widest, 12)
}

func namesOf(series []Series) []string {
	names := make([]string, len(series))
	for i := range series {
		names[i] = series[i].Name
	}
	return names
}

// nameCategories makes the ticks of categories below: turned where they have no room side by side.
func (s *sheet) nameCategories(x *axis) {
	x.divide(0)
	each := s.panelWidth / max(x.High-x.Low, 1)
	const longest = 150
	widest := 0.0
	names := x.names()
	s.nameTicks(x, names, math.Inf(1))
	for _, t := range x.ticks {
		widest = max(widest, s.width(t.Text, textSize, false))
	}
	if widest <= each-8 {
		return
	}
	if x.ordinal != nil && widest < longest/3 {
		s.thin(x) // the numbers between can be told
		return
	}
	s.turned = true
	widest = 0
	// Names that are turned are as far apart as their lines are high, at least.
	const turnedApart = 15
	every := max(int(math.Ceil(turnedApart/each)), 1)
	s.nameTicks(x, names, longest)
	for i := range x.ticks {
		if i%every != 0 {
			x.ticks[i].Text = ""
		}
		widest = max(widest, s.width(x.ticks[i].Text, textSize, false))
	}
	s.below = widest*math.Sin(turnedBy*math.Pi/180) + 16
}

// turnedBy is the angle of names that have no room side by side.
const turnedBy = 40

// apart tells whether all ticks have room for their names.
func (s *sheet) apart(x *axis) bool {
	last := math.Inf(-1)
	for _, t := range x.ticks {
		if t.Text == "" {
			continue
		}
		half := s.width(t.Text, textSize, false) / 2
		at := x.share(t.At) * s.panelWidth
		if at-half < last+8 {
			return false
		}
		last = at + half
	}
	return true
}

// thin leaves out names of ticks until the rest has room.
func (s *sheet) thin(x *axis) {
	for every := 2; !s.apart(x) && every < 100; every++ {
		for i := range x.ticks {
			if i%every != 0 {
				x.ticks[i].Text = ""
			}
		}
	}
}
