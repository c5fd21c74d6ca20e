package draw

import (
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

// measure finds which values are to be seen.
func (s *sheet) measure() {
	f := s.figure
	ownX := f.X.Own && f.X.Scale != figure.Categories && f.Kind != figure.Heatmap
	ownY := f.Y.Own && f.Y.Scale != figure.Categories && f.Kind != figure.Heatmap
	values := &span{}
	alike := func(a figure.Axis) func(figure.Panel) figure.Axis { return func(figure.Panel) figure.Axis { return a } }
	s.xs = s.axes(alike(f.X), ownX, func(x *span, part figure.Panel) { s.spanX(x, part) })
	s.ys = s.axes(f.YOf, ownY, func(y *span, part figure.Panel) { s.spanY(y, part) })
	for _, part := range s.parts {
		eachMark(part, func(series figure.Series, m figure.Mark) {
			values.add(m.Value)
			if toneOf(series, m) == figure.Failed && !finite(m.Y) && f.Kind != figure.Forest && series.Style != figure.Cells {
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
func (s *sheet) axes(specOf func(figure.Panel) figure.Axis, own bool, gather func(*span, figure.Panel)) []*axis {
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
	spec := specOf(figure.Panel{})
	all := newAxis(spec, shared)
	if s.figure.Kind == figure.Heatmap && spec.Scale != figure.Categories {
		all = newOrdinal(spec, shared)
	}
	all.signed = s.figure.Kind == figure.Forest && all.spec.Scale == figure.Linear
	for i := range axes {
		axes[i] = all
	}
	return axes
}

// sameBothWays tells whether both axes are of the same, and are compared by a diagonal.
func (s *sheet) sameBothWays() bool {
	f := s.figure
	return f.X.Unit == f.Y.Unit && f.X.Scale == f.Y.Scale && !f.X.Own && !f.Y.Own &&
		slices.ContainsFunc(s.parts[0].Guides, func(g figure.Guide) bool { return g.Along == figure.Diagonal })
}

// spanX adds what is to be seen of a panel along.
func (s *sheet) spanX(x *span, part figure.Panel) {
	eachMark(part, func(series figure.Series, m figure.Mark) {
		x.add(m.X)
		if s.figure.Kind == figure.Forest && hasInterval(series.Style, m) {
			x.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		switch {
		case g.Along != figure.Vertical || s.figure.X.Scale == figure.Time:
		case s.figure.Kind == figure.Forest:
			x.add(g.At, max(g.At, g.Until))
		default:
			x.addNear(g.At)
		}
	}
}

// spanY adds what is to be seen of a panel upwards.
func (s *sheet) spanY(y *span, part figure.Panel) {
	eachMark(part, func(series figure.Series, m figure.Mark) {
		y.add(m.Y)
		if s.figure.Kind != figure.Forest && hasInterval(series.Style, m) {
			y.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		if g.Along == figure.Horizontal && s.figure.Y.Scale != figure.Time {
			y.addNear(g.At)
		}
	}
	if s.figure.Kind == figure.ECDF && len(y.values) > 0 {
		y.add(0)
	}
}

// hasInterval tells whether the ends of a mark say something: those of a mark that was made without any are both 0.
func hasInterval(style figure.Style, m figure.Mark) bool {
	return style == figure.Intervals || style == figure.Band || m.Low != 0 || m.High != 0
}

func eachMark(part figure.Panel, do func(figure.Series, figure.Mark)) {
	for _, series := range part.Series {
		for _, m := range series.Marks {
			do(series, m)
		}
	}
}
