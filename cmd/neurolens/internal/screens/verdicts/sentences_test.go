package verdicts

import (
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// compared is a row of the variant b, or one named after it, with a change and its interval.
func compared(verdict judge.Verdict, change, low, high float64) compare.Row {
	r := compare.Row{
		Identity: facts.Point{Benchmark: "commands", Variant: "b"}, Unit: "ns", Scale: schema.ScaleRatio,
		Base: &compare.Measured{}, Head: &compare.Measured{}, Estimates: &compare.Estimates{Change: change, Low: low, High: high},
	}
	r.Metric, r.Better, r.Verdict = "latency", "lower", verdict
	return r
}

func TestSentences(t *testing.T) {
	say := func(want string, rows ...compare.Row) {
		t.Helper()
		if got := strings.Join(sentences(rows, "variant", "a", 5).Lines, "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	say("b is 1.42x faster than a (1.38 to 1.47)", compared(judge.Improved, 1/1.42-1, 1/1.47-1, 1/1.38-1))
	say("b is 2x slower than a (1.5 to 2.5)", compared(judge.Regressed, 1, .5, 1.5))
	say("b is as good as a: +0.4 % (-0.5 % to +1.2 %)", compared(judge.Unchanged, .004, -.005, .012))
	open := compared(judge.Inconclusive, .05, -.02, .12)
	open.MoreRuns = 4
	say("b against a: inconclusive, +5.0 % (-2.0 % to +12.0 %)\ninconclusive: 9 repeats are likely to decide it", open)
	say("b is 1.5x slower than a", compared(judge.Regressed, .5, math.NaN(), math.NaN()))

	rate := compared(judge.Improved, .25, .2, .3)
	rate.Metric, rate.Better, rate.Unit = "throughput", "higher", "1/s"
	say("b is 1.25x larger in throughput than a (1.2 to 1.3)", rate)
	wrong := compared(judge.Improved, -.5, -.6, -.4)
	wrong.Flags = []string{compare.FlagWrong}
	say("b against a: one of them has a wrong result", wrong)
	failed := compared(compare.Failed, 0, 0, 0)
	failed.Estimates, failed.Base = nil, &compare.Measured{Runs: 3}
	say("b has no result to compare with a", failed)
	failed.Base = nil
	say("b is not compared: a has no result", failed)
	alone := compared(judge.Inconclusive, 1.15, math.Inf(-1), math.Inf(1))
	alone.MoreRuns, alone.Reason = 1, judge.FewRuns
	say("b against a: inconclusive, +115.0 % (too few runs for an interval)\ninconclusive: at least 6 repeats are needed to decide it", alone)
	hopeless := compared(judge.Inconclusive, -.0001, -.4, .4)
	say("b against a: inconclusive, 0.0 % (-40.0 % to +40.0 %)\ninconclusive: more repeats are not likely to decide it", hopeless)
	if got := sentences([]compare.Row{open, hopeless}, "variant", "a", 5).Repeats; got != 9 {
		t.Errorf("%d repeats are likely to decide it, want 9", got)
	}

	one, two := compared(judge.Improved, -.5, -.6, -.4), compared(judge.Improved, -.5, -.6, -.4)
	one.Identity.Params, two.Identity.Params = map[string]string{"n": "1"}, map[string]string{"n": "2"}
	say("n=1: b is 2x faster than a (1.67 to 2.5)\nn=2: b is 2x faster than a (1.67 to 2.5)", one, two)
	say("")
}
