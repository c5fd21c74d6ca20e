package stat

import (
	"math"
	"testing"
)

// TestMedianInterval: the ends are the values whose ranks the binomial distribution gives, as in the table of Conover for 95 %; of too few
// values there are none.
func TestMedianInterval(t *testing.T) {
	values := func(n int) (all []float64) {
		for i := range n {
			all = append(all, float64((i*7)%n+1)) // 1 to n, in no order where 7 divides no n
		}
		return all
	}
	for n, want := range map[int][2]float64{6: {1, 6}, 8: {1, 8}, 9: {2, 8}, 10: {2, 9}, 15: {4, 12}, 20: {6, 15}, 50: {18, 33}} {
		low, high, ok := MedianInterval(values(n))
		if !ok || low != want[0] || high != want[1] {
			t.Errorf("of %d values from %v to %v, %v, want %v", n, low, high, ok, want)
		}
		missed := 2 * (1 - BinomialTail(n, int(want[0]), .5)) // fewer than so many values below the median, or above it
		if missed > .05 || 2*(1-BinomialTail(n, int(want[0])+1, .5)) <= .05 {
			t.Errorf("of %d values the interval misses the median with %v", n, missed)
		}
	}
	for _, few := range [][]float64{nil, values(5), {1, 2, 3, 4, 5, math.NaN()}, {1, 2, 3, 4, 5, math.Inf(1)}} {
		if low, high, ok := MedianInterval(few); ok {
			t.Errorf("of %v from %v to %v", few, low, high)
		}
	}
}
