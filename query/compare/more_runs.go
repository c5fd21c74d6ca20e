package compare

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// moreRuns is how many more runs a side would settle the pair. Where the estimate is beyond the dead zone, they are to
// tell it from 0 (or from the dead zone, if the rule is strict), as one of a family; within it, to show that it stays there.
func (d *draft) moreRuns(p *Pair, rules Rules, family int) int {
	o := d.outcome
	least := LeastRuns
	if rules.Gate {
		least = FirmRuns
	}
	if math.IsNaN(o.Variance) || d.session > 0 {
		return max(least-p.Runs(), 0)
	}
	size := math.Abs(o.Change.Value)
	distance := o.DeadZone - size
	switch {
	case size >= o.DeadZone && (rules.Strict || p.Ordered):
		distance = size - o.DeadZone
	case size >= o.DeadZone:
		distance = size
	}
	variance, have := o.Variance, p.Runs()
	if size >= o.DeadZone {
		variance *= corrected(family)
	}
	if p.paired() { // of a difference, which has the variance of two runs
		variance, have = variance/2, len(p.Blocks)
	}
	runs, ok := stat.RunsNeeded(variance, distance)
	if !ok {
		return 0
	}
	return max(runs-have, least-have, 1)
}

// eventually is the number of pairs that can be judged once there are enough runs.
func eventually(pairs []Pair) (family int) {
	for i := range pairs {
		if p := &pairs[i]; p.Barred == "" && p.Runs() > 0 && !(p.Confounded && len(p.History) < LeastHistory) {
			family++
		}
	}
	return family
}

// corrected is by how many times as many runs it takes to find a difference among a family of pairs as it takes to find
// it alone: for the smallest p of the family, which both corrections multiply by the number of pairs, in 4 of 5 cases.
func corrected(family int) float64 {
	const found = .8416 // the normal quantile of 4 in 5
	normal := func(level float64) float64 {
		return stat.TTest{StdErr: 1, DF: math.Inf(1)}.Interval(1 - level).High
	}
	ratio := (normal(Level/float64(max(family, 1))) + found) / (normal(Level) + found)
	return ratio * ratio
}
