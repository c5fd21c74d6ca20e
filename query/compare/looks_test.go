package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// settling is a session that continues until it is settled, without processes.
type settling struct {
	points int
	of     func(point int) (sd, change float64) // of the logarithm of a run
	looks  []int                                // the planned ones
	fact   string                               // that says so
}

var fiveLooks = []int{6, 9, 14, 20, 30}

const fiveLooksFact = "6,9,14,20,30"

// session runs a session as the runner does, and returns its runs, the decision for each point and after how many blocks.
func (s settling) session(random *rand.Rand) (runs []schema.Run, decided map[string]compare.Decided, blocks map[string]int) {
	facts := map[string]string{schema.FactLooks: s.fact}
	decided, blocks = map[string]compare.Decided{}, map[string]int{}
	repeat := 0
	for _, look := range s.looks {
		for ; repeat < look; repeat++ {
			for point := range s.points {
				id := fmt.Sprintf("%032x", point)
				if d, looked := decided[id]; looked && !d.Open() {
					continue
				}
				for side, name := range []string{"base", "head"} {
					sd, change := s.of(point)
					location := 1e6 * math.Exp(sd*random.NormFloat64()+change*float64(side))
					runs = append(runs, settlingRun(len(runs), point, repeat, name, location, facts))
				}
				blocks[id] = repeat + 1
			}
		}
		open := false
		for id, d := range compare.JudgeSession(runs) {
			if was, looked := decided[id]; looked && !was.Open() {
				continue // what was decided stands
			}
			decided[id] = d
			open = open || d.Open()
		}
		if !open {
			break
		}
	}
	return runs, decided, blocks
}

func settlingRun(n, point, repeat int, side string, location float64, facts map[string]string) schema.Run {
	return schema.Run{
		SessionID: querytest.SessionID(1), PointID: fmt.Sprintf("%032x", point), Side: side, Purpose: schema.PurposeMeasure, Status: schema.StatusOK,
		RepeatIndex: new(int64(repeat)), BlockIndex: new(int64(repeat*100 + point)), StartedAt: querytest.Start.Add(time.Duration(n) * time.Second),
		Primary: "latency", Metrics: []schema.Metric{{
			Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration,
			Summary: schema.Summary{N: new(int64(1)), P50: &location, LogMedian: new(math.Log(location))},
		}},
		Env: schema.Env{Machine: "lab3", Facts: facts},
	}
}

// TestSettledSessions: whole sessions in which nothing changed, judged up to five times, find a change in at
// most 5 % of cases.
func TestSettledSessions(t *testing.T) {
	t.Parallel()
	for _, points := range []int{1, 12} {
		n := map[int]int{1: 300, 12: 8}[points]
		if querytest.Long() {
			n = 2000
		}
		for _, sd := range []float64{.05, .1} {
			t.Run(fmt.Sprintf("%d points, sd %g", points, sd), func(t *testing.T) {
				t.Parallel()
				s := settling{points: points, looks: fiveLooks, fact: fiveLooksFact, of: func(int) (float64, float64) { return sd, 0 }}
				wrong, settled := 0, 0
				for seed := range n {
					_, decided, _ := s.session(rand.New(rand.NewPCG(uint64(seed), uint64(points))))
					any := false
					for _, d := range decided {
						any = any || d.Verdict == judge.Regressed || d.Verdict == judge.Improved
						if !d.Open() {
							settled++
						}
					}
					if any {
						wrong++
					}
				}
				t.Logf("%.1f %% of %d sessions are wrong, %.0f %% of points are settled", 100*float64(wrong)/float64(n), n, 100*float64(settled)/float64(n*points))
				if limit := judge.Level + 3*math.Sqrt(judge.Level*(1-judge.Level)/float64(n)); float64(wrong) > limit*float64(n) {
					t.Errorf("%d of %d sessions say that something changed, at most %.1f %% may", wrong, n, 100*limit)
				}
			})
		}
	}
}

// stored returns the runs as a store takes them.
func stored(runs []schema.Run) []schema.Run {
	all := make([]schema.Run, len(runs))
	for i := range runs {
		of := &runs[i]
		all[i] = querytest.NewRun(i, 0, func(r *schema.Run) {
			r.SessionID, r.Side, r.RepeatIndex, r.BlockIndex, r.StartedAt = of.SessionID, of.Side, of.RepeatIndex, of.BlockIndex, of.StartedAt
			r.Params, r.BatchSize, r.Env.Facts = map[string]string{"point": of.PointID}, nil, of.Env.Facts
			r.Metrics, r.Primary = []schema.Metric{querytest.RealMetric("latency", "ns", *of.Metrics[0].Summary.P50)}, "latency"
		})
	}
	return all
}

// takenBack returns the first session in which verdicts would be taken back if all points were judged as they are at the end.
const takenBack = 337

// mixed returns a session of points that differ in noise and change, so that they are settled at different looks.
func mixed(seed int) (runs []schema.Run, decided map[string]compare.Decided, blocks map[string]int) {
	s := settling{points: 16, looks: fiveLooks, fact: fiveLooksFact}
	s.of = func(point int) (sd, change float64) { return .005 + .005*float64(point), .03 * float64(point%3) }
	return s.session(rand.New(rand.NewPCG(uint64(seed), 5)))
}

// TestSettledStands: the decision for a point remains, although other points, which lend it variances and are corrected for,
// continued after it was settled.
func TestSettledStands(t *testing.T) {
	t.Parallel()
	sessions := 10
	if querytest.Long() {
		sessions = 500
	}
	for seed := range sessions {
		runs, decided, blocks := mixed(takenBack + seed)
		for id, got := range compare.JudgeSession(runs) {
			if got != decided[id] {
				t.Errorf("seed %d, point %s after %d blocks: %v at the end, %v when it was decided", seed, id, blocks[id], got, decided[id])
			}
		}
	}
}

// TestSettledStored: a stored session has the decisions that were made while it was measured.
func TestSettledStored(t *testing.T) {
	t.Parallel()
	runs, decided, blocks := mixed(takenBack)
	db := querytest.SealedRuns(t, stored(runs))
	for _, rules := range []judge.Rules{{Gate: true}, {}} {
		c := mustCompare(t, db, compare.Request{Base: "session=last", Rules: rules})
		valuetest.Equal(t, len(c.Rows), len(decided))
		settled := map[int]int{}
		for row := range c.Rows {
			id := c.Rows[row].Identity.Params["point"]
			was := decided[id]
			if got := cellOf(c, row, "verdict"); (rules.Gate || !was.Open()) && got != string(was.Verdict) {
				t.Errorf("%+v, point %s after %d blocks: %s at the end, %s when it was decided", rules, id, blocks[id], got, was.Verdict)
			}
			if cellOf(c, row, "looks") != "5" || cellOf(c, row, "head_runs") != fmt.Sprint(blocks[id]) {
				t.Errorf("looks %s, runs %s of %d", cellOf(c, row, "looks"), cellOf(c, row, "head_runs"), blocks[id])
			}
			if got := cellOf(c, row, "confidence"); got != ".99" && got != "0.99" {
				t.Errorf("the interval of one of five looks has the confidence %s", got)
			}
			settled[blocks[id]]++
		}
		if len(settled) < 3 {
			t.Errorf("points were settled after these blocks: %v: too few to tell", settled)
		}
		if g := c.Gate(); g.Planned != 5 || g.Looks != 0 {
			t.Errorf("gate %+v", g)
		}
	}
}

// settledRow returns of sessions: how many of 100 points were settled, how many were found to have changed, and after how many
// blocks on average they had their last run.
func settledRow(t *testing.T, s settling, n int) (settled, found, blocks float64) {
	t.Helper()
	all := 0
	for seed := range n {
		_, decided, at := s.session(rand.New(rand.NewPCG(uint64(seed), uint64(s.points))))
		for id, d := range decided {
			all++
			if !d.Open() {
				settled++
			}
			if d.Verdict == judge.Regressed {
				found++
			}
			blocks += float64(at[id])
		}
	}
	return 100 * settled / float64(all), 100 * found / float64(all), blocks / float64(all)
}

// TestSettledTable: the cost of sessions that continue until they are settled, and what they find, beside sessions with a fixed number of blocks.
// It is the table of VALIDATION.md.
func TestSettledTable(t *testing.T) {
	t.Parallel()
	if !querytest.Long() {
		t.Skip("NEUROLENS_LONG is not set")
	}
	text := valuetest.Must(os.ReadFile("../judge/VALIDATION.md"))
	for _, c := range []struct {
		points     int
		sd, change float64
	}{{1, .05, .1}, {12, .05, .1}, {1, .02, .1}, {1, .1, .1}, {1, .01, 0}, {1, .02, 0}, {12, .01, 0}, {1, .05, .02}} {
		n := 2000 / c.points
		s := settling{points: c.points, of: func(int) (float64, float64) { return c.sd, math.Log1p(c.change) }}
		row := fmt.Sprintf("| %d, sd %g %%, +%g %% |", c.points, 100*c.sd, 100*c.change)
		for _, fixed := range []int{6, 10, 20, 30} {
			s.looks = []int{fixed}
			settled, found, _ := settledRow(t, s, n)
			row += fmt.Sprintf(" %.0f (%.0f) |", settled, found)
		}
		s.looks, s.fact = fiveLooks, fiveLooksFact
		settled, found, blocks := settledRow(t, s, n)
		row += fmt.Sprintf(" %.0f (%.0f) | %.1f |", settled, found, blocks)
		t.Log(row)
		valuetest.Contains(t, string(text), row, "VALIDATION.md does not have")
		if c.sd == .05 && c.change == .1 && settled < 95 {
			t.Errorf("%.1f %% are settled", settled)
		}
	}
}

// TestSettledSoon: a true +10 % at a noise of 5 % is found, usually long before the last look.
func TestSettledSoon(t *testing.T) {
	t.Parallel()
	s := settling{points: 1, looks: fiveLooks, fact: fiveLooksFact, of: func(int) (float64, float64) { return .05, math.Log(1.1) }}
	settled, found, blocks := settledRow(t, s, 100)
	if settled < 95 || found < 95 || blocks > 20 {
		t.Errorf("%.0f %% settled, %.0f %% found, after %.1f blocks", settled, found, blocks)
	}
}

// TestSettledPooled: when sessions are combined, each is a look, in addition to the looks of the longest of them.
// Sides of different sessions were not judged together.
func TestSettledPooled(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for session := 1; session <= 3; session++ {
		for i, name := range []string{"base", "head"} {
			n := 1000*session + 100*i
			for _, r := range querytest.RunsOf(&n, session, querytest.On(name, 1), wobble(1000)...) {
				if session > 1 {
					r.Env.Facts = map[string]string{schema.FactLooks: fiveLooksFact}
				}
				runs = append(runs, r)
			}
		}
	}
	db := querytest.SealedRuns(t, runs)
	first, second := "session_id="+querytest.SessionID(1), "session_id="+querytest.SessionID(2)
	for _, c := range []struct{ base, head, looks, flags string }{
		{first, "", "1", "[]"},
		{second, "", "5", "[planned_looks]"},
		{first + "," + querytest.SessionID(2), "", "30", "[planned_looks]"},
		{second + "," + querytest.SessionID(3), "", "30", "[planned_looks]"},
		{first + "," + querytest.SessionID(2) + "," + querytest.SessionID(3), "", "60", "[planned_looks]"},
		{first + " side=head", second + " side=head", "1", "[]"},
	} {
		got := mustCompare(t, db, compare.Request{Base: c.base, Head: c.head})
		if looks, flags := cellOf(got, 0, "looks"), cellOf(got, 0, "flags"); looks != c.looks || flags != c.flags {
			t.Errorf("%s and %s: looks %s, flags %s, want %s, %s", c.base, c.head, looks, flags, c.looks, c.flags)
		}
	}
}

// TestSettledFailing: a point that failed a few times on the head only, which may be chance, is inconclusive, whatever its
// times are: a gate would not accept it either. A point that never succeeded there is decided.
func TestSettledFailing(t *testing.T) {
	t.Parallel()
	facts := map[string]string{schema.FactLooks: "6,9,14,20"}
	for failed, open := range map[int]bool{0: false, 2: true, 20: false} {
		var runs []schema.Run
		for repeat := range 20 {
			location := 1e6 * (1 + .001*float64(repeat%3))
			runs = append(runs, settlingRun(len(runs), 1, repeat, "base", location, facts))
			head := settlingRun(len(runs), 1, repeat, "head", 1.5*location, facts)
			if repeat < failed {
				head.Status, head.Stage, head.Metrics, head.Primary = schema.StatusCrashed, schema.StageMeasure, nil, ""
			}
			runs = append(runs, head)
		}
		for id, d := range compare.JudgeSession(runs) {
			valuetest.Equal(t, d.Open(), open, failed, "of 20 runs failed", id, d, "want it open")
		}
	}
}

// TestSettledWrong: during a session, a point with a wrong result has no verdict, as when it is stored.
func TestSettledWrong(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for repeat := range 20 {
		runs = append(runs, settlingRun(len(runs), 1, repeat, "base", 1e6, map[string]string{schema.FactLooks: "6,9,14,20"}))
		head := settlingRun(len(runs), 1, repeat, "head", 1e5, map[string]string{schema.FactLooks: "6,9,14,20"})
		if repeat == 7 {
			head.Status, head.Stage, head.ErrorKind = schema.StatusError, schema.StageValidate, schema.KindOutput
		}
		runs = append(runs, head)
	}
	for id, d := range compare.JudgeSession(runs) {
		valuetest.Equal(t, d.Verdict, judge.Estimate, id, d)
		valuetest.Equal(t, d.Reason, judge.Wrong, id, d)
	}
}

// TestSettledWarnings: during a session, a point whose result could not be checked, or whose server failed requests, has no verdict, as when it
// is stored.
func TestSettledWarnings(t *testing.T) {
	t.Parallel()
	for warning, want := range map[string]judge.Reason{schema.WarnUnchecked: judge.Unchecked, "16 of 24 requests failed": judge.FailedRequests} {
		var runs []schema.Run
		for repeat := range 20 {
			runs = append(runs, settlingRun(len(runs), 1, repeat, "base", 1e6, map[string]string{schema.FactLooks: "6,9,14,20"}))
			head := settlingRun(len(runs), 1, repeat, "head", 1e5, map[string]string{schema.FactLooks: "6,9,14,20"})
			if repeat == 7 {
				head.Warnings = []string{warning}
			}
			runs = append(runs, head)
		}
		for id, d := range compare.JudgeSession(runs) {
			valuetest.Equal(t, d.Verdict, judge.Estimate, warning, id, d)
			valuetest.Equal(t, d.Reason, want, warning, id, d)
		}
	}
}
