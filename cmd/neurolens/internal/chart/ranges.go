package chart

import (
	"slices"
)

// measure finds which values are to be seen.
func (s *sheet) measure() {
	f := s.figure
	ownX := f.X.Own && f.X.Scale != Categories && f.Kind != Heatmap
	ownY := f.Y.Own && f.Y.Scale != Categories && f.Kind != Heatmap
	values := &span{}
	alike := func(a Axis) func(Panel) Axis { return func(Panel) Axis { return a } }
	s.xs = s.axes(alike(f.X), ownX, func(x *span, part Panel) { s.spanX(x, part) })
	s.ys = s.axes(f.YOf, ownY, func(y *span, part Panel) { s.spanY(y, part) })
	for _, part := range s.parts {
		eachMark(part, func(series Series, m Mark) {
			values.add(m.Value)
			if toneOf(series, m) == Failed && !finite(m.Y) && f.Kind != Forest && series.Style != Cells {
				s.strip = 16
			}
		})
	}
	s.values = newAxis(f.Values, values)
	s.values.Low, s.values.High = values.ends()
	if s.sameBothWays() {
		both := &span{}
		for _, part := range s.parts {
			s.spanX(both, part)
			s.spanY(both, part)
		}
		x, y := newAxis(f.X, both), newAxis(f.Y, both)
		for i := range s.parts {
			s.xs[i], s.ys[i] = x, y
		}
	}
}

// axes are those of all panels along one side.
func (s *sheet) axes(specOf func(Panel) Axis, own bool, gather func(*span, Panel)) []*axis {
	axes := make([]*axis, len(s.parts))
	shared := &span{}
	for i, part := range s.parts {
		each := shared
		if own {
			each = &span{}
		}
		gather(each, part)
		if own {
			axes[i] = newAxis(specOf(part), each)
			axes[i].own = true
		}
	}
	if own {
		return axes
	}
	spec := specOf(Panel{})
	all := newAxis(spec, shared)
	if s.figure.Kind == Heatmap && spec.Scale != Categories {
		all = newOrdinal(spec, shared)
	}
	all.signed = s.figure.Kind == Forest && all.spec.Scale == Linear
	for i := range axes {
		axes[i] = all
	}
	return axes
}

// sameBothWays tells whether both axes are of the same, and are compared by a diagonal.
func (s *sheet) sameBothWays() bool {
	f := s.figure
	return f.X.Unit == f.Y.Unit && f.X.Scale == f.Y.Scale && !f.X.Own && !f.Y.Own &&
		slices.ContainsFunc(s.parts[0].Guides, func(g Guide) bool { return g.Along == Diagonal })
}

// spanX adds what is to be seen of a panel along.
func (s *sheet) spanX(x *span, part Panel) {
	eachMark(part, func(series Series, m Mark) {
		x.add(m.X)
		if s.figure.Kind == Forest && hasInterval(series.Style, m) {
			x.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		switch {
		case g.Along != Vertical || s.figure.X.Scale == Time:
		case s.figure.Kind == Forest:
			x.add(g.At, max(g.At, g.Until))
		default:
			x.addNear(g.At)
		}
	}
}

// spanY adds what is to be seen of a panel upwards.
func (s *sheet) spanY(y *span, part Panel) {
	eachMark(part, func(series Series, m Mark) {
		y.add(m.Y)
		if s.figure.Kind != Forest && hasInterval(series.Style, m) {
			y.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		if g.Along == Horizontal && s.figure.Y.Scale != Time {
			y.addNear(g.At)
		}
	}
	if s.figure.Kind == ECDF && len(y.values) > 0 {
		y.add(0)
	}
}

// hasInterval tells whether the ends of a mark say something: those of a mark that was made without any are both 0.
func hasInterval(style Style, m Mark) bool {
	return style == Intervals || style == Band || m.Low != 0 || m.High != 0
}

func eachMark(part Panel, do func(Series, Mark)) {
	for _, series := range part.Series {
		for _, m := range series.Marks {
			do(series, m)
		}
	}
}
