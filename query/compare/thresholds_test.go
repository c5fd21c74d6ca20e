package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// pointsWithThresholds returns the runs of both sides of a session of four points, each of whose heads is 10 % slower; of the third
// the runs of the head have two thresholds, of the fourth none.
func pointsWithThresholds() (runs []schema.Run) {
	n := 0
	for _, side := range []string{"base", "head"} {
		for i, said := range [][]string{{"30%"}, {"5%"}, {"30%", "40%"}, {""}} {
			some := querytest.RunsOf(&n, 1, querytest.Of(int64(1+i), func(r *schema.Run) { r.Side = side }), wobble(map[string]float64{"base": 1000, "head": 1100}[side])...)
			for k := range some {
				some[k].Env.Facts = map[string]string{"other": "x"}
				if text := said[k%len(said)]; side == "head" && text != "" {
					some[k].Env.Facts["runner.threshold.latency"] = text
				}
			}
			runs = append(runs, some...)
		}
	}
	return runs
}

// TestPointThresholds: each point is judged with the threshold of its own runs. If they have two, neither counts, and
// that of the command line overrides all. Points whose runs have none use the default. A running session does the same.
func TestPointThresholds(t *testing.T) {
	t.Parallel()
	runs := pointsWithThresholds()
	db := querytest.SealedRuns(t, runs)
	for _, c := range []struct {
		given judge.Thresholds
		usual judge.Thresholds
		want  string // equivalence margins and verdicts by batch size
		same  bool   // all points have one threshold
	}{
		{nil, nil, "[1:0.3 unchanged 2:0.05 regressed 3:0.02 regressed 4:0.02 regressed]", false},
		{judge.Thresholds{"latency": {Value: .5}}, nil, "[1:0.5 unchanged 2:0.5 unchanged 3:0.5 unchanged 4:0.5 unchanged]", true},
		{judge.Thresholds{"": {Value: .01}}, nil, "[1:0.01 regressed 2:0.01 regressed 3:0.01 regressed 4:0.01 regressed]", true},
		{nil, judge.Thresholds{"latency": {Value: .4}}, "[1:0.3 unchanged 2:0.05 regressed 3:0.4 unchanged 4:0.4 unchanged]", false},
		{judge.Thresholds{"": {Value: .01}}, judge.Thresholds{"latency": {Value: .4}}, "[1:0.01 regressed 2:0.01 regressed 3:0.01 regressed 4:0.01 regressed]", true},
	} {
		got := mustCompare(t, db, compare.Request{Base: "session=last", Thresholds: c.given, Usual: c.usual})
		var all []string
		for row := range got.Rows {
			all = append(all, fmt.Sprintf("%s:%.3g %s", cellOf(got, row, "batch_size"), realOf(t, got, row, "threshold"), cellOf(got, row, "verdict")))
		}
		slices.Sort(all)
		valuetest.Equal(t, fmt.Sprint(all), c.want, c.given, all)
		if _, same := got.Thresholds["latency"]; same != c.same {
			t.Errorf("with %v: the threshold of all points is %v", c.given, got.Thresholds)
		}
	}
	decided := compare.JudgeSession(runs)
	for _, r := range runs {
		want := "regressed"
		if *r.BatchSize == 1 {
			want = "unchanged"
		}
		if got := string(decided[r.PointID].Verdict); got != want {
			t.Errorf("the session says that size %d is %s, want %s", *r.BatchSize, got, want)
		}
	}
}
