package formats

import (
	"math"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// goValue is a number in the stored unit: an integer, or a real.
type goValue struct {
	integer bool
	tick    int64
	real    float64
}

// exactInteger is up to where a float64 holds every integer.
const exactInteger = 1 << 53

var powersOf10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// goNumber reads a decimal number of a unit, or a word for what is not finite. Numbers of up to 15 digits, which is what
// go test prints, are read here: their digits and the power of ten are exact, and so is the rounding.
func goNumber(word []byte, u *goUnit) (goValue, bool) {
	var digits int64
	point, seen := 0, false
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9' && i < 16 && u.decimal:
			digits = 10*digits + int64(c-'0')
			if seen {
				point--
			}
		case c == '.' && !seen && len(word) > 1:
			seen = true
		default:
			return goAnyNumber(word, u)
		}
	}
	if digits >= exactInteger || len(word) == 0 {
		return goAnyNumber(word, u)
	}
	if !seen && u.point == 0 {
		return goValue{integer: true, tick: digits}, true
	}
	value := float64(digits)
	if point += u.point; point < 0 {
		value /= powersOf10[-point]
	} else {
		value *= powersOf10[point]
	}
	return realValue(value), true
}

// realValue is a number that may be an integer.
func realValue(value float64) goValue {
	if math.Abs(value) <= exactInteger {
		if tick := int64(value); float64(tick) == value {
			return goValue{integer: true, tick: tick}
		}
	}
	return goValue{real: value}
}

// goAnyNumber reads any number.
func goAnyNumber(word []byte, u *goUnit) (goValue, bool) {
	if !isGoNumber(word) {
		return goValue{}, false
	}
	n := foreign.Number(word)
	if u.decimal && u.point == 0 {
		if tick := n.Int64(); tick != nil {
			return goValue{integer: true, tick: *tick}, true
		}
	}
	value := n.In(u.unit)
	if value == nil {
		return goValue{}, false
	}
	return realValue(*value), true
}

// isGoNumber reports whether a word is a decimal number, or one of those that Go prints for what is not finite.
func isGoNumber(word []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(word) && word[i] >= '0' && word[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(word) && (word[i] == '-' || word[i] == '+') {
		i++
	}
	switch string(word[i:]) {
	case "Inf", "NaN":
		return true
	}
	whole := digits()
	if i < len(word) && word[i] == '.' {
		i++
		whole = digits() || whole
	}
	if !whole {
		return false
	}
	if i < len(word) && (word[i] == 'e' || word[i] == 'E') {
		i++
		if i < len(word) && (word[i] == '-' || word[i] == '+') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(word)
}

// goSeries are the samples of a metric: ticks of 1 until the first that is no integer, reals from then on.
type goSeries struct {
	ticks []int64
	reals []float64
	hint  int // how many there were in the run before
}

func (s *goSeries) add(v goValue) {
	switch {
	case s.reals == nil && v.integer:
		if s.ticks == nil {
			s.ticks = make([]int64, 0, max(s.hint, 1))
		}
		s.ticks = append(s.ticks, v.tick)
	case v.integer:
		s.reals = append(s.reals, float64(v.tick))
	default:
		if s.reals == nil {
			s.reals = make([]float64, len(s.ticks), max(s.hint, 2*len(s.ticks), 1))
			for i, t := range s.ticks {
				s.reals[i] = float64(t)
			}
			s.ticks = nil
		}
		s.reals = append(s.reals, v.real)
	}
}
