package stat

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// shapesOfSamples are ways in which samples may be spread, from whole numbers close together to all floating-point values.
var shapesOfSamples = map[string]func(random *rand.Rand) float64{
	"ticks":       func(random *rand.Rand) float64 { return math.Floor(1.4e6 * math.Exp(.02*random.NormFloat64())) },
	"few ticks":   func(random *rand.Rand) float64 { return float64(100 + random.IntN(7)) },
	"half ticks":  func(random *rand.Rand) float64 { return float64(random.IntN(1_000_000)) * .5 },
	"tenths":      func(random *rand.Rand) float64 { return float64(random.IntN(1_000_000)) * .1 },
	"reals":       func(random *rand.Rand) float64 { return 1000 * math.Exp(.05*random.NormFloat64()) },
	"wide":        func(random *rand.Rand) float64 { return math.Exp(100 * random.NormFloat64()) },
	"of any sign": func(random *rand.Rand) float64 { return random.NormFloat64() },
	"with zeros":  func(random *rand.Rand) float64 { return float64(random.IntN(3) - 1) },
	"both zeros":  func(random *rand.Rand) float64 { return math.Copysign(float64(random.IntN(2)), random.Float64()-.5) },
	"zeros first": func(random *rand.Rand) float64 { return []float64{0, math.Copysign(0, -1), 5}[random.IntN(3)] },
	"equal":       func(*rand.Rand) float64 { return 12 << 20 },
	"extreme": func(random *rand.Rand) float64 {
		return []float64{-math.MaxFloat64, math.MaxFloat64, math.SmallestNonzeroFloat64, -1, 0, 1}[random.IntN(6)]
	},
	"any bits": func(random *rand.Rand) float64 {
		for {
			if v := math.Float64frombits(random.Uint64()); !notFinite(v) {
				return v
			}
		}
	},
}

// TestSummaryBits: every field of a summary is to the last bit what its definition gives: samples sorted by comparing them,
// deviations written down.
func TestSummaryBits(t *testing.T) {
	t.Parallel()
	for name, one := range shapesOfSamples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				values := make([]float64, 1+random.IntN(1500))
				for i := range values {
					values[i] = one(random)
				}
				valuetest.Equal(t, bitsOf(Summarize(values)), bitsOf(plainSummary(values)), len(values), "samples")
			}
		})
	}
}

// plainSummary is Summarize as it is defined.
func plainSummary(values []float64) schema.Summary {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	s := schema.Summary{N: new(int64(len(values))), Version: new(int64(summaryVersion)), First: &values[0], Min: &sorted[0], Max: &sorted[len(sorted)-1]}
	mean, deviation := moments(sorted)
	s.Mean = finite(mean)
	if len(sorted) > 1 {
		s.StdDev = finite(deviation)
	}
	for p, field := range map[float64]**float64{.25: &s.P25, .5: &s.P50, .75: &s.P75, .9: &s.P90, .95: &s.P95, .99: &s.P99} {
		*field = finite(Quantile(sorted, p))
	}
	if s.P50 != nil {
		s.MAD = finite(plainDeviation(sorted, *s.P50))
	}
	if sorted[0] > 0 {
		s.LogMedian = new(logMedian(sorted))
	}
	if index, ok := steadyStart(values); ok {
		s.SteadyIndex = new(int64(index))
	}
	return s
}

// plainDeviation returns the median absolute deviation from a median, with all deviations sorted.
func plainDeviation(values []float64, median float64) float64 {
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = math.Abs(v - median)
	}
	slices.Sort(deviations)
	return Quantile(deviations, .5)
}

// bitsOf returns the bits of the fields of a summary, as text.
func bitsOf(s schema.Summary) string {
	text := fmt.Sprint(*s.N, *s.Version)
	if s.SteadyIndex != nil {
		text += fmt.Sprint(" steady ", *s.SteadyIndex)
	}
	for _, v := range []*float64{s.First, s.Min, s.Max, s.Mean, s.StdDev, s.P25, s.P50, s.P75, s.P90, s.P95, s.P99, s.MAD, s.LogMedian} {
		if v == nil {
			text += " nil"
			continue
		}
		text += fmt.Sprintf(" %x", math.Float64bits(*v))
	}
	return text
}

// TestPlacesByValue: the places of a series are in the order of its values.
func TestPlacesByValue(t *testing.T) {
	t.Parallel()
	for name, one := range shapesOfSamples {
		random := rand.New(rand.NewPCG(5, 6))
		for range 300 {
			series := make([]float64, 1+random.IntN(400))
			for i := range series {
				series[i] = one(random)
			}
			places := placesByValue(series)
			if !slices.IsSortedFunc(places, func(a, b int) int { return cmp.Compare(series[a], series[b]) }) {
				t.Fatalf("%s: the values at %v are not in order", name, places)
			}
			slices.Sort(places)
			for i, place := range places {
				valuetest.Equal(t, place, i, name, "place", len(series))
			}
		}
	}
}

// TestOrderedWithoutNumbers: values that are not numbers are first, as slices.Sort has them.
func TestOrderedWithoutNumbers(t *testing.T) {
	t.Parallel()
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i * 7919 % 1000)
	}
	values[500], values[600] = math.NaN(), math.Inf(-1)
	if got := ordered(values); !math.IsNaN(got[0]) || got[1] != math.Inf(-1) || !slices.IsSorted(got) {
		t.Errorf("ordered as %v", got[:5])
	}
}

// finite is nil of a value that is NaN or infinite.
func finite(v float64) *float64 {
	if notFinite(v) {
		return nil
	}
	return &v
}
