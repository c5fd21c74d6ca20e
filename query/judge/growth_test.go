package judge_test

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestUnsettled: where the newest sessions differ more than the ones before, there is no verdict, and the reason says so.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	steady := []float64{0, .004, -.003, .005, 0, -.004, .003, 0, .004, -.003, .002}
	ask := func(history ...float64) judge.Outcome {
		base := history[len(history)-1]
		p := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: true, History: history}
		p.Base, p.Head = evenly(5, base, .001), evenly(5, base+.1, .001)
		return judge.Alone([]judge.Pair{p}, judge.Rules{}).Outcomes[0]
	}
	valuetest.Equal(t, ask(steady...).Verdict, judge.Regressed, "steady")
	if o := ask(append(steady, .06)...); o.Verdict != judge.Inconclusive || o.Reason != judge.Unsettled {
		t.Errorf("the base is far off: %s %s", o.Verdict, o.Reason)
	}
	var rising []float64
	for i := range 20 {
		rising = append(rising, .0005*math.Pow(-1.15, float64(i)))
	}
	if o := ask(rising...); o.Verdict != judge.Inconclusive || o.Reason != judge.Unsettled {
		t.Errorf("rising: %s %s", o.Verdict, o.Reason)
	}
}

// TestUnsettledAlone: a point whose base is far from the sessions before it is unsettled, though the other points of its family are not.
func TestUnsettledAlone(t *testing.T) {
	t.Parallel()
	var pairs []judge.Pair
	for i := range 12 {
		p := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: true}
		p.History = []float64{0, .004, -.003, .005, 0, -.004, .003, 0, .004, -.003, .002}
		base := .001
		if i == 0 {
			base = .06
		}
		p.History = append(p.History, base)
		p.Base, p.Head = evenly(5, base, .001), evenly(5, base+.1, .001)
		pairs = append(pairs, p)
	}
	for i, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
		if unsettled := o.Reason == judge.Unsettled; unsettled != (i == 0) || !unsettled && o.Verdict != judge.Regressed {
			t.Errorf("point %d: %s %s", i, o.Verdict, o.Reason)
		}
	}
}
