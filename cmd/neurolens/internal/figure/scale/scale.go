// Package scale says where values lie along an axis of a figure, at which of them it has ticks, and how they are written for people.
// Every renderer that places marks itself uses it, so that a picture in a file and one in a terminal have the same ticks.
package scale

import (
	"math"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/schema"
)

// Scale is an axis with the range of values that it shows.
type Scale struct {
	Low, High float64 // of categories, half a place beyond the first and the last one
	axis      figure.Axis
	twos      bool // all values are powers of two
}

// Tick is a value with its text.
type Tick struct {
	At   float64
	Text string
}

// New is the scale of an axis on which all of these values can be seen. Values that have no place on it are left out.
func New(axis figure.Axis, values []float64) Scale {
	s := Scale{Low: math.Inf(1), High: math.Inf(-1), axis: axis, twos: axis.Unit == ""}
	if axis.Scale == figure.Categories {
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
	s.widen()
	return s
}

// widen gives a range to a scale that has none, or a single value.
func (s *Scale) widen() {
	switch {
	case s.Low > s.High && s.axis.Scale == figure.Log:
		s.Low, s.High = 1, 10
	case s.Low > s.High:
		s.Low, s.High = 0, 1
	case s.Low < s.High:
	case s.axis.Scale == figure.Log:
		s.Low, s.High = s.Low/1.5, s.High*1.5
	case s.axis.Scale == figure.Time:
		s.Low, s.High = s.Low-60, s.High+60
	case s.Low == 0:
		s.Low, s.High = -1, 1
	default:
		around := math.Abs(s.Low) / 20
		s.Low, s.High = s.Low-around, s.High+around
	}
}

// farthest is how many seconds from 1970 a time may be that has a place: what nanoseconds can be counted for.
const farthest = 9e9

// has tells whether a value has a place on the axis.
func (s Scale) has(v float64) bool {
	switch s.axis.Scale {
	case figure.Log:
		return v > 0 && v <= math.MaxFloat64
	case figure.Time:
		return math.Abs(v) < farthest
	}
	return math.Abs(v) <= math.MaxFloat64
}

// Place is where a value lies, from 0 to 1 within the range, and false where it has no place: it is not known, infinite, or 0 or less on a log axis.
func (s Scale) Place(v float64) (float64, bool) {
	if !s.has(v) {
		return figure.Unknown(), false
	}
	if s.axis.Scale == figure.Log {
		low := math.Log(s.Low) // of each: their ratio may be more than any number
		return (math.Log(v) - low) / (math.Log(s.High) - low), true
	}
	if length := s.High - s.Low; !math.IsInf(length, 0) {
		return (v - s.Low) / length, true
	}
	return (v/2 - s.Low/2) / (s.High/2 - s.Low/2), true
}

// Text writes a value of an axis for people.
func Text(axis figure.Axis, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case axis.Scale == figure.Categories:
		return category(axis, v)
	case axis.Scale == figure.Time:
		return at(v).Format(time.DateTime)
	case axis.Unit == "" && v == math.Trunc(v) && math.Abs(v) < 1e15:
		return short(v)
	}
	return schema.ForPeople(v, axis.Unit)
}

func category(axis figure.Axis, v float64) string {
	if i := int(math.Round(v)); i >= 0 && i < len(axis.Categories) {
		return axis.Categories[i]
	}
	return ""
}

func powerOfTwo(v float64) bool {
	fraction, _ := math.Frexp(v)
	return fraction == .5
}
