package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Ticks are at most so many round values within the scale, or all of its categories: which of their names there is room for, only
// who draws them knows.
func (s AxisScale) Ticks(most int) []Tick {
	switch s.axis.Scale {
	case Categories:
		ticks := make([]Tick, len(s.axis.Categories))
		for i, name := range s.axis.Categories {
			ticks[i] = Tick{float64(i), name}
		}
		return ticks
	case Time:
		return s.timeTicks(most)
	case Log:
		if ticks := s.logTicks(most); len(ticks) > 1 {
			return ticks
		}
	}
	return s.linearTicks(most)
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten, in one unit.
func (s AxisScale) linearTicks(most int) []Tick {
	name, factor := s.Unit()
	low, high := s.Low/factor, s.High/factor
	least := 0.
	if s.axis.Whole {
		least = 1
	}
	step, first, last := steps(low, high, least, max(most, 2))
	var ticks []Tick
	for n := first; n <= last; n++ {
		ticks = append(ticks, Tick{s.within(n * step * factor), withUnit(number(n*step, step), name)})
	}
	return ticks
}

// steps are round, at most so many between two values; where that leaves less than two of them, they are smaller. There are none where
// the values are too far apart for numbers, or too near for multiples of a step to be told from each other. A step is least at least.
func steps(low, high, least float64, most int) (step, first, last float64) {
	multiples := func() (first, last float64) { return math.Ceil(low/step - 1e-9), math.Floor(high/step + 1e-9) }
	step = max(roundStep((high/2-low/2)/float64(most)*2), least)
	first, last = multiples()
	const tries = 20
	for n := 0; n < tries && last-first+1 > float64(most); n++ {
		step = roundStep(step * 1.01)
		first, last = multiples()
	}
	for n := 0; n < tries && last-first < 1 && step > least; n++ { // two are more use than none, even where they are more than were asked for
		step = max(roundStep(step*.4), least)
		first, last = multiples()
	}
	const whole = 1 << 52 // up to here, every integer is a number of its own
	if !(math.Abs(first) < whole && math.Abs(last) < whole) || math.IsInf(step*first, 0) || math.IsInf(step*last, 0) {
		return 1, 1, 0
	}
	return step, first, last
}

// within is a tick that rounding may have put beyond the scale.
func (s AxisScale) within(v float64) float64 { return min(max(v, s.Low), s.High) }

// number is a multiple of a step with the digits that tell it from the next one; what is too large or small to be read so, in powers
// of ten.
func number(v, step float64) string {
	digits := -int(math.Floor(math.Log10(step) + 1e-9))
	size := math.Abs(v)
	if size < step/2 {
		return "0"
	}
	text := strconv.FormatFloat(size, 'f', max(digits, 0), 64)
	if digits > 6 || size >= 1e7 {
		text = strconv.FormatFloat(size, 'g', max(int(math.Floor(math.Log10(size)))+digits+1, 1), 64)
	}
	if v < 0 {
		return "−" + text
	}
	return text
}

// roundStep is the smallest of 1, 2 and 5 times a power of ten that is at least so large.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= v*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// logTicks are powers of ten, or of two where all values are; if that are too few, multiples of them too, and of more of these than have
// room some that are equally far apart.
func (s AxisScale) logTicks(most int) []Tick {
	base, multiples := 10., []float64{1, 2, 5}
	if s.twos {
		base, multiples = 2, nil
	}
	first := math.Ceil(math.Log(s.Low)/math.Log(base) - 1e-9)
	last := math.Floor(math.Log(s.High)/math.Log(base) + 1e-9)
	if last-first < 2 && multiples != nil {
		var ticks []Tick
		for n := first - 1; n <= last; n++ {
			for _, m := range multiples {
				if v := m * math.Pow(base, n); v >= s.Low*(1-1e-9) && v <= s.High*(1+1e-9) {
					ticks = append(ticks, s.short(v))
				}
			}
		}
		if len(ticks) <= most {
			return ticks
		}
		if first >= last {
			return each(ticks, most)
		}
	}
	stride := max(1, math.Ceil((last-first+1)/float64(max(most, 2))))
	var ticks []Tick
	for n := first; n <= last; n += stride {
		ticks = append(ticks, s.short(math.Pow(base, n)))
	}
	return ticks
}

// each is one of every few ticks, as many as have room, but two at least where there are two.
func each(ticks []Tick, most int) (some []Tick) {
	most = max(most, 2)
	for i := 0; i < len(ticks); i += (len(ticks) + most - 1) / most {
		some = append(some, ticks[i])
	}
	return some
}

// short is a tick with no more digits than it needs, in the unit that suits it.
func (s AxisScale) short(v float64) Tick {
	name, factor := unitOf(v, s.axis.Unit)
	return Tick{s.within(v), withUnit(short(v/factor), name)}
}

func short(v float64) string {
	if a := math.Abs(v); v != 0 && (a < 1e-4 || a >= 1e7) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strings.Replace(strconv.FormatFloat(rounded, 'f', -1, 64), "-", "−", 1)
}

// Unit is the unit in which people are shown the values of a scale, and how much of the stored one it is.
func (s AxisScale) Unit() (name string, factor float64) {
	return unitOf(max(math.Abs(s.Low), math.Abs(s.High)), s.axis.Unit)
}

// unitOf is the unit in which people are shown a value, and how much of the stored one it is.
func unitOf(v float64, stored string) (name string, factor float64) {
	_, name, _ = strings.Cut(schema.ForPeople(v, stored), " ")
	if _, factor, known := schema.StoredUnit(name); known {
		return name, factor
	}
	return name, 1
}

func withUnit(digits, name string) string {
	if name == "" {
		return digits
	}
	return digits + " " + name
}
