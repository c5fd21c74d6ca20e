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

// nile is the volume of the Nile at Aswan, 1871 to 1970, in 10^8 m³, in which from 1899 on, at 28, there is less (Cobb,
// "The problem of the Nile", Biometrika 65, 1978).
var nile = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260,
	1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821,
	768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801,
	1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}

// places returns where change points are.
func places(points []ChangePoint) []int {
	all := make([]int, len(points))
	for i, p := range points {
		all[i] = p.Index
	}
	return all
}

// steps has one level after another, each of so many values, with noise.
func steps(random *rand.Rand, noise float64, levels ...float64) []float64 {
	var values []float64
	for i := 0; i < len(levels); i += 2 {
		values = append(values, iid(random, int(levels[i+1]), func(z float64) float64 { return levels[i] + noise*z })...)
	}
	return values
}

func TestChangePoints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	outlier := steps(random, .01, 0, 40)
	outlier[20] = 9
	two := slices.Clone(outlier)
	two[21] = 9
	for _, c := range []struct {
		name   string
		series []float64
		least  float64
		want   []int
	}{
		{"Nile", nile, 0, []int{28}},
		{"up and down again", steps(random, .01, 0, 40, .1, 30, 0, 40), 0, []int{40, 70}},
		{"one step, no noise", steps(random, 0, 5, 6, 6, 6), 0, []int{6}},
		{"three values at the end", steps(random, .001, 0, 60, 1, 3), 0, []int{60}},
		{"two values at the end", steps(random, .001, 0, 60, 1, 2), 0, nil},
		{"smaller than what counts", steps(random, .001, 0, 40, .1, 30), .2, nil},
		{"one of three is smaller", steps(random, .001, 0, 30, .1, 30, 1, 30), .2, []int{60}},
		{"an outlier", outlier, 0, nil},
		{"two outliers", two, 0, nil},
		{"all equal", slices.Repeat([]float64{4}, 60), 0, nil},
		{"all zero", make([]float64, 60), 0, nil},
		{"six values", []float64{1, 1, 1, 2, 2, 2}, 0, nil},
		{"five values", []float64{1, 1, 1, 2, 2}, 0, nil},
		{"nothing", nil, 0, nil},
		{"not a number", append(slices.Clone(nile), math.NaN()), 0, nil},
		{"infinite", append(slices.Clone(nile), math.Inf(-1)), 0, nil},
	} {
		valuetest.DeepEqual(t, places(changePoints(c.series, .05, c.least)), c.want, c.name, "change points at")
	}
}

// TestChangePointsTellHowMuch: the shift is that between the segments on either side, and has an interval.
func TestChangePointsTellHowMuch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 9))
	series := steps(random, .02, 1, 40, 1.2, 40, .9, 40)
	points := changePoints(series, .05, 0)
	valuetest.Equal(t, len(points), 2, points)
	for i, want := range []float64{.2, -.3} {
		p := points[i]
		if math.Abs(p.Shift.Value-want) > .02 || !(p.Shift.Low < want && want < p.Shift.High) || p.Shift.Confidence < .95 {
			t.Errorf("%+v, want %g", p, want)
		}
		if p.P > 1e-5 || p.P == 0 {
			t.Errorf("p is %g", p.P)
		}
	}
	first := Shift(series[:points[0].Index], series[points[0].Index:points[1].Index], .95)
	valuetest.Equal(t, points[0].Shift, first, "the shift")
}

// allMeasured is NewTrend with all parts measured, however small their shifts are.
func allMeasured(series []float64) *Trend {
	t := &Trend{series: series}
	others := -1
	seeded(len(series), trendShortest, func(_, _ int) { others++ })
	shifts := newShifts(series)
	seeded(len(series), trendShortest, func(low, size int) {
		shift, _ := shifts.in(low, size, 0)
		if shift.held(series[low : low+size]) {
			t.parts = append(t.parts, part{low, size, logShare(size == len(series), others), shift})
		}
	})
	t.twice = shifts.twice(0)
	return t
}

// TestTrendLeavesOutNoChange: the parts that are left out have no change, whatever the chance is.
func TestTrendLeavesOutNoChange(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	found, left := 0, 0
	for range 400 {
		n := 8 + random.IntN(100)
		series := autoregressive(random, n, .3*float64(random.IntN(3)))
		at, by := random.IntN(n), 3*random.NormFloat64()
		for i := at; i < n; i++ {
			series[i] += by
		}
		got, want := NewTrend(series), allMeasured(series)
		left += len(want.parts) - len(got.parts)
		for _, alpha := range []float64{.2, .05, .0001} {
			changes, visible := got.changePoints(alpha, within(0)), got.VisibleChanges(alpha, within(0))
			valuetest.DeepEqual(t, changes, want.changePoints(alpha, within(0)), series, "some changes are left out, others")
			valuetest.DeepEqual(t, visible, want.VisibleChanges(alpha, within(0)), series, "some changes are left out, others")
			found += len(visible)
		}
	}
	if found < 400 || left < 400 {
		t.Errorf("%d changes are found, %d parts left out", found, left)
	}
}

// TestChangePointsScale: in another unit, from another zero and turned around, the places are the same.
func TestChangePointsScale(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 2))
	for range 50 {
		series := steps(random, .02, 1, float64(5+random.IntN(60)), 1.1, float64(5+random.IntN(60)), 1.05, float64(5+random.IntN(30)))
		want := changePoints(series, .05, .01)
		for name, c := range map[string][2]float64{"scaled": {1024, 0}, "moved": {1, 8}, "turned around": {-1, 0}} {
			other := slices.Clone(series)
			for i, v := range other {
				other[i] = c[0]*v + c[1]
			}
			got := changePoints(other, .05, .01*math.Abs(c[0]))
			valuetest.DeepEqual(t, places(got), places(want), name, got, want)
			for i := range got {
				if math.Abs(got[i].Shift.Value-c[0]*want[i].Shift.Value) > 1e-9*math.Abs(c[0]) || math.Abs(got[i].P-want[i].P) > 1e-9 {
					t.Fatalf("%s: %+v, want %+v", name, got[i], want[i])
				}
			}
		}
	}
}

// TestInflation: by hand, of residuals whose neighbours are correlated by 1/4 and, with its bias, by 3/4, and others.
func TestInflation(t *testing.T) {
	t.Parallel()
	of := func(rho float64) float64 {
		rho = (4*rho + priorWeight*priorRho) / (4 + priorWeight)
		return math.Sqrt((1 + rho) / (1 - rho))
	}
	for _, c := range []struct {
		residuals []float64
		want      float64
	}{
		{[]float64{-.5, -.5, .5, .5}, of(.75)},
		{[]float64{-.5, .5, -.5, .5}, of(0)},
		{[]float64{0, 0, 0, 0}, of(.25)},
	} {
		valuetest.Near(t, inflationOf(c.residuals), c.want, 1e-12, c.residuals)
	}
}

// TestChangePointsOfEqualValues: a series in which few values differ from the rest has hardly ever a change point.
func TestChangePointsOfEqualValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	const trials = 1000
	for name, value := range map[string]func() float64{
		"three in twenty differ": func() float64 { return float64(random.IntN(20) / 17) },
		"rounded":                func() float64 { return math.Round(random.NormFloat64()) },
	} {
		for _, n := range []int{6, 8, 12, 30, 100} {
			found := 0
			for range trials {
				if len(changePoints(iid(random, n, func(float64) float64 { return value() }), .05, 0)) > 0 {
					found++
				}
			}
			if found > trials/20 {
				t.Errorf("%s, %d values: %d of %d", name, n, found, trials)
			}
		}
	}
}

// TestChangePointsOfManySessions: beyond the table and with every alpha there is a result.
func TestChangePointsOfManySessions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	series := steps(random, 1, 0, 1500, 3, 1500)
	for _, alpha := range []float64{-1, 0, 1e-9, .05, .5, 1, 7} {
		if got := changePoints(series, alpha, 1); len(got) != 1 || max(got[0].Index-1500, 1500-got[0].Index) > 3 || got[0].P > 1e-100 || got[0].P == 0 {
			t.Errorf("alpha %g: %+v", alpha, got)
		}
	}
	valuetest.DeepEqual(t, changePoints(series, math.NaN(), 1), nil, "alpha not a number")
}

// TestChangePointsAgreeWithPeople: series of the Turing change point dataset, each seen by five people (van den Burg and
// Williams, "An evaluation of change point detection algorithms", 2020). Those left out have many short segments, or
// people who disagree.
func TestChangePointsAgreeWithPeople(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder with the annotated series, is not set")
	}
	for name, want := range map[string][]int{
		"nile": {28}, "quality_control_2": {97}, "quality_control_3": {179}, "quality_control_5": nil,
	} {
		var annotated struct {
			Series []struct {
				Raw []float64 `json:"raw"`
			} `json:"series"`
		}
		content := valuetest.Must(os.ReadFile(filepath.Join(samples, "stats_tcpd", name+".json")))
		valuetest.OK(t, json.Unmarshal(content, &annotated))
		got := places(changePoints(annotated.Series[0].Raw, .05, 0))
		near := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			near = near && max(got[i]-want[i], want[i]-got[i]) <= 2
		}
		if !near {
			t.Errorf("%s: %v, people see %v", name, got, want)
		}
	}
}

func FuzzChangePoints(f *testing.F) {
	f.Add(uint64(1), 40, 1., .05)
	f.Add(uint64(2), 300, 1e308, .2)
	f.Add(uint64(3), 9, 0., 0.)
	f.Fuzz(func(t *testing.T, seed uint64, n int, scale, least float64) {
		random := rand.New(rand.NewPCG(seed, 1))
		series := iid(random, max(n, 0)%400, func(z float64) float64 { return scale * math.Round(2*z) })
		for _, p := range changePoints(series, .05, least) {
			if p.Index < trendLeast || p.Index > len(series)-trendLeast || !(p.P <= .05+1e-9) || math.Abs(p.Shift.Value) < least {
				t.Errorf("%+v of %v", p, series)
			}
		}
		otavaOptions{2 + int(seed%60), .001, least}.changePoints(series)
	})
}

// TestLeastP: the smallest p of a step is that of the order of the values, in the share of the whole series.
func TestLeastP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after int
		want          float64
	}{{4, 4, 2. / 70}, {6, 6, 2. / 924 / .8}, {17, 3, 2. / 1140 / .8}, {2, 10, 1}, {10, 2, 1}, {3, 3, 1}, {0, 0, 1}} {
		if got := LeastP(c.before, c.after); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%d before and %d after: %g, want %g", c.before, c.after, got, c.want)
		}
	}
}
