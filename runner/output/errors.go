package output

import (
	"fmt"
	"math"
	"slices"
)

// Tolerance defines which differences from a reference are accepted: |got - want| <= Absolute + Relative * |want|, as in numpy.isclose.
type Tolerance struct {
	Relative, Absolute float64
}

// Errors is the distance of an output from its reference.
type Errors struct {
	RMSE       float64 // the root of the mean of the squared differences
	MaxError   float64 // the largest difference
	Relative   float64 // the 2-norm of the differences, relative to the reference; 0 or infinite if the reference is zero
	Cosine     float64 // of the angle between the two; 0 if one of them is zero, and 1 if both are
	Mismatched int     // values that differ by more than the tolerance
	NotFinite  int     // number of infinite and NaN values, except where both have the same infinity
	Reference  int     // the same of the reference
}

// Compare computes the errors of an output. Equal infinities agree. NaN agrees with nothing, as in numpy.allclose. It is an error if the
// two cannot be compared.
func Compare(got, want Array, t Tolerance) (Errors, error) {
	if !slices.Equal(got.Shape, want.Shape) {
		return Errors{}, fmt.Errorf("the output has shape %v, the reference %v", got.Shape, want.Shape)
	}
	if len(got.Values) != len(want.Values) {
		return Errors{}, fmt.Errorf("the output has %d values, the reference %d", len(got.Values), len(want.Values))
	}
	if len(want.Values) == 0 {
		return Errors{}, fmt.Errorf("the output has no values")
	}
	var e Errors
	var squares, wants, gots, products sum
	for i, w := range want.Values {
		g := got.Values[i]
		if math.IsInf(g, 0) && g == w {
			continue // equal infinities: their difference is 0
		}
		d := math.Abs(g - w)
		if !finite(g) {
			e.NotFinite++
		}
		if !finite(w) {
			e.Reference++
		}
		if !finite(g) || !finite(w) || d > t.Absolute+t.Relative*math.Abs(w) {
			e.Mismatched++
		}
		if !math.IsNaN(e.MaxError) && !(d <= e.MaxError) {
			e.MaxError = d
		}
		squares.add(d * d)
	}
	for i, w := range want.Values {
		g := got.Values[i]
		if finite(g) && finite(w) {
			wants.add(w * w)
			gots.add(g * g)
			products.add(g * w)
		}
	}
	e.RMSE = math.Sqrt(squares.total() / float64(len(want.Values)))
	e.Relative = math.Sqrt(squares.total()) / math.Sqrt(wants.total())
	if squares.total() == 0 {
		e.Relative = 0
	}
	e.Cosine = cosine(products.total(), math.Sqrt(wants.total()), math.Sqrt(gots.total()))
	return e, nil
}

// cosine returns the cosine of the angle between two vectors with the given scalar product and lengths.
func cosine(product, a, b float64) float64 {
	switch {
	case a == 0 && b == 0:
		return 1
	case a == 0 || b == 0:
		return 0
	}
	return product / (a * b)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// sum adds numbers by compensated summation (Neumaier 1974, doi:10.1002/zamm.19740540106), which keeps small terms of a large total.
type sum struct{ of, lost float64 }

func (s *sum) add(v float64) {
	t := s.of + v
	if math.Abs(s.of) >= math.Abs(v) {
		s.lost += (s.of - t) + v
	} else {
		s.lost += (v - t) + s.of
	}
	s.of = t
}

func (s *sum) total() float64 {
	if !finite(s.of) {
		return s.of // the compensation of an infinite sum is NaN
	}
	return s.of + s.lost
}

// positions returns the positions of the compared values of an output, in ascending order: all or, for more than maxCompared, one in
// each of maxCompared equal sections, so that none is left out as a whole. The seed selects them. The Python worker selects the same
// ones (output.py).
func positions(size int, seed uint64) []int {
	n := min(size, maxCompared)
	places := make([]int, n)
	for i := range places {
		from, to := i*size/n, (i+1)*size/n
		places[i] = from + int(splitmix(seed+uint64(i))%uint64(to-from))
	}
	return places
}

// splitmix returns the i-th number of the generator SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
func splitmix(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
