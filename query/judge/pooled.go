package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// pooled has the estimates that all pairs of a family share: priors for an empirical Bayes test, and how often outliers occur.
type pooled struct {
	runs, blocks      stat.Prior            // priors of the variance of a run, and of the difference of a block
	base, head        stat.Prior            // priors of the variance of a run of one side
	runJumps          jumps                 // outliers among runs
	blockJumps        jumps                 // outliers among blocks
	large             bool                  // there are enough pairs to estimate how often runs are outliers
	sessionDeltas     []float64             // differences between consecutive earlier sessions, of all points, ascending
	unpaired          bool                  // the runs of a block have too little in common to be compared block by block
	unsettled         bool                  // the earlier sessions differ more and more: see growth
	periodic          map[periodKey]float64 // the largest mean difference of blocks that a periodic disturbance may make
	varianceInflation float64               // factor of the variance of a mean of blocks, because consecutive blocks are correlated
}

// exceedance returns the share of consecutive sessions in the family that differed by at least a size; 0: none. A normal model of noise
// would miss a machine that is slow on some days.
func (l *pooled) exceedance(size float64) float64 {
	const nearly = .9 // of the size
	at, _ := slices.BinarySearch(l.sessionDeltas, nearly*size)
	return float64(len(l.sessionDeltas)-at) / float64(max(len(l.sessionDeltas), 1))
}

// mayBePeriodic reports whether the order of the sides of a pair may follow a periodic disturbance, and the difference is not too large for that.
func (l *pooled) mayBePeriodic(p *Pair) bool {
	most, is := l.periodic[p.periodKey()]
	return is && p.flippable() && math.Abs(mean(p.Blocks)) <= most
}

// pOutlier returns the probability that all runs of a side, which are identical, are outliers of this size although no run of the family
// is. It is needed because rank tests of few runs are never significant. It is 1 if there are too few pairs, if some run of the family is
// an outlier of this size, and if the sides are from different sessions, whose runs may be off together.
func (l *pooled) pOutlier(p *Pair, change float64) float64 {
	if !l.large || p.Confounded || !l.runJumps.never(math.Abs(change)) {
		return 1
	}
	return l.runJumps.sides(p.Base, p.Head, change)
}

// countJudged counts the pairs that have enough runs for a verdict.
func countJudged(drafts []draft) (n int) {
	for i := range drafts {
		if drafts[i].judgeable {
			n++
		}
	}
	return n
}

// poolByScale calls pool for the pairs of each scale: the variance of logarithms says nothing about the variance of values.
func poolByScale(pairs []Pair, drafts []draft) (ratios, differences pooled) {
	var byRatio, byDifference []draft
	for i := range pairs {
		if pairs[i].Difference {
			byDifference = append(byDifference, drafts[i])
		}
	}
	if len(byDifference) == 0 { // the usual case
		return pool(drafts), pooled{}
	}
	for i := range pairs {
		if !pairs[i].Difference {
			byRatio = append(byRatio, drafts[i])
		}
	}
	return pool(byRatio), pool(byDifference)
}

// pool estimates the shared properties of the pairs of a family.
func pool(drafts []draft) pooled {
	l := pooled{
		runs: fit(drafts, func(d *draft) sampleVariance { return d.runs }), blocks: fit(drafts, func(d *draft) sampleVariance { return d.blocks }),
		runJumps: runJumps(drafts), blockJumps: blockJumps(drafts),
		large: countJudged(drafts) >= minFamily, varianceInflation: varianceInflation(drafts),
	}
	l.base = fit(drafts, func(d *draft) sampleVariance { return sampleVariance{d.base.Variance, d.base.DF} })
	l.head = fit(drafts, func(d *draft) sampleVariance { return sampleVariance{d.head.Variance, d.head.DF} })
	l.unpaired = l.prefersUnpaired(drafts)
	grown, known := 0, 0
	for i := range drafts {
		l.sessionDeltas = append(l.sessionDeltas, drafts[i].sessionDeltas...)
		if drafts[i].sessionDeltas != nil {
			known++
		}
		if drafts[i].growth.grew {
			grown++
		}
	}
	l.unsettled = grown > 0 && float64(grown) >= grownShare*float64(known)
	slices.Sort(l.sessionDeltas)
	return l
}

// fit estimates the prior of a variance from the pairs that can be judged.
func fit(drafts []draft, of func(d *draft) sampleVariance) stat.Prior {
	variances, df := make([]float64, 0, len(drafts)), make([]float64, 0, len(drafts))
	for i := range drafts {
		if s := of(&drafts[i]); drafts[i].judgeable && s.df > 0 {
			variances, df = append(variances, s.value), append(df, s.df)
		}
	}
	if len(variances) < minFamily {
		return stat.Prior{}
	}
	prior, ok := stat.FitPrior(variances, df)
	if !ok {
		return stat.Prior{}
	}
	return prior
}
