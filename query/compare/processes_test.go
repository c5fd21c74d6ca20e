package compare_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// ofProcesses makes the samples of a run processes: seven of them around each location.
func ofProcesses(side string, batch int64) func(*schema.Run) {
	return querytest.Of(batch, func(r *schema.Run) {
		m := querytest.RealMetric("latency", "ns", wobble(r.Metrics[0].Reals[0])...)
		m.Level = schema.LevelProcess
		r.Side, r.Metrics = side, []schema.Metric{m}
	})
}

// TestMoreRepeatsDecideMore: in one session of processes the run is the replicate, however few there are. More
// repeats never remove a verdict, and the table shows the number of runs.
func TestMoreRepeatsDecideMore(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	repeats := []int{1, 3, 4, 5, 6, 10}
	if querytest.Long() {
		repeats = []int{1, 2, 3, 4, 5, 6, 7, 10, 20}
	}
	for _, times := range repeats {
		for i := range times {
			wave := 1 + .004*float64(i%3-1)
			runs = append(runs, querytest.RunsOf(&n, 1, ofProcesses("base", int64(times)), 1000*wave)...)
			runs = append(runs, querytest.RunsOf(&n, 1, ofProcesses("head", int64(times)), 1500*(2-wave))...)
		}
	}
	db := querytest.SealedRuns(t, runs)
	for _, rules := range []judge.Rules{{}, {Gate: true}} {
		settled := false
		for _, times := range repeats {
			request := compare.Request{Base: "session=last batch_size=" + strconv.Itoa(times), Rules: rules}
			got := mustCompare(t, db, request)
			verdict, ran := cellOf(got, 0, "verdict"), cellOf(got, 0, "head_runs")+" "+cellOf(got, 0, "head_samples_min")
			valuetest.Equal(t, ran, strconv.Itoa(times)+" 7", times, "runs of 7 processes are said to be")
			if settled && verdict != "regressed" {
				t.Errorf("gate %v: %s with %d repeats, though fewer settled it", rules.Gate, verdict, times)
			}
			settled = verdict == "regressed"
		}
		if !settled {
			t.Errorf("gate %v: %d repeats do not settle it", rules.Gate, repeats[len(repeats)-1])
		}
	}
}

// TestCompareProcesses: between sessions with few runs, processes are the replicates, because the variation between runs is part
// of the variation between sessions.
func TestCompareProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		past    int
		verdict judge.Verdict
		reason  judge.Reason
	}{{7, judge.Regressed, ""}, {1, judge.Inconclusive, judge.Sessions}} {
		n := 0
		var runs []schema.Run
		for k := range c.past {
			runs = append(runs, querytest.RunsOf(&n, 1+k, ofProcesses("", 1), 1000*(1+.002*float64(k%3-1)))...)
		}
		runs = append(runs, querytest.RunsOf(&n, 1+c.past, ofProcesses("", 1), 1500)...)
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last", Rules: judge.Rules{Gate: true}})
		flags := got.Rows[0].Flags
		if v := cellOf(got, 0, "verdict"); v != string(c.verdict) || cellOf(got, 0, "head_runs") != "1" || !slices.Contains(flags, compare.FlagOneBlock) {
			t.Errorf("%d earlier sessions: %s of %s runs, flags %v", c.past, v, cellOf(got, 0, "head_runs"), flags)
		}
		valuetest.Equal(t, got.Points[0].Reason, c.reason, c.past, "earlier sessions: reason")
	}
}

// TestProcessesWithoutSamples: if a side has the location of each run but no samples, such as a baseline in a file, a few runs of
// processes are compared as they are.
func TestProcessesWithoutSamples(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for range 3 {
		runs = append(runs, querytest.RunsOf(&n, 1, ofProcesses("head", 1), 1500)...)
		runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) {
			ofProcesses("base", 1)(r)
			m := &r.Metrics[0]
			m.Reals, m.IterationsPerSample, m.Summary = nil, nil, schema.Summary{P50: new(1000.0), N: new(int64(7))}
		}, 1000)...)
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
	if ran := cellOf(got, 0, "base_runs") + " and " + cellOf(got, 0, "head_runs"); ran != "3 and 3" || realOf(t, got, 0, "change") != .5 {
		t.Errorf("%s runs differ by %s, %s %s", ran, cellOf(got, 0, "change"), cellOf(got, 0, "verdict"), cellOf(got, 0, "reason"))
	}
}

// TestProcessesOfOneRow: the reference is compared by its processes with a value of another session, and by its runs with one of the
// same.
func TestProcessesOfOneRow(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	of := func(session int, variant string, level float64) {
		runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) {
			ofProcesses("", 1)(r)
			r.Variant = variant
		}, level)...)
	}
	for range 4 {
		of(1, "a", 1000)
		of(1, "b", 1500)
		of(2, "c", 1500)
		of(2, "d", 1500)
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "machine!=null", Axis: "variant", Reference: "a", Inputs: true})
	for row := range got.Rows {
		base, runs := 28, cellOf(got, row, "base_runs")
		variant := cellOf(got, row, "variant")
		if variant == "b" {
			base = 4
		}
		if in := got.Rows[row].Inputs; len(in.Base) != base || runs != "4" || slices.Contains(got.Rows[row].Flags, compare.FlagOneBlock) != (base > 4) {
			t.Errorf("%s: %d values of %s runs, flags %v", variant, len(in.Base), runs, got.Rows[row].Flags)
		}
	}
	valuetest.Equal(t, len(got.Rows), 3)
}
