package chart

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
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

// span gathers which values are to be seen.
type span struct{ values []float64 }

func (s *span) add(values ...float64) {
	for _, v := range values {
		if finite(v) {
			s.values = append(s.values, v)
		}
	}
}

// ends are the least and the most value.
func (s *span) ends() (low, high float64) {
	if len(s.values) == 0 {
		return math.Inf(1), math.Inf(-1)
	}
	return slices.Min(s.values), slices.Max(s.values)
}

// addNear adds a value that would not make the rest small.
func (s *span) addNear(v float64) {
	low, high := s.ends()
	if length := high/2 - low/2; v >= low-length && v <= high+length && (v > 0 || low <= 0) {
		s.add(v)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// newAxis is the axis that shows all values of a span, with some room around them. What is not positive has no place on a logarithmic
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

// newOrdinal is an axis that gives each of the values that there are a place of the same width, in order: that of a heat map.
func newOrdinal(spec Axis, s *span) *axis {
	values := slices.Compact(slices.Sorted(slices.Values(s.values)))
	places := spec
	places.Scale, places.Categories = Categories, nil
	for _, v := range values {
		places.Categories = append(places.Categories, TickText(spec, v))
	}
	return &axis{spec: places, AxisScale: NewAxisScale(places, nil), ordinal: values}
}

// order is where a value lies in order, on an axis of places.
func (a *axis) order(v float64) float64 {
	if a.ordinal == nil {
		return v
	}
	if i, found := slices.BinarySearch(a.ordinal, v); found {
		return float64(i)
	}
	return Unknown()
}

// share is where a value lies between the ends, from 0 to 1. What lies beyond an end counts as that end.
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

// placeable tells whether a value has a place on the axis, be it beyond an end.
func (a *axis) placeable(v float64) bool {
	place, ok := a.Place(a.order(v))
	return ok && (a.spec.Scale != Categories || place >= 0 && place <= 1)
}

// inside tells whether a value lies between the ends.
func (a *axis) inside(v float64) bool {
	place, ok := a.Place(a.order(v))
	return ok && place >= 0 && place <= 1
}

// divide makes the ticks of an axis, at most so many where they are of numbers, and its title.
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
	switch a.spec.Better {
	case Lower:
		a.name("lower is better")
	case Higher:
		a.name("higher is better")
	}
}

// oneUnit says the unit of all ticks once, in the title.
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

// name says more behind what is measured.
func (a *axis) name(what string) {
	if a.title != "" {
		a.title += ", "
	}
	a.title += what
}

// names are the texts of the ticks.
func (a *axis) names() []string {
	names := make([]string, len(a.ticks))
	for i, t := range a.ticks {
		names[i] = t.Text
	}
	return names
}

// days says of times without a day which days they are of.
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

// quantity prints a value in the unit that suits it.
func quantity(v float64, unit string) string { return schema.ForPeople(v, unit) }

// each is how long a place is on an axis of a length; of an axis that has no places, a few pixels.
func (a *axis) each(length float64) float64 {
	const few = 16
	if a.spec.Scale != Categories {
		return few
	}
	return length / (a.High - a.Low)
}
