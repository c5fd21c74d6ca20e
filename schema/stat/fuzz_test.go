package stat

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// FuzzShift: any values have an ordered interval, the same as with the sides swapped.
func FuzzShift(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(4), .95)
	f.Add(make([]byte, 500), uint8(90), .9)
	f.Fuzz(func(t *testing.T, bytes []byte, cut uint8, confidence float64) {
		values := reals(bytes)
		at := min(int(cut), len(values))
		e, back := Shift(values[:at], values[at:], confidence), turned(Shift(values[at:], values[:at], confidence))
		paired := PairedShift(values, confidence)
		if !math.IsNaN(e.Value) && e != back {
			t.Errorf("%+v, swapped %+v", e, back)
		}
		for _, e := range []Estimate{e, paired} {
			if e.Low > e.Value || e.Value > e.High || e.Confidence > 0 && e.Confidence < confidence*(1-1e-9) || e.Confidence > 1 {
				t.Errorf("%+v for %g", e, confidence)
			}
		}
	})
}

// reals makes values of bytes: mostly few distinct ones, some that are large, tiny or no numbers.
func reals(bytes []byte) []float64 {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, math.Copysign(0, -1)}
	values := make([]float64, len(bytes))
	for i, b := range bytes {
		if values[i] = float64(b) / 8; int(b) >= 256-len(odd) {
			values[i] = odd[256-1-int(b)]
		}
	}
	return values
}

// FuzzMannWhitney: any values have a p, or none at all.
func FuzzMannWhitney(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(4))
	f.Add([]byte{1, 1, 1, 255, 254, 253, 2, 2}, uint8(3))
	f.Fuzz(func(t *testing.T, bytes []byte, cut uint8) {
		values := reals(bytes)
		at := min(int(cut), len(values))
		u, p := MannWhitney(values[:at], values[at:])
		valuetest.Equal(t, math.IsNaN(u), slices.ContainsFunc(values, math.IsNaN), "u", u, "p", p)
		valuetest.Equal(t, math.IsNaN(p), math.IsNaN(u), "u", u, "p", p)
		if u < 0 || u > float64(at*(len(values)-at)) || p < 0 || p > 1 {
			t.Errorf("u %g, p %g", u, p)
		}
	})
}
