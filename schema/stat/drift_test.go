package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDriftGolden: p of pymannkendall 1.4.3, original_test; slope of SciPy 1.17.1, theilslopes; lag-1 autocorrelation by
// its formula in NumPy 2.4.6.
func TestDriftGolden(t *testing.T) {
	t.Parallel()
	untied := []float64{19, 22.5, 16.1, 29.3, 24.2, 20.7, 11.9, 17.4, 12.8}
	for name, c := range map[string][2]float64{
		"p with ties":     {mannKendall(drifting), 7.387225888688675e-05},
		"slope with ties": {theilSen(drifting), 0.3333333333333333},
		"p":               {mannKendall(untied), 0.2514521865080219},
		"slope":           {theilSen(untied), -1.1166666666666667},
		"lag 1":           {lag1(drifting), 0.5032835144927535},
	} {
		valuetest.Near(t, c[0], c[1], 1e-12, name)
	}
	valuetest.Equal(t, mannKendall([]float64{3, 3, 3, 3}), 1, "equal values have a trend or a correlation")
	valuetest.Equal(t, lag1([]float64{3, 3, 3, 3}), 0, "equal values have a trend or a correlation")
	rising := make([]float64, 1000)
	for i := range rising {
		rising[i] = float64(i)
	}
	valuetest.Near(t, drift(rising), 1000, 1e-9, "1000 samples that rise by 1 each drift by")
}

// TestDriftProperties: backwards a trend is the opposite, a level added to all does not matter, a scale scales it.
func TestDriftProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 22))
	for range 100 {
		slope := random.NormFloat64()
		at := 0.0
		values := iid(random, 40+random.IntN(300), func(z float64) float64 { at++; return math.Round(100*(z+slope*at)) / 128 })
		want := drift(values)
		moved, scaled, back := slices.Clone(values), slices.Clone(values), slices.Clone(values)
		for i := range values {
			moved[i] += 512
			scaled[i] *= 4
		}
		slices.Reverse(back)
		valuetest.Equal(t, drift(moved), want)
		valuetest.Equal(t, drift(scaled), 4*want, want, "times four")
		if got, whole := drift(back), len(values) <= driftBatches; whole && got != -want {
			t.Fatalf("%g backwards is %g", want, got)
		}
	}
}
