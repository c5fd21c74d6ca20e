package stat

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// warmingUp has its levels at 0, 21 and 48; that from 12 on is too short to be told from its neighbours.
var warmingUp = []float64{
	128, 126, 129, 131, 133, 130, 128, 128, 132, 135, 131, 126, 112, 120, 116, 110, 115, 112, 113, 114,
	113, 102, 100, 98, 101, 102, 95, 99, 97, 99, 96, 100, 100, 99, 97, 99, 97, 96, 101, 97,
	104, 102, 94, 101, 97, 100, 100, 94, 109, 109, 113, 106, 112, 107, 109, 107, 114, 112, 117, 112,
}

// moving has five levels, of which that from 80 on is too near to the one before.
var moving = []float64{
	128, 110, 122, 118, 118, 119, 112, 119, 117, 133, 121, 119, 119, 117, 116, 118, 122, 119, 116, 111,
	112, 118, 114, 110, 111, 114, 120, 111, 111, 116, 108, 111, 116, 114, 112, 115, 101, 116, 108, 105,
	101, 103, 98, 96, 100, 100, 106, 103, 101, 104, 99, 96, 102, 102, 99, 97, 101, 90, 103, 102,
	93, 100, 96, 103, 92, 102, 109, 111, 97, 104, 107, 104, 112, 101, 107, 102, 112, 106, 105, 99,
	108, 104, 104, 106, 102, 98, 98, 98, 106, 95, 99, 100, 102, 103, 96, 94, 101, 106, 104, 102,
}

// TestNormalScoresGolden: SciPy 1.17.1, norm.ppf(arange(1, 6)/6).
func TestNormalScoresGolden(t *testing.T) {
	t.Parallel()
	want := []float64{-0.967421566101701, -0.43072729929545756, 0, 0.43072729929545744, 0.967421566101701}
	for i, got := range normalScores(5) {
		valuetest.Near(t, got, want[i], 1e-12, "score", i+1)
	}
}

// TestChangesGolden: the same definitions written with NumPy 2.4.6 and SciPy 1.17.1, without the short cuts taken here.
func TestChangesGolden(t *testing.T) {
	t.Parallel()
	var whole change
	scan(warmingUp, func(c change) {
		if c.high-c.low == len(warmingUp) {
			whole = c
		}
	})
	if whole.at != 21 || math.Abs(whole.strength-5.7685276647865695) > 1e-10 {
		t.Errorf("the strongest change is of %.16g at %d, want 5.7685276647865695 at 21", whole.strength, whole.at)
	}
	valuetest.DeepEqual(t, changes(warmingUp, threshold(60)), []int{21, 48}, "changes at")
	valuetest.DeepEqual(t, changes(moving, threshold(100)), []int{18, 36, 66}, "changes at")
}

// TestChangesKnowRanksOnly: nothing but the order of values counts.
func TestChangesKnowRanksOnly(t *testing.T) {
	t.Parallel()
	cubed := slices.Clone(warmingUp)
	for i, v := range cubed {
		cubed[i] = v * v * v
	}
	valuetest.DeepEqual(t, changes(cubed, threshold(60)), []int{21, 48}, "changes of the cubes at")
	valuetest.Equal(t, strongestOf(slices.Repeat([]float64{7}, 50)), 0, "equal values change by")
}

func TestSteady(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	// series has one level after another, each of so many samples, with noise of 1 %.
	series := func(levels ...float64) []float64 {
		var values []float64
		for i := 0; i < len(levels); i += 2 {
			values = append(values, iid(random, int(levels[i+1]), func(z float64) float64 { return levels[i] * (1 + .01*z) })...)
		}
		return values
	}
	for _, c := range []struct {
		name   string
		values []float64
		index  int
		ok     bool
	}{
		{"steady from the start", series(100, 100), 0, true},
		{"all equal", slices.Repeat([]float64{5}, 40), 0, true},
		{"all zero", make([]float64, 40), 0, true},
		{"slow at first", series(150, 20, 100, 80), 20, true},
		{"five slow samples of a hundred", series(150, 5, 100, 95), 5, true},
		{"a level within 5 % belongs to it", series(150, 20, 103, 30, 100, 50), 20, true},
		{"a detour ends it", series(100, 30, 120, 20, 100, 50), 50, true},
		{"batches of ten", series(150, 200, 100, 1800), 200, true},
		{"changed in the last sixth", series(100, 90, 130, 10), 0, false},
		{"changed just before the last sixth", series(100, 82, 130, 18), 82, true},
		{"never at rest", series(100, 10, 110, 10, 120, 10, 130, 10, 140, 10, 150, 10, 160, 10), 0, false},
		{"the last sixth of thirty", series(100, 25, 150, 5), 0, false},
		{"too few", series(100, 29), 0, false},
		{"not a number", append(series(100, 50), math.NaN()), 0, false},
	} {
		index, ok := steadyStart(c.values)
		// Ranks place a change to within two batches: the first of the new level may by chance look like the last of the old.
		near := 2 * max(1, len(c.values)/steadyBatches)
		if ok != c.ok || max(index-c.index, c.index-index) > near || c.index == 0 && index != 0 {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, index, ok, c.index, c.ok)
		}
		summary := Summarize(c.values)
		if (summary.SteadyIndex != nil) != ok || ok && *summary.SteadyIndex != int64(index) {
			t.Errorf("%s: the summary says %v", c.name, summary.SteadyIndex)
		}
	}
}

// TestSteadyScales: in another unit the steady state begins at the same sample.
func TestSteadyScales(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		level := 1.0
		values := iid(random, 30+random.IntN(700), func(z float64) float64 {
			if random.IntN(60) == 0 {
				level = .8 + .4*random.Float64()
			}
			return level * (1 + .02*z)
		})
		index, ok := steadyStart(values)
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= 1024
		}
		if again, still := steadyStart(scaled); again != index || still != ok {
			t.Fatalf("%d, %v becomes %d, %v", index, ok, again, still)
		}
		if ok && (index < 0 || 6*index > 5*len(values)) {
			t.Fatalf("steady from %d of %d", index, len(values))
		}
	}
}

// TestSteadyAgreesWithLabels: 30 forks of 3,000 iterations of three JMH benchmarks, labelled by PELT (Traini, Cortellessa,
// Di Pompeo and Tucci, "Towards effective assessment of steady state performance in Java software", Empirical Software
// Engineering 28, 2023). All that disagree are of the third benchmark, whose level keeps moving.
func TestSteadyAgreesWithLabels(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder with the labelled warm-ups, is not set")
	}
	var forks, agree, steady, near int
	for i := range 3 {
		var labelled struct {
			Forks  [][]float64 `json:"timeseries_seconds_10x3000"`
			Labels struct {
				Starts []int `json:"steady_state_starts"`
			} `json:"classification"`
		}
		readGzip(t, filepath.Join(samples, "stats_jmh_aa", fmt.Sprintf("warmup_case%d.json.gz", i)), &labelled)
		for j, fork := range labelled.Forks {
			index, ok := steadyStart(fork)
			start := labelled.Labels.Starts[j] // -1 where there is no steady state
			forks++
			if ok == (start >= 0) {
				agree++
			}
			if ok && start >= 0 {
				steady++
				if max(index-start, start-index) <= 50 {
					near++
				}
			}
		}
	}
	t.Logf("of %d forks %d agree whether there is a steady state; where both see one, %d of %d begin within 50 iterations", forks, agree, near, steady)
	if forks != 30 || agree < 27 || near < 22 {
		t.Errorf("want 27 of 30, and 22 near")
	}
}

func readGzip(t *testing.T, name string, into any) {
	t.Helper()
	f := valuetest.Must(os.Open(name))
	defer f.Close()
	z := valuetest.Must(gzip.NewReader(f))
	valuetest.OK(t, json.NewDecoder(z).Decode(into))
}

// strongestOf returns the strength of the strongest change in any of the intervals of a series.
func strongestOf(series []float64) float64 {
	var most float64
	scan(series, func(c change) { most = max(most, c.strength) })
	return most
}

// shuffledStrengths returns the strongest changes of 999 shuffles of n values, ascending.
func shuffledStrengths(n int) []float64 {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	series := make([]float64, n)
	for i := range series {
		series[i] = float64(i)
	}
	strengths := make([]float64, 999)
	for d := range strengths {
		random.Shuffle(n, func(i, j int) { series[i], series[j] = series[j], series[i] })
		strengths[d] = strongestOf(series)
	}
	slices.Sort(strengths)
	return strengths
}

// TestThresholds draws the table again.
func TestThresholds(t *testing.T) {
	t.Parallel()
	for _, row := range steadyThresholds {
		valuetest.Near(t, row.threshold, shuffledStrengths(row.n)[949], 1e-9, row.n)
	}
	if first, last := steadyThresholds[0].n, steadyThresholds[len(steadyThresholds)-1].n; first != steadyLeast || last != steadyBatches {
		t.Errorf("the table is of %d to %d, needed are %d to %d", first, last, steadyLeast, steadyBatches)
	}
}

// TestThresholdsBetween: where the table is interpolated, a change is found in about 5 % of series without one.
func TestThresholdsBetween(t *testing.T) {
	t.Parallel()
	for _, n := range []int{35, 45, 70, 90, 120, 130, 180} {
		strengths := shuffledStrengths(n)
		at, _ := slices.BinarySearch(strengths, threshold(n))
		if above := len(strengths) - at; above < 30 || above > 75 {
			t.Errorf("of 999 shuffles of %d values %d exceed the threshold %.3f, want about 50", n, above, threshold(n))
		}
	}
}
