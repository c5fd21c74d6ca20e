package stat

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

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
	ninth, _ := runsRelError(falling)
	eighth, _ := runsRelError(falling[:8])
	seventh, _ := runsRelError(falling[:7])
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
		if got := RunsPrecise(c.logs, c.relError); got != c.want {
			t.Errorf("RunsPrecise(%v, %g) is %v", c.logs, c.relError, got)
		}
	}
}
