package judge_test

import (
	"math"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// rule is a way to call points of a comparison different.
type rule struct {
	name string
	peer bool // is not one of NeuroLens
	// call says of every point that the head is slower (1), faster (-1) or neither (0).
	call func(sweep []point) []int
}

var rules = []rule{
	{name: "compare", call: judged(judge.Rules{})},
	{name: "`--strict`", call: judged(judge.Rules{Strict: true})},
	{name: "`--gate`", call: judged(judge.Rules{Gate: true})},
	{name: "one point", call: alone(judge.Rules{})},
	{name: "one point, strict", call: alone(judge.Rules{Strict: true})},
	{name: "benchstat", peer: true, call: each(benchstat)},
	{name: "benchstat, 1 process", peer: true, call: each(benchstatOneProcess)},
	{name: "U of runs", peer: true, call: each(uOfRuns)},
	{name: "Welch, pooled", peer: true, call: each(welchPooled)},
	{name: "mean ±5 %", peer: true, call: each(meanBeyond)},
}

// judged returns a comparison of all points.
func judged(r judge.Rules) func(sweep []point) []int {
	return func(sweep []point) []int {
		pairs := make([]judge.Pair, len(sweep))
		for i := range sweep {
			pairs[i] = sweep[i].pair()
		}
		calls := make([]int, len(sweep))
		for i, o := range judge.Alone(pairs, r).Outcomes {
			calls[i] = called(o.Verdict)
		}
		return calls
	}
}

func called(v judge.Verdict) int {
	switch v {
	case judge.Regressed:
		return 1
	case judge.Improved:
		return -1
	}
	return 0
}

// alone is as many comparisons as there are points: none is corrected for the others.
func alone(r judge.Rules) func(sweep []point) []int {
	return each(func(p *point) int {
		return called(judge.Alone([]judge.Pair{p.pair()}, r).Outcomes[0].Verdict)
	})
}

func each(call func(p *point) int) func(sweep []point) []int {
	return func(sweep []point) []int {
		calls := make([]int, len(sweep))
		for i := range sweep {
			calls[i] = call(&sweep[i])
		}
		return calls
	}
}

// benchstat calls different what it prints without a ~: p of at most 0.05 of all iterations of a side.
func benchstat(p *point) int {
	return benchstatOf(pooled(p.base, 1), pooled(p.head, p.factor))
}

// benchstatOneProcess has of each side 10 lines of one process, as go test -count=10 prints them.
func benchstatOneProcess(p *point) int {
	return benchstatOf(batches(p.base[0], 1), batches(p.head[0], p.factor))
}

// uOfRuns is benchstat with one value of each run.
func uOfRuns(p *point) int {
	pair := p.pair()
	return benchstatOf(pair.Base, pair.Head)
}

// benchstatOf is benchstat's own rule: p of at most 0.05, and the medians say which way. The module benchmarks/ compares p and
// medians with those of benchstat's package.
func benchstatOf(base, head []float64) int {
	if _, p := stat.MannWhitney(base, head); p > .05 {
		return 0
	}
	return sign(median(head) - median(base))
}

// welchPooled returns the t test of Welch at 5 %, of all iterations of a side.
func welchPooled(p *point) int {
	test, ok := stat.Welch(pooled(p.base, 1), pooled(p.head, p.factor))
	if !ok || !(test.P() < .05) {
		return 0
	}
	return sign(test.Difference)
}

// meanBeyond calls different what has a mean of all iterations that is 5 % off.
func meanBeyond(p *point) int {
	change := mean(pooled(p.head, p.factor))/mean(pooled(p.base, 1)) - 1
	if math.Abs(change) <= .05 {
		return 0
	}
	return sign(change)
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// pooled returns the samples of all runs.
func pooled(runs []run, factor float64) []float64 {
	values := make([]float64, 0, len(runs)*len(runs[0].samples))
	for _, r := range runs {
		for _, v := range r.samples {
			values = append(values, factor*v)
		}
	}
	return values
}

// batches returns the means of a tenth of the samples of a run each, one after the other.
func batches(r run, factor float64) []float64 {
	const count = 10
	values := make([]float64, count)
	for i := range values {
		values[i] = factor * mean(r.samples[i*len(r.samples)/count:(i+1)*len(r.samples)/count])
	}
	return values
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
