package stat

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// drifting are 24 samples that rise from about 100 to about 107.
var drifting = []float64{
	102, 98, 101, 99, 103, 100, 97, 104, 101, 100, 99, 105, 103, 106, 104, 103, 107, 105, 104, 108, 106, 107, 109, 105,
}

// TestHalfWidthGolden: the quantiles of Student's t of SciPy 1.17.1, t.ppf(.975, df), as in any table of them.
func TestHalfWidthGolden(t *testing.T) {
	t.Parallel()
	for df, want := range map[int]float64{
		2: 4.302652729749462, 4: 2.7764451051977934, 8: 2.306004135204166, 9: 2.262157162798205,
		10: 2.228138851986274, 18: 2.1009220402410382, 29: 2.045229642132703,
	} {
		values := make([]float64, df+1)
		for i := range values {
			values[i] = math.Sin(float64(i * i))
		}
		_, deviation := moments(values)
		valuetest.Near(t, halfWidth(values)/deviation*math.Sqrt(float64(df+1)), want, 1e-9, "t with", df, "degrees of freedom")
	}
}

// TestPrecisionGolden: the definitions in NumPy 2.4.6 and SciPy 1.17.1.
func TestPrecisionGolden(t *testing.T) {
	t.Parallel()
	if got, ok := BatchMeans(drifting); !ok || math.Abs(got-0.01991563377345606) > 1e-12 {
		t.Errorf("relative error %.16g, %v", got, ok)
	}
	if got, ok := effectiveSize(drifting); !ok || math.Abs(got-13.746469909709239) > 1e-9 {
		t.Errorf("effective size %.16g, %v", got, ok)
	}
	long := make([]float64, 2000) // in 30 batches
	for i := range long {
		long[i] = 100 + float64(i*7919%1009)/100 + float64(i/150%3)
	}
	if got, ok := BatchMeans(long); !ok || math.Abs(got-0.00264914232303892) > 1e-12 {
		t.Errorf("relative error of 2000 %.16g, %v", got, ok)
	}
	if got, ok := effectiveSize(long); !ok || math.Abs(got-485.09708500653437) > 1e-8 {
		t.Errorf("effective size of 2000 %.16g, %v", got, ok)
	}
	logs := []float64{math.Log(1.00), math.Log(1.02), math.Log(0.99), math.Log(1.01), math.Log(1.03)}
	if got, ok := RunsRelError(logs); !ok || math.Abs(got-0.0196307426520402) > 1e-12 {
		t.Errorf("relative error of runs %.16g, %v", got, ok)
	}
}

func TestPrecisionNeedsEnough(t *testing.T) {
	t.Parallel()
	if _, ok := BatchMeans(drifting[:19]); ok {
		t.Error("19 samples have a precision")
	}
	if _, ok := effectiveSize(drifting[:19]); ok {
		t.Error("19 samples have an effective size")
	}
	if _, ok := effectiveSize(slices.Repeat([]float64{3}, 40)); ok {
		t.Error("equal samples have an effective size")
	}
	if got, ok := effectiveSize(slices.Repeat([]float64{3, 4}, 20)); !ok || got != 40 {
		t.Errorf("40 samples that make up for one another are worth %g, %v", got, ok)
	}
	if got, ok := BatchMeans(slices.Repeat([]float64{3}, 40)); !ok || got != 0 {
		t.Errorf("equal samples have an error of %g, %v", got, ok)
	}
	if _, ok := RunsRelError([]float64{1, 2}); ok {
		t.Error("two runs have a precision")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		values := append(slices.Clone(drifting), bad)
		_, a := BatchMeans(values)
		_, b := effectiveSize(values)
		_, c := RunsRelError(values)
		valuetest.DeepEqual(t, []any{a, b, c}, []any{false, false, false}, bad, "among the samples")
	}
	if _, ok := BatchMeans(make([]float64, 30)); ok {
		t.Error("zero has a relative error")
	}
}

// TestPrecisionCovers: the interval contains the median of endless samples in about 95 % of runs, and the mean takes as
// many samples as effectiveSize says: (1-φ)/(1+φ) of those of an autoregressive process.
func TestPrecisionCovers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		name  string
		n     int
		phi   float64
		tails float64 // share of samples that are ten times as large
		least int     // of 1000
	}{
		{"independent, 100", 100, 0, 0, 925},
		{"independent, 1000", 1000, 0, 0, 930},
		{"a tail of 5 %, 100", 100, 0, .05, 920},
		{"resembling, 1000", 1000, .5, 0, 920},
	} {
		covered := 0
		center := 100.0
		if c.tails > 0 {
			center = 100.132 // the quantile of .5/.95 of the normal part
		}
		for range 1000 {
			values := autoregressive(random, c.n, c.phi)
			for i, z := range values {
				values[i] = 100 * (1 + .02*z)
				if random.Float64() < c.tails {
					values[i] *= 10
				}
			}
			relError, ok := BatchMeans(values)
			middle := median(slices.Clone(values))
			if ok && math.Abs(middle-center) <= relError*middle {
				covered++
			}
		}
		if covered < c.least || covered > 975 {
			t.Errorf("%s: %d of 1000 intervals contain the median", c.name, covered)
		}
	}
	size, _ := effectiveSize(autoregressive(random, 100_000, .8))
	if want := 100_000 * .2 / 1.8; size < want/2 || size > 2*want {
		t.Errorf("100,000 samples are worth %.0f, want about %.0f", size, want)
	}
}

// TestPrecisionProperties: a scale leaves all as they are, a shift of logarithms too.
func TestPrecisionProperties(t *testing.T) {
	t.Parallel()
	scaled, shifted := slices.Clone(drifting), slices.Clone(drifting)
	for i := range scaled {
		scaled[i] *= 1024
		shifted[i] += 64
	}
	a, _ := BatchMeans(drifting)
	if b, _ := BatchMeans(scaled); a != b {
		t.Errorf("%g becomes %g in another unit", a, b)
	}
	a, _ = effectiveSize(drifting)
	if b, _ := effectiveSize(scaled); math.Abs(a-b) > 1e-9 {
		t.Errorf("%g becomes %g in another unit", a, b)
	}
	a, _ = RunsRelError(drifting)
	if b, _ := RunsRelError(shifted); math.Abs(a/b-1) > 1e-9 {
		t.Errorf("%g becomes %g in another unit", a, b)
	}
	a, _ = RunsRelError(drifting)
	backward := slices.Clone(drifting)
	slices.Reverse(backward)
	if b, _ := RunsRelError(backward); math.Abs(a/b-1) > 1e-9 {
		t.Errorf("%g becomes %g in another order of runs", a, b)
	}
}

// stopping is a point whose runs are repeated until they are precise, or until there are 20.
type stopping struct {
	relError, deviation float64
	lognormal           bool
}

// stop draws runs until they may stop. covered tells whether the interval of 95 % that they stop with contains the
// location, of which the logarithm is 0.
func (s stopping) stop(random *rand.Rand) (runs int, reached, covered bool) {
	const most = 20 // what a sweep has if it says nothing else
	var logs []float64
	for len(logs) < most && !reached {
		x := s.deviation * random.NormFloat64()
		if !s.lognormal {
			x = math.Log1p(x)
		}
		logs = append(logs, x)
		reached = RunsPrecise(logs, s.relError)
	}
	location, _ := moments(logs)
	return len(logs), reached, math.Abs(location) <= halfWidth(logs)
}

// stops are what becomes of many series of runs.
type stops struct{ series, runs, reached, covered int }

func (s *stops) add(runs int, reached, covered bool) {
	s.series++
	s.runs += runs
	if reached {
		s.reached++
	}
	if covered {
		s.covered++
	}
}

func (s stops) share(n int) float64 { return float64(n) / float64(s.series) }

// TestRunsPreciseCovers: the interval with which runs stop contains the location in at least 93 % of cases, of which the usual
// tier sees too few to leave out three standard errors. Cells with the same ratio of spread and precision are one, since a
// scale changes nothing. Figures of NEUROLENS_LONG=1, 40,000 series of each spread (1, 2, 5 %) and precision (0.5, 1, 2, 5 %):
//
//	             normal runs                    log-normal runs
//	sd/relError  covered   reached  runs         covered   reached  runs
//	0.2           95.0 %   100.0 %   7.0          95.0 %   100.0 %   7.0
//	0.4           95.1 %   100.0 %   7.0          94.8 %   100.0 %   7.0
//	0.5           95.1 %   100.0 %   7.0          94.8 %   100.0 %   7.0
//	1             94.4 %   100.0 %   8.9          94.3 %   100.0 %   8.9
//	2             93.6 %    55.7 %  17.6          93.5 %    56.0 %  17.6
//	2.5           94.2 %    13.9 %  19.4          94.2 %    13.7 %  19.5
//	4             94.8 %     0.2 %  20.0          94.9 %     0.2 %  20.0
//	5             94.8 %     0.0 %  20.0          95.1 %     0.0 %  20.0
//	10            95.0 %     0.0 %  20.0          94.8 %     0.0 %  20.0
func TestRunsPreciseCovers(t *testing.T) {
	t.Parallel()
	series, errors := 200, 3.
	if os.Getenv("NEUROLENS_LONG") != "" {
		series, errors = 40_000, 0
	}
	random := rand.New(rand.NewPCG(31, 32))
	for _, lognormal := range []bool{false, true} {
		cells := map[float64]*stops{}
		for _, relError := range []float64{.005, .01, .02, .05} {
			for _, deviation := range []float64{.01, .02, .05} {
				ratio := math.Round(10*deviation/relError) / 10
				if cells[ratio] == nil {
					cells[ratio] = &stops{}
				}
				for range series {
					cells[ratio].add(stopping{relError, deviation, lognormal}.stop(random))
				}
			}
		}
		for _, ratio := range slices.Sorted(maps.Keys(cells)) {
			c := cells[ratio]
			least := .93 - errors*math.Sqrt(.93*.07/float64(c.series))
			t.Logf("log-normal %v, spread %g of the precision: %.1f %% covered, %.1f %% reached, %.1f runs",
				lognormal, ratio, 100*c.share(c.covered), 100*c.share(c.reached), c.share(c.runs))
			if c.share(c.covered) < least {
				t.Errorf("log-normal %v, spread %g of the precision: %.2f %% of intervals contain the location, want at least %.2f %%",
					lognormal, ratio, 100*c.share(c.covered), 100*least)
			}
		}
	}
}

// TestRunsPreciseWhen: 7 runs that agree may stop. 6 may not, nor 7 or 8 of which the last or the one before it does not agree.
func TestRunsPreciseWhen(t *testing.T) {
	t.Parallel()
	agree := []float64{1, 1.001, 1.002, 1.001, 1, 1.002, 1.001}
	with := func(more ...float64) []float64 { return slices.Concat(agree, more) }
	falling := []float64{1, 1.01, 1.02, 1, 1.02, 1.01, 1.01, 1.01, 1.01}
	ninth, _ := RunsRelError(falling)
	eighth, _ := RunsRelError(falling[:8])
	seventh, _ := RunsRelError(falling[:7])
	if ninth >= eighth || eighth >= seventh {
		t.Fatalf("%g, %g and %g do not fall", seventh, eighth, ninth)
	}
	for _, c := range []struct {
		logs     []float64
		relError float64
		want     bool
	}{
		{agree, .01, true},
		{agree[:6], .01, false},
		{agree, .0001, false},
		{with(1.2), .01, false},
		{falling, seventh, true},
		{falling, (seventh + eighth) / 2, false},
		{falling, (eighth + ninth) / 2, false},
		{nil, .01, false},
	} {
		valuetest.Equal(t, RunsPrecise(c.logs, c.relError), c.want, "RunsPrecise", c.logs, c.relError)
	}
}

// TestRunsNeeded: after the number of runs that is predicted from 7 runs, the interval is narrow enough in at least 7 of 10 cases. It is at
// least the 7 that RunsPrecise wants, and unknown beyond 1,000.
func TestRunsNeeded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, relError := range []float64{.005, .01, .03} {
		reached, cases := 0, 400
		for range cases {
			logs := make([]float64, 1000)
			for i := range logs {
				logs[i] = .02 * random.NormFloat64()
			}
			needed := RunsNeeded(logs[:7], relError)
			if needed == 0 {
				reached++ // it says that too many are needed
				continue
			}
			if got, _ := RunsRelError(logs[:needed]); got <= relError {
				reached++
			}
		}
		if share := float64(reached) / float64(cases); share < .7 {
			t.Errorf("within %g: reached in %g of cases", relError, share)
		}
	}
	valuetest.Equal(t, RunsNeeded([]float64{1, 1.0001, 1.0002}, .02), 7, "of runs that agree")
	valuetest.Equal(t, RunsNeeded([]float64{1, 2, 3}, .01), 0, "of runs that differ by much")
	valuetest.Equal(t, RunsNeeded([]float64{1, 1}, .01), 0, "of two runs")
}
