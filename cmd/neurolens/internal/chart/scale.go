package chart

import (
	"math"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// AxisScale is an axis with the range of values that it shows.
type AxisScale struct {
	Low, High float64 // of categories, half a place beyond the first and the last one
	axis      Axis
	twos      bool // all values are powers of two
}

// Tick is a value with its text.
type Tick struct {
	At   float64
	Text string
}

// NewAxisScale is the scale of an axis on which all of these values can be seen. Values that have no place on it are left out.
func NewAxisScale(axis Axis, values []float64) AxisScale {
	s := AxisScale{Low: math.Inf(1), High: math.Inf(-1), axis: axis, twos: axis.Unit == ""}
	if axis.Scale == Categories {
		s.Low, s.High = -.5, float64(max(len(axis.Categories), 1))-.5
		return s
	}
	seen := 0
	for _, v := range values {
		if s.has(v) {
			seen++
			s.twos = s.twos && powerOfTwo(v)
			s.Low, s.High = min(s.Low, v), max(s.High, v)
		}
	}
	if axis.Low != 0 || axis.High != 0 {
		for _, v := range []float64{axis.Low, axis.High} {
			if s.has(v) {
				s.Low, s.High = min(s.Low, v), max(s.High, v)
			}
		}
	}
	s.twos = s.twos && seen > 0 || axis.Unit == "B"
	if axis.Own && axis.Scale == Linear && seen > 0 {
		s.calm()
	}
	s.widen()
	return s
}

// calm widens a range that is small beside its values: in a panel with a range of its own what differs by nearly nothing would look as
// if it changed.
func (s *AxisScale) calm() {
	const least = .1 // of the largest value
	if more := (least*max(math.Abs(s.Low), math.Abs(s.High)) - (s.High - s.Low)) / 2; more > 0 {
		s.Low, s.High = s.Low-more, s.High+more
	}
}

// widen gives a range to a scale that has none, or one that is too small for numbers between its ends.
func (s *AxisScale) widen() {
	size := max(math.Abs(s.Low), math.Abs(s.High))
	around, least := size/20, size*1e-9
	switch {
	case s.Low > s.High && s.axis.Scale == Log:
		s.Low, s.High = 1, 10
		return
	case s.Low > s.High:
		s.Low, s.High = 0, 1
		return
	case s.axis.Scale == Time:
		around, least = 60, 1e-3
	case s.axis.Whole:
		around = .5
	case size < smallest:
		around = 1
	}
	switch {
	case s.High-s.Low > least && s.High-s.Low > smallest:
	case s.axis.Scale == Log:
		s.Low, s.High = s.Low/1.5, s.High*1.5
	default:
		s.Low, s.High = s.Low-around, s.High+around
	}
}

// What has a place on an axis: times in seconds for which there are nanoseconds, numbers with which can be reckoned.
const (
	farthest = 9e9
	largest  = 1e300
	smallest = 1e-290
)

// has tells whether a value has a place on the axis.
func (s AxisScale) has(v float64) bool {
	switch s.axis.Scale {
	case Log:
		return v >= smallest && v <= largest
	case Time:
		return math.Abs(v) < farthest
	}
	return math.Abs(v) <= largest
}

// Place is where a value lies, from 0 to 1 within the range, and false where it has no place: it is not known, infinite, or 0 or less
// on a log axis.
func (s AxisScale) Place(v float64) (float64, bool) {
	if within := s.Low <= v && v <= s.High; !within && !s.has(v) {
		return Unknown(), false
	}
	low, high := s.Low, s.High
	if s.axis.Scale == Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return (v - low) / (high - low), true
}

// Value is what lies at a place.
func (s AxisScale) Value(place float64) float64 {
	if s.axis.Scale == Log {
		return math.Exp(math.Log(s.Low) + place*(math.Log(s.High)-math.Log(s.Low)))
	}
	return s.Low + place*(s.High-s.Low)
}

// TickText writes a value of an axis for people.
func TickText(axis Axis, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case axis.Scale == Categories:
		return category(axis, v)
	case axis.Scale == Time:
		return at(v).Format(time.DateTime)
	case axis.Unit == "" && v == math.Trunc(v) && math.Abs(v) < 1e15:
		return short(v)
	}
	return schema.ForPeople(v, axis.Unit)
}

func category(axis Axis, v float64) string {
	if i := int(math.Round(v)); i >= 0 && i < len(axis.Categories) {
		return axis.Categories[i]
	}
	return ""
}

func powerOfTwo(v float64) bool {
	fraction, _ := math.Frexp(v)
	return fraction == .5
}
