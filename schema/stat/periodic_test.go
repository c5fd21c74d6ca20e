package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPeriodogram: white noise has a period as often as it is said to, and a sine is found in noise; drift, and runs that resemble their
// neighbours, are no period.
func TestPeriodogram(t *testing.T) {
	t.Parallel()
	const alpha = .01
	noise := func(random *rand.Rand, n int) []float64 {
		series := make([]float64, n)
		for i := range series {
			series[i] = random.NormFloat64()
		}
		return series
	}
	for _, c := range []struct {
		name        string
		change      func(random *rand.Rand, series []float64)
		least, most float64
	}{
		{"white noise", func(*rand.Rand, []float64) {}, 0, 2 * alpha},
		{"drift", func(_ *rand.Rand, s []float64) {
			for i := range s {
				s[i] += .5 * float64(i)
			}
		}, 0, 2 * alpha},
		{"neighbours", func(_ *rand.Rand, s []float64) {
			for i := range s[1:] {
				s[i+1] = .5*s[i] + math.Sqrt(.75)*s[i+1]
			}
		}, 0, 3 * alpha},
		{"a sine", func(random *rand.Rand, s []float64) {
			phase := random.Float64()
			for i := range s {
				s[i] += 3 * math.Sin(2*math.Pi*(phase+float64(i)/4))
			}
		}, .6, 1},
	} {
		for _, n := range []int{10, 12, 13, 20, 60} {
			for _, points := range []int{1, 12, 200} {
				sweeps, found := 2000/points, 0.
				for seed := range sweeps {
					random := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
					var p stat.Periodogram
					for range points {
						series := noise(random, n)
						c.change(random, series)
						p.Add(series)
					}
					if p.P() < alpha {
						found++
					}
				}
				share := found / float64(sweeps)
				if slack := 4 * math.Sqrt(alpha/float64(sweeps)); (points > 1 || n > 13) && share < c.least || share > c.most+slack {
					t.Errorf("%s, %d values, %d series: a period in %.3f", c.name, n, points, share)
				}
			}
		}
	}
	var none stat.Periodogram
	none.Add([]float64{1, 1, 1, 1})
	valuetest.Equal(t, none.P(), 1, "equal values have a period")
}
