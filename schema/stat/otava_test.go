package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// otavaSeries are the series of Otava's own unit tests (apache/otava, tests/series_test.py and tests/analysis_test.py).
var (
	otavaFirst  = []float64{1.02, .95, .99, 1, 1.12, .9, .5, .51, .48, .48, .55}
	otavaSecond = []float64{2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.8, 1.76, 1.78}
)

func TestOtavaSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		series []float64
		o      otavaOptions
		want   []int
	}{
		{"first", otavaFirst, otavaDefaults, []int{6}},
		{"second", otavaSecond, otavaDefaults, []int{4}},
		{"second, at least 20 %", otavaSecond, otavaOptions{50, .001, .2}, nil},
		{"two later values", append(slices.Clone(otavaFirst), .5, .51), otavaDefaults, []int{6}},
		{"one later value", append(slices.Clone(otavaSecond), 1.97), otavaDefaults, []int{4}},
		// Of the whole series at once; Otava gives 4 too where it has the points of an earlier, shorter series to go on from.
		{"values of another kind", append(slices.Clone(otavaSecond), 1.97, 33.33, 46.46), otavaDefaults, []int{12}},
		{"all equal", slices.Repeat([]float64{3}, 200), otavaDefaults, nil},
		{"a step without noise", append(slices.Repeat([]float64{3}, 70), slices.Repeat([]float64{4}, 70)...), otavaDefaults, []int{70}},
		{"nothing", nil, otavaDefaults, nil},
		{"two values", []float64{1, 2}, otavaDefaults, nil},
		{"not a number", append(slices.Clone(otavaFirst), math.NaN()), otavaDefaults, nil},
		{"infinite", append(slices.Clone(otavaFirst), math.Inf(1)), otavaDefaults, nil},
	} {
		valuetest.DeepEqual(t, c.o.changePoints(c.series), c.want, c.name, "change points at")
	}
}

// TestOtavaEndsWhereDifferencesOverflow: the result is of no use, but there is one.
func TestOtavaEndsWhereDifferencesOverflow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	Otava(iid(random, 300, func(z float64) float64 { return math.Copysign(math.MaxFloat64, z) }))
	otavaOptions{50, .4, 0}.changePoints(iid(random, 300, func(z float64) float64 { return z * math.SmallestNonzeroFloat64 }))
}

// TestEnergySplitAsDefined: the sums that go along are those of the definition.
func TestEnergySplitAsDefined(t *testing.T) {
	t.Parallel()
	sumOf := func(values []float64) (sum float64) {
		for i, a := range values {
			for _, b := range values[i+1:] {
				sum += math.Abs(a - b)
			}
		}
		return sum
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		values := iid(random, 2+random.IntN(30), func(z float64) float64 { return z })
		wantAt, want := 0, math.Inf(-1)
		for at := 1; at < len(values); at++ {
			for end := at + 1; end <= len(values); end++ {
				x, y := values[:at], values[at:end]
				n, m := float64(len(x)), float64(len(y))
				q := 2 / (n + m) * (sumOf(values[:end]) - sumOf(x) - sumOf(y))
				if n > 1 {
					q -= 2 * m / ((n + m) * (n - 1)) * sumOf(x)
				}
				if m > 1 {
					q -= 2 * n / ((n + m) * (m - 1)) * sumOf(y)
				}
				if q > want+1e-12 {
					wantAt, want = at, q
				}
			}
		}
		if at, q := energySplit(values); at != wantAt || math.Abs(q-want) > 1e-9 {
			t.Fatalf("%g at %d, want %g at %d", q, at, want, wantAt)
		}
	}
}

// TestOtavaGoldens: what Otava's own tests expect (apache/otava, commit 1ceb153): ten settings over the series of
// TigerBeetle, and its shorter series.
func TestOtavaGoldens(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder with Otava's expected results, is not set")
	}
	type golden struct {
		Test      string    `json:"test"`
		Series    []float64 `json:"series"`
		Want      []int     `json:"expected_indexes"`
		Count     int       `json:"expected_count"`
		First     int       `json:"expected_first"`
		Window    int       `json:"window_len"`
		MaxP      float64   `json:"max_pvalue"`
		Magnitude float64   `json:"min_magnitude"`
	}
	var goldens struct {
		Series    []float64 `json:"tigerbeetle_series"`
		Cases     []golden  `json:"tigerbeetle_cases"`
		Analysis  []golden  `json:"analysis_test"`
		Others    []golden  `json:"series_test"`
		Edivisive golden    `json:"edivisive_test"`
	}
	content := valuetest.Must(os.ReadFile(filepath.Join(samples, "stats_otava", "otava_goldens.json")))
	valuetest.OK(t, json.Unmarshal(content, &goldens))
	valuetest.DeepEqual(t, []any{len(goldens.Series), len(goldens.Cases), len(goldens.Analysis), len(goldens.Others)}, []any{365, 10, 1, 4})
	for i := range goldens.Cases {
		goldens.Cases[i].Series = goldens.Series
	}
	for _, g := range slices.Concat(goldens.Cases, goldens.Analysis, goldens.Others) {
		got := otavaOptions{g.Window, g.MaxP, g.Magnitude}.changePoints(g.Series)
		switch {
		case g.Count > 0:
			if len(got) != g.Count || got[0] != g.First {
				t.Errorf("%d values: %v, want %d, the first at %d", len(g.Series), got, g.Count, g.First)
			}
		case !slices.Equal(got, g.Want):
			t.Errorf("%s %d values: %v, want %v", g.Test, len(g.Series), got, g.Want)
		}
	}
	valuetest.DeepEqual(t, divide(goldens.Edivisive.Series, .01), goldens.Edivisive.Want, "one window")
}
