package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPlace: against sorting, with ties and without, also of values laid out to make halves unequal.
func TestPlace(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(51, 52))
	for i := range 3000 {
		n := 1 + random.IntN(200)
		values := iid(random, n, func(z float64) float64 {
			if i%2 == 0 {
				return math.Round(z)
			}
			return z
		})
		switch i % 5 {
		case 3:
			slices.Sort(values)
		case 4: // an organ pipe
			slices.Sort(values)
			slices.Reverse(values[n/2:])
		}
		sorted := slices.Sorted(slices.Values(values))
		k := random.IntN(n)
		place(values, k)
		if values[k] != sorted[k] || k > 0 && slices.Max(values[:k]) > values[k] || slices.Min(values[k:]) < values[k] {
			t.Fatalf("place %d is %g, want %g", k, values[k], sorted[k])
		}
		slices.Sort(values)
		valuetest.DeepEqual(t, values, sorted, "values were lost")
	}
}

// TestSums: every rank of sums that are not written down, against sorting them.
func TestSums(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(53, 54))
	for i := range 200 {
		scale := math.Pow(10, float64(i%7-3))
		of := func(z float64) float64 { return scale * math.Round(z*float64(int(1)<<(i%20))) }
		a := slices.Sorted(slices.Values(iid(random, 1+random.IntN(12), of)))
		b := slices.Sorted(slices.Values(iid(random, 1+random.IntN(12), of)))
		for _, s := range []sums{{a: a, b: b}, {a: a, b: a, once: true}} {
			var all []float64
			for i, x := range s.a {
				for j, y := range s.b {
					if !s.once || i <= j {
						all = append(all, x+y)
					}
				}
			}
			slices.Sort(all)
			for k, want := range all {
				valuetest.Equal(t, s.kth(k+1), want, "the", k+1, "th of", s.a, s.b)
			}
			// The same of the same values, written down or not.
			wantEstimate(t, "estimate", s.estimate(1, .5), estimate(all, 1, .5))
		}
	}
}

// TestOrdinal: numbers in the order of the values, and back.
func TestOrdinal(t *testing.T) {
	t.Parallel()
	ascending := []float64{
		math.Inf(-1), -math.MaxFloat64, -2, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, 1, math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1),
	}
	for i, v := range ascending {
		if got := fromOrdinal(ordinal(v)); got != v || math.Signbit(got) != math.Signbit(v) {
			t.Errorf("%g comes back as %g", v, got)
		}
		if i > 0 && ordinal(ascending[i-1]) >= ordinal(v) {
			t.Errorf("%g is not before %g", ascending[i-1], v)
		}
	}
}

// TestMedian: it is the quantile .5 of the sorted values, whatever their number and however many are equal.
func TestMedian(t *testing.T) {
	t.Parallel()
	if !math.IsNaN(Median(nil)) {
		t.Error("no values have a median")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 200; n++ {
		for _, of := range []int{1, 3, 1000} {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(random.IntN(of)) / 7
			}
			want := Quantile(ordered(values), .5)
			valuetest.Equal(t, Median(values), want, n, "values")
		}
	}
}
