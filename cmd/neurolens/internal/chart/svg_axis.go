package chart

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// axis is one side of a panel: where values lie along it, its ticks, and what stands beside it.
type axis struct {
	AxisScale
	spec    Axis
	ticks   []Tick
	title   string
	ordinal []float64 // the value of each place, where places are values in order
	signed  bool      // of differences: what is more than none has a plus
	blank   bool      // there are no values
	own     bool      // of one panel alone: a title that stands for all of them does not say its unit
}

// span collects the values that an axis has to show.
type span struct{ values []float64 }

func (s *span) add(values ...float64) {
	for _, v := range values {
		if finite(v) {
			s.values = append(s.values, v)
		}
	}
}

// ends returns the smallest and the largest value.
func (s *span) ends() (low, high float64) {
	if len(s.values) == 0 {
		return math.Inf(1), math.Inf(-1)
	}
	return slices.Min(s.values), slices.Max(s.values)
}

// addNear adds a value unless it would compress the others into a small part of the axis.
func (s *span) addNear(v float64) {
	low, high := s.ends()
	if length := high/2 - low/2; v >= low-length && v <= high+length && (v > 0 || low <= 0) {
		s.add(v)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// newAxis returns the axis that shows all values of a span, with some room around them. What is not positive has no place on a logarithmic
// axis: with it, the axis is linear.
func newAxis(spec Axis, s *span) *axis {
	if spec.Scale == Categories {
		return &axis{spec: spec, AxisScale: NewAxisScale(spec, nil)}
	}
	low, high := s.ends()
	if spec.Scale == Log && (low <= 0 || spec.Low < 0) {
		spec.Scale = Linear
	}
	a := &axis{spec: spec, AxisScale: NewAxisScale(spec, s.values), blank: len(s.values) == 0}
	if low < high {
		a.room(low, high)
	}
	return a
}

// room widens the range a little, but for ends that are given.
func (a *axis) room(low, high float64) {
	const share = .04
	fixedLow, fixedHigh := a.Low < low, a.High > high
	given := a.spec.Low != 0 || a.spec.High != 0
	fixedLow = fixedLow || given && low == a.spec.Low
	fixedHigh = fixedHigh || given && high == a.spec.High
	low, high = a.Low, a.High
	if a.spec.Scale == Log {
		more := math.Pow(high/low, share)
		low, high = low/more, high*more
	} else {
		// Values that differ in the tenth digit alone lie on one another: more digits than that have no room beside an axis.
		const least = 1e-9
		more := max((high/2-low/2)*2*share, max(math.Abs(low), math.Abs(high))*least)
		low, high = low-more, high+more
	}
	if !fixedLow && finite(low) && (low > 0 || a.spec.Scale != Log) {
		a.Low = low
	}
	if !fixedHigh && finite(high) {
		a.High = high
	}
}

// newOrdinal returns an axis that gives each of the values that there are a place of the same width, in order: that of a heat map.
func newOrdinal(spec Axis, s *span) *axis {
	values := slices.Compact(slices.Sorted(slices.Values(s.values)))
	places := spec
	places.Scale, places.Categories = Categories, nil
	for _, v := range values {
		places.Categories = append(places.Categories, TickText(spec, v))
	}
	return &axis{spec: places, AxisScale: NewAxisScale(places, nil), ordinal: values}
}

// order returns where a value lies in order, on an axis of places.
func (a *axis) order(v float64) float64 {
	if a.ordinal == nil {
		return v
	}
	if i, found := slices.BinarySearch(a.ordinal, v); found {
		return float64(i)
	}
	return Unknown()
}

// share returns where a value lies between the ends, from 0 to 1. What lies beyond an end counts as that end.
func (a *axis) share(v float64) float64 {
	switch {
	case math.IsInf(v, 1):
		return 1
	case math.IsInf(v, -1):
		return 0
	}
	place, ok := a.Place(a.order(v))
	if !ok || math.IsNaN(place) {
		return 0
	}
	return min(max(place, 0), 1)
}

// placeable reports whether a value has a position on the axis, even beyond its ends.
func (a *axis) placeable(v float64) bool {
	place, ok := a.Place(a.order(v))
	return ok && (a.spec.Scale != Categories || place >= 0 && place <= 1)
}

// inside reports whether a value lies between the ends of the axis.
func (a *axis) inside(v float64) bool {
	place, ok := a.Place(a.order(v))
	return ok && place >= 0 && place <= 1
}

// divide makes the title and the ticks of an axis, at most most for numbers.
func (a *axis) divide(most int) {
	a.title = whole(a.spec.Label)
	a.ticks = nil
	if !a.blank {
		a.ticks = a.Ticks(max(most, 2))
	}
	switch {
	case a.spec.Scale == Time:
		a.name(a.days())
	case a.spec.Scale == Linear && !a.own:
		a.oneUnit()
	}
	for i, t := range a.ticks {
		if a.ordinal != nil {
			a.ticks[i].At = a.ordinal[i]
		}
		if a.signed && t.At > 0 && strings.Trim(t.Text, "0.") != "" {
			a.ticks[i].Text = "+" + t.Text
		}
	}
	a.title = a.spec.Better.after(a.title)
}

// oneUnit moves the common unit of the ticks into the title.
func (a *axis) oneUnit() {
	unit := ""
	for i, t := range a.ticks {
		_, name, _ := strings.Cut(t.Text, " ")
		if i > 0 && name != unit {
			return
		}
		unit = name
	}
	if unit == "" {
		return
	}
	for i, t := range a.ticks {
		a.ticks[i].Text, _, _ = strings.Cut(t.Text, " ")
	}
	a.name(whole(unit))
}

// name appends to the title.
func (a *axis) name(what string) {
	if a.title != "" {
		a.title += ", "
	}
	a.title += what
}

// names returns the texts of the ticks.
func (a *axis) names() []string {
	return term.Texts(a.ticks, func(t Tick) string { return t.Text })
}

// days returns the dates of ticks that show only times of day.
func (a *axis) days() string {
	clock := func(t Tick) bool { return len(t.Text) <= len("15:04:05") && strings.Contains(t.Text, ":") }
	if !slices.ContainsFunc(a.ticks, clock) {
		return "UTC"
	}
	first, last := day(a.Low), day(a.High)
	if first == last {
		return first + " UTC"
	}
	return first + " to " + last + " UTC"
}

func day(seconds float64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly) }

// each returns how long a place is on an axis of a length; of an axis that has no places, a few pixels.
func (a *axis) each(length float64) float64 {
	const few = 16
	if a.spec.Scale != Categories {
		return few
	}
	return length / (a.High - a.Low)
}

// measure finds the ranges of the axes.
func (s *figureLayout) measure() {
	f := s.figure
	ownX := f.X.Own && f.X.Scale != Categories && f.Kind != Heatmap
	ownY := f.Y.Own && f.Y.Scale != Categories && f.Kind != Heatmap
	values := &span{}
	alike := func(a Axis) func(Panel) Axis { return func(Panel) Axis { return a } }
	s.xs = s.axes(alike(f.X), ownX, func(x *span, part Panel) { s.spanX(x, part) })
	s.ys = s.axes(f.YOf, ownY, func(y *span, part Panel) { s.spanY(y, part) })
	for series, m := range f.All() {
		values.add(m.Value)
		if series.ToneOf(m) == Failed && !finite(m.Y) && f.Kind != Forest && series.Style != Cells {
			s.strip = 16
		}
	}
	s.values = newAxis(f.Values, values)
	s.values.Low, s.values.High = values.ends()
	same := f.X.Unit == f.Y.Unit && f.X.Scale == f.Y.Scale && !f.X.Own && !f.Y.Own
	if same && slices.ContainsFunc(s.parts[0].Guides, func(g Guide) bool { return g.Along == Diagonal }) {
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
	if len(s.slots) > 0 {
		for i, y := range s.ys {
			if i == 0 || y != s.ys[0] {
				y.High += .06 * max(y.High, 0) // for labels
			}
		}
	}
}

// axes returns the x or y axes of all panels.
func (s *figureLayout) axes(specOf func(Panel) Axis, own bool, gather func(*span, Panel)) []*axis {
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

// spanX adds the values of a panel along x.
func (s *figureLayout) spanX(x *span, part Panel) {
	for series, m := range part.All() {
		x.add(m.X)
		if s.figure.alongX() && hasInterval(series.Style, m) {
			x.add(m.Low, m.High)
		}
	}
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

// spanY adds the values of a panel along y.
func (s *figureLayout) spanY(y *span, part Panel) {
	for series, m := range part.All() {
		y.add(m.Y)
		if !s.figure.alongX() && hasInterval(series.Style, m) {
			y.add(m.Low, m.High)
		}
	}
	for _, g := range part.Guides {
		if g.Along == Horizontal && s.figure.Y.Scale != Time {
			y.addNear(g.At)
		}
	}
	if s.figure.Kind == ECDF && len(y.values) > 0 {
		y.add(0)
	}
}

// hasInterval reports whether a mark has an interval; both ends of a mark without one are 0.
func hasInterval(style Style, m Mark) bool {
	return style == Intervals || style == Band || m.Low != 0 || m.High != 0
}

// namesLeft returns the width of the names of ticks on the left.
func (s *figureLayout) namesLeft(room float64) float64 {
	widest, longest := 0.0, room*.42
	if len(s.parts) > 1 {
		longest = room * .3
	}
	for n, y := range s.ys {
		if n > 0 && y == s.ys[0] {
			break // the same one for all panels
		}
		s.nameTicks(y, y.names(), longest)
		for _, t := range y.ticks {
			widest = max(widest, s.width(t.Text, textSize, false))
		}
	}
	return widest + 8
}

// nameTicks shortens the names of ticks to the room they have.
func (s *figureLayout) nameTicks(a *axis, names []string, room float64) {
	for i, name := range s.names(names, textSize, room, false) {
		a.ticks[i].Text = name
	}
}

// namesRight returns the width of the texts on the right: names of lines, or labels at the ends of rows.
func (s *figureLayout) namesRight(room, left float64) float64 {
	widest := 0.0
	switch {
	case s.direct:
		for i, name := range s.names(term.Texts(s.parts[0].Series, func(s Series) string { return s.Name }), textSize, room*.25, false) {
			s.ends[s.parts[0].Series[i].Name] = name
			widest = max(widest, s.width(name, textSize, false))
		}
		widest += 14
	case s.figure.Kind == Forest && len(s.parts) == 1:
		const least = .3 // of the room, for the intervals as they are drawn
		s.whole = true
		for _, m := range s.parts[0].All() {
			widest = max(widest, s.width(s.rowLabel(m), textSize, false)+12)
		}
		if s.whole = room-left-widest >= room*least; s.whole {
			break
		}
		widest = 0
		for _, m := range s.parts[0].All() {
			if m.Label != "" {
				widest = max(widest, s.width(s.fit(m.Label, textSize, room*.3, false), textSize, false)+12)
			}
		}
	}
	return max(widest, 12)
}

// rowLabel returns the text at the end of a row of a forest.
func (s *figureLayout) rowLabel(m Mark) string {
	if s.whole && m.Interval != "" {
		return whole(m.Label + " (" + m.Interval + ")")
	}
	return m.Label
}

// nameCategories makes the ticks of categories below: turned where they have no room side by side.
func (s *figureLayout) nameCategories(x *axis) {
	x.divide(0)
	each := s.panelWidth / max(x.High-x.Low, 1)
	// Names that are turned begin below their places, and the first one ends within the picture.
	longest := min(150, max((s.plots.left+s.inset+each/2)/math.Cos(turnedBy*math.Pi/180), 90))
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
	widest = 0
	// What they share goes before they are turned.
	s.nameTicks(x, names, longest)
	for _, t := range x.ticks {
		widest = max(widest, s.width(t.Text, textSize, false))
	}
	if widest <= each-8 {
		return
	}
	s.turned = true
	widest = 0
	// Names that are turned are as far apart as their lines are high, at least.
	const turnedApart = 15
	every := max(int(math.Ceil(turnedApart/each)), 1)
	for i := range x.ticks {
		if i%every != 0 {
			x.ticks[i].Text = ""
		}
		widest = max(widest, s.width(x.ticks[i].Text, textSize, false))
	}
	if beyond := s.width(x.ticks[0].Text, textSize, false)*math.Cos(turnedBy*math.Pi/180) - s.plots.left - s.inset - each/2; beyond > 0 {
		s.plots.left += beyond
		s.panelWidth -= beyond / float64(s.columns)
	}
	s.below = widest*math.Sin(turnedBy*math.Pi/180) + 16
}

// turnedBy is the angle of names that have no room side by side.
const turnedBy = 40

// apart reports whether the names of all ticks have room.
func (s *figureLayout) apart(x *axis) bool {
	last := math.Inf(-1)
	for _, t := range x.ticks {
		if t.Text == "" {
			continue
		}
		half := s.width(t.Text, textSize, false) / 2
		at := s.beside(x.share(t.At)*s.panelWidth, half)
		if at-half < last+8 {
			return false
		}
		last = at + half
	}
	return true
}

// beside returns the middle of a text below a panel, as near to a place as it has room: it leaves neither the picture nor the panel by more
// than half of the gap to the next one.
func (s *figureLayout) beside(at, half float64) float64 {
	left, right := s.plots.left+s.inset-2, s.size.right-s.plots.right-2
	if s.columns > 1 {
		left, right = panelGap/2+s.inset-6, panelGap/2-3
	}
	return max(min(at, s.panelWidth+right-half), half-left)
}

// thin removes names of ticks until the rest has room.
func (s *figureLayout) thin(x *axis) {
	for every := 2; !s.apart(x) && every < 100; every++ {
		for i := range x.ticks {
			if i%every != 0 {
				x.ticks[i].Text = ""
			}
		}
	}
}
