package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrderIntervalGolden: SciPy 1.17.1, binom.ppf(.025, n, p) and binom.isf(.025, n, p) + 1; and the fewest samples
// for the largest to be above a quantile with chance .975, ln(.025) / ln(p).
func TestOrderIntervalGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p            float64
		n, low, high int
	}{
		{.5, 6, 1, 6},
		{.5, 10, 2, 9},
		{.5, 20, 6, 15},
		{.5, 100, 40, 61},
		{.99, 1000, 983, 997},
		{.99, 1e6, 989805, 990196},
		{.5, 1e7, 4996901, 5003100},
		{.5, 1e9, 499969010, 500030991},
		{.99, 1e9, 989993833, 990006167},
	} {
		if low, high, ok := OrderInterval(c.n, c.p, .95); !ok || low != c.low || max(high-c.high, c.high-high) > c.n/1e9 {
			t.Errorf("quantile %g of %d: %d to %d, %v, want %d to %d", c.p, c.n, low, high, ok, c.low, c.high)
		}
	}
	for _, p := range []float64{.5, .9, .95, .99, .999} {
		least := int(math.Ceil(math.Log(.025) / math.Log(p)))
		if low, high, ok := OrderInterval(least-1, p, .95); ok {
			t.Errorf("quantile %g of %d: %d to %d", p, least-1, low, high)
		}
		if low, high, ok := OrderInterval(least, p, .95); !ok || high != least || low < 1 || low >= high {
			t.Errorf("quantile %g of %d: %d to %d, %v", p, least, low, high, ok)
		}
	}
}

// TestOrderIntervalExact: against the binomial distribution summed up, and for 1 - p from the other end.
func TestOrderIntervalExact(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 60; n++ {
		for _, p := range []float64{.1, .25, .5, .625, .9} {
			chances, chance := make([]float64, n+1), math.Pow(1-p, float64(n))
			for k := range chances {
				chances[k] = chance
				chance *= float64(n-k) / float64(k+1) * p / (1 - p)
			}
			wantLow, wantHigh := 0, n+1
			for sum := 0.; wantLow <= n && sum+chances[wantLow] <= .025; wantLow++ {
				sum += chances[wantLow]
			}
			for sum := 0.; wantHigh > 0 && sum+chances[wantHigh-1] <= .025; wantHigh-- {
				sum += chances[wantHigh-1]
			}
			low, high, ok := OrderInterval(n, p, .95)
			if ok != (wantLow >= 1 && wantHigh <= n) || ok && (low != wantLow || high != wantHigh) {
				t.Fatalf("quantile %g of %d: %d to %d, %v, want %d to %d", p, n, low, high, ok, wantLow, wantHigh)
			}
		}
	}
	low, high, _ := OrderInterval(1000, .75, .95)
	if mirrored, end, ok := OrderInterval(1000, .25, .95); !ok || mirrored != 1001-high || end != 1001-low {
		t.Errorf("%d to %d, mirrored %d to %d", low, high, mirrored, end)
	}
}

// TestOrderIntervalCoverage: of skewed samples, with few and with many.
func TestOrderIntervalCoverage(t *testing.T) {
	t.Parallel()
	const tries = 4000
	random := rand.New(rand.NewPCG(97, 98))
	for _, c := range []struct {
		n int
		p float64
	}{{10, .5}, {50, .9}, {400, .99}} {
		low, high, _ := OrderInterval(c.n, c.p, .95)
		truth, missed := -math.Log(1-c.p), 0
		for range tries {
			values := make([]float64, c.n)
			for i := range values {
				values[i] = random.ExpFloat64()
			}
			slices.Sort(values)
			if truth < values[low-1] || values[high-1] < truth {
				missed++
			}
		}
		if float64(missed) > .05*tries+4*math.Sqrt(.05*tries) {
			t.Errorf("quantile %g of %d: %d of %d missed", c.p, c.n, missed, tries)
		}
	}
}

// TestOrderIntervalOfLittle: of no samples, no quantile and no confidence there is none; of very many there is one.
func TestOrderIntervalOfLittle(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		n             int
		p, confidence float64
	}{
		{0, .5, .95},
		{-1, .5, .95},
		{1, .5, .95},
		{100, 0, .95},
		{100, 1, .95},
		{100, nan, .95},
		{100, -.5, .95},
		{100, .5, 0},
		{100, .5, 1},
		{100, .5, nan},
	} {
		if low, high, ok := OrderInterval(c.n, c.p, c.confidence); ok || low != 0 || high != 0 {
			t.Errorf("%+v: %d to %d, %v", c, low, high, ok)
		}
	}
}

// TestBinomialTail: against the chances of each number summed up, and at the ends.
func TestBinomialTail(t *testing.T) {
	t.Parallel()
	for n := range 31 {
		for _, p := range []float64{.001, .2, .5, .9} {
			chance, sum := math.Pow(p, float64(n)), 0. // of all n
			for k := n; k >= 0; k-- {
				sum += chance
				if got := BinomialTail(n, k, p); math.Abs(got-sum) > 1e-12*sum {
					t.Errorf("P(B >= %d) of %d, %g: %g, want %g", k, n, p, got, sum)
				}
				chance *= float64(k) / float64(n-k+1) * (1 - p) / p
			}
		}
	}
	for _, c := range []struct {
		n, k    int
		p, want float64
	}{{5, 1, 0, 0}, {5, 0, 0, 1}, {5, 5, 1, 1}, {5, 6, .5, 0}, {5, -1, .5, 1}, {0, 0, .5, 1}, {5, 1, -.1, math.NaN()}, {5, 1, math.NaN(), math.NaN()}} {
		if got := BinomialTail(c.n, c.k, c.p); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("P(B >= %d) of %d, %g: %g, want %g", c.k, c.n, c.p, got, c.want)
		}
	}
}
