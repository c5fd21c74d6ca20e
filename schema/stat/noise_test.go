package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestSessionNoise(t *testing.T) {
	t.Parallel()
	// Differences 1 2 3 4 5 6, with the median 3.5.
	want := 1.4826 * 3.5 / math.Sqrt2 * 6 / 5.2
	for name, locations := range map[string][]float64{
		"as they are":   {0, 1, 3, 6, 10, 15, 21},
		"moved":         {100, 101, 103, 106, 110, 115, 121},
		"the other way": {21, 15, 10, 6, 3, 1, 0},
	} {
		if noise, ok := SessionNoise(locations); !ok || math.Abs(noise.SD-want) > 1e-4*want {
			t.Errorf("%s: %g, %v, want %g", name, noise.SD, ok, want)
		}
	}
	if noise, ok := SessionNoise(slices.Repeat([]float64{7}, 9)); !ok || noise.SD != 0 {
		t.Errorf("equal locations: %g, %v", noise.SD, ok)
	}
	for name, locations := range map[string][]float64{
		"none": nil, "six": {1, 2, 3, 4, 5, 6}, "not a number": {1, 2, 3, 4, 5, 6, math.NaN()}, "infinite": {1, 2, 3, 4, 5, 6, math.Inf(1)},
		"differences that overflow": {-1.7e308, 1.7e308, -1.7e308, 1.7e308, -1.7e308, 1.7e308, -1.7e308},
	} {
		if noise, ok := SessionNoise(locations); ok {
			t.Errorf("%s: %g", name, noise.SD)
		}
	}
}

// TestSessionNoiseHolds: of pairs of sessions between which nothing changed, about 5 % lie outside of what the noise of
// the earlier ones allows, however few those are.
func TestSessionNoiseHolds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const trials = 20_000
	for _, phi := range []float64{0, .4} {
		for _, sessions := range []int{7, 8, 10, 15, 40} {
			quantile := distuv.StudentsT{Sigma: 1, Nu: float64(sessions - 1)}.Quantile(.975)
			outside := 0
			for range trials {
				x := autoregressive(random, sessions+1, phi)
				noise, ok := SessionNoise(x[:sessions])
				if !ok {
					t.Fatal("no noise")
				}
				if math.Abs(x[sessions]-x[sessions-1]) > quantile*math.Sqrt2*noise.SD {
					outside++
				}
			}
			// Two standard errors are 0.3 %.
			if share := float64(outside) / trials; share > .0555 || share < .02 {
				t.Errorf("%d sessions, correlated by %g: %.2f %% outside", sessions, phi, 100*share)
			}
		}
	}
}

// TestSessionNoiseKnowsNoLevels: a change of level does not count as noise.
func TestSessionNoiseKnowsNoLevels(t *testing.T) {
	t.Parallel()
	locations := iid(rand.New(rand.NewPCG(3, 4)), 30, func(z float64) float64 { return .02 * z })
	before, _ := SessionNoise(locations)
	for i := range locations[15:] {
		locations[15+i] += .5
	}
	if after, _ := SessionNoise(locations); after.SD > 1.2*before.SD || len(after.Differences) != len(locations)-2 {
		t.Errorf("%g becomes %g", before.SD, after.SD)
	}
}

// TestSessionNoiseOfSpikes: a machine that is slow on some days is not as calm as on the others.
func TestSessionNoiseOfSpikes(t *testing.T) {
	t.Parallel()
	spiky := []float64{0, .01, 0, .2, 0, .01, 0, .01, .2, 0, .01, 0}
	noise, ok := SessionNoise(spiky)
	// Four of eleven differences are about .2, so that their root mean square is about .12.
	if !ok || noise.SD < .08 || noise.SD > .09 || len(noise.Differences) != len(spiky)-1 {
		t.Errorf("%+v, %v", noise, ok)
	}
}
