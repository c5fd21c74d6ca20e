package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRunningMedian: medians and deviations are those of each beginning of a part, in both directions, also of equal values, whatever was
// followed before.
func TestRunningMedian(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		series := iid(random, 1+random.IntN(200), func(z float64) float64 { return math.Round(20 * z) })
		running, got := newRunningMedian(series), beginnings{}
		for range 5 {
			low := random.IntN(len(series))
			values := slices.Clone(series[low : low+1+random.IntN(len(series)-low)])
			from, step := low, 1
			if random.IntN(2) == 0 {
				from, step = low+len(values)-1, -1
				slices.Reverse(values)
			}
			running.follow(&got, from, step, len(values))
			for i := range values {
				middle := median(slices.Clone(values[:i+1]))
				var want float64
				for _, v := range values[:i+1] {
					want += math.Abs(v - middle)
				}
				if got.medians[i] != middle || math.Abs(got.deviations[i]-want) > 1e-9 {
					t.Fatalf("the first %d of %v: median %g, deviations %g, want %g and %g", i+1, values, got.medians[i], got.deviations[i], middle, want)
				}
			}
		}
	}
}

// TestShiftAtLeast: a shift is left out where its size is less than the least one, and nowhere else, whatever its values are.
func TestShiftAtLeast(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	clear, taken := 0, 0
	for i := range 3000 {
		scale := math.Pow(10, float64(i%9-4))
		step := scale * math.Abs(random.NormFloat64()) * float64(i%5)
		series := iid(random, 6+random.IntN(60), func(z float64) float64 {
			if i%3 == 0 {
				z = math.Round(z)
			}
			return scale * z * (1 + 20*float64(random.IntN(8)/7))
		})
		for k := len(series) / 2; k < len(series); k++ {
			series[k] += step
		}
		want, least := shiftIn(series), 1+6*random.Float64()
		if i%7 == 0 {
			least = want.size
		}
		got, ok := newShifts(series).in(0, len(series), least)
		if ok != (want.size >= least) || ok && got != want {
			t.Fatalf("%v: %+v, %v, want %+v, at least %g", series, got, ok, want, least)
		}
		if ok {
			taken++
		} else if got.clearlyLess(series, least) {
			clear++
		}
	}
	if taken < 500 || clear < 500 {
		t.Errorf("%d are taken, and %d are clearly less", taken, clear)
	}
}

// TestNth: it is the value that sorting puts there.
func TestNth(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values := iid(random, 1+random.IntN(60), func(z float64) float64 { return math.Round(3 * z) })
		k := random.IntN(len(values))
		want := slices.Sorted(slices.Values(values))[k]
		valuetest.Equal(t, nth(slices.Clone(values), k), want, "place", k, values)
	}
}

// shiftIn returns the change of level in a whole series.
func shiftIn(series []float64) levelShift {
	shift, _ := newShifts(series).in(0, len(series), 0)
	return shift
}

// TestShiftIn: by hand. Of -1 0 1 | 9 10 11 10 the residuals are 1, 0, 1, 1, 0, 1, 0: a variance of 2/2 before and 2/3 after. Of 0 0 0 0 |
// 1 1 1 0 the means count, and the standard error is that of both sides in one case and that of each side in the other.
func TestShiftIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		at     int
		size   float64
	}{
		{[]float64{-1, 0, 1, 9, 10, 11, 10}, 3, 10 / math.Sqrt(1.25*(1./3+2./3/4))},
		{[]float64{0, 0, 0, 1, 1, 1, 1}, 3, math.Inf(1)},
		{[]float64{0, 0, 0, 0, 1, 1, 1, 0}, 4, .75 / math.Sqrt(1.25*.75/3/4)},
		{[]float64{2, 2, 2, 2, 2, 2}, 3, 0},
	} {
		if got := shiftIn(c.values); got.at != c.at || math.Abs(got.size-c.size) > 1e-12 && got.size != c.size {
			t.Errorf("%v: %+v, want %g at %d", c.values, got, c.size, c.at)
		}
	}
	// A value that is far off does not hide the change, nor make one.
	if got := shiftIn([]float64{-1, 0, 1, 0, 500, 0, 1, 90, 91, 89, 90, 90}); got.at != 7 || got.size < 50 {
		t.Errorf("an outlier hides a change: %+v", got)
	}
	if got := shiftIn([]float64{-1, 0, 1, 0, 500, 0, 1, -1, 0, 1, 0, -1}); got.size > 3 {
		t.Errorf("an outlier makes a change: %+v", got)
	}
}

// changePoints returns the steps of a series.
func changePoints(series []float64, alpha, least float64) []ChangePoint {
	return NewTrend(series).changePoints(alpha, within(least))
}

// visibleChanges returns the visible changes of a series.
func visibleChanges(series []float64, alpha, least float64) []ChangePoint {
	return NewTrend(series).VisibleChanges(alpha, within(least))
}
