package stat

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// nullStrengths are the strongest changes of shuffles of n different values, ascending.
func nullStrengths(n, draws int) []float64 {
	random := rand.New(rand.NewPCG(2, uint64(n)))
	series := make([]float64, n)
	for i := range series {
		series[i] = float64(i)
	}
	strengths := make([]float64, draws)
	for d := range strengths {
		random.Shuffle(n, func(i, j int) { series[i], series[j] = series[j], series[i] })
		segmentation{least: trendLeast}.scan(series, func(c change) { strengths[d] = max(strengths[d], c.strength) })
	}
	slices.Sort(strengths)
	return strengths
}

// reached is the strength that, counted with the series itself, at most so large a share of draws reaches: in the
// middle between the strengths that do and those that do not, as few values have few strengths.
func reached(strengths []float64, share float64) float64 {
	draws := len(strengths)
	at := draws + 1 - int(math.Round(share*float64(draws+1))) // the first of as many as may reach it
	for at < draws && strengths[at]-strengths[at-1] < 1e-9 {
		at++
	}
	if at == draws {
		return strengths[draws-1] + 1e-4
	}
	return (strengths[at-1] + strengths[at]) / 2
}

// TestTrendThresholds draws the table again: with NEUROLENS_TORTURE=1 as often as it was drawn, which takes minutes, and
// otherwise less often, to see that the shares are right.
func TestTrendThresholds(t *testing.T) {
	t.Parallel()
	for _, row := range trendThresholds {
		if os.Getenv("NEUROLENS_TORTURE") != "" {
			strengths := nullStrengths(row.n, trendDraws)
			for i, p := range trendLevels {
				if want := reached(strengths, p); math.Abs(row.strengths[i]-want) > 1e-4 {
					t.Errorf("%d values, %g: %.4f, the table has %.4f", row.n, p, want, row.strengths[i])
				}
			}
		} else if row.n <= 100 {
			checkShares(t, row.n, 2000)
		}
	}
}

// TestTrendThresholdsBetween: the shares are right too where the table is interpolated.
func TestTrendThresholdsBetween(t *testing.T) {
	t.Parallel()
	for _, n := range []int{17, 19, 28, 45, 55, 70, 90, 115} {
		checkShares(t, n, 2000)
	}
	checkShares(t, 1500, 200)
}

// checkShares draws strengths and asks that about as many reach the table's as should. Short intervals have few
// strengths, so that it may be fewer, and of few values it may be none.
func checkShares(t *testing.T, n, draws int) {
	t.Helper()
	null := newNullStrength(n)
	strengths := nullStrengths(n, draws)
	for _, p := range []float64{.2, .1, .05, .01} {
		at, _ := slices.BinarySearch(strengths, null.reached(p))
		share := float64(draws-at) / float64(draws)
		slack := 4 * math.Sqrt(p*(1-p)/float64(draws))
		if share > p+slack || share < .7*p-slack && n >= 15 {
			t.Errorf("of shuffles of %d values %.2f %% reach what %g %% should", n, 100*share, 100*p)
		}
	}
}

// TestNullStrengthIsOneCurve: the chance of the strength that a chance asks for is that chance.
func TestNullStrengthIsOneCurve(t *testing.T) {
	t.Parallel()
	for _, n := range []int{15, 33, 100, 240, 5000} {
		null := newNullStrength(n)
		for _, p := range []float64{.2, .13, .05, .03, .01, .0042, .001, .0003, .0001} {
			if got := null.p(null.reached(p)); math.Abs(got-p) > 1e-9 {
				t.Errorf("%d values: the chance of the strength of %g is %g", n, p, got)
			}
		}
		if got := null.p(1e9); got != 1e-5 {
			t.Errorf("%d values: nothing is less likely than %g", n, got)
		}
		if got := null.p(0); got != 1 {
			t.Errorf("%d values: no change has the chance %g", n, got)
		}
	}
}
