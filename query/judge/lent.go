package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// lent is what the pairs of a family tell of one more of them.
type lent struct {
	runs, blocks stat.Prior // of the variance of a run of either side, and of the difference of a block
	base, head   stat.Prior // of that of a run of one side
	far          jumps      // of runs
	farBlocks    jumps      // of blocks
	many         bool       // pairs enough to say what the runs of one more of them may do
	nights       []float64  // what earlier sessions of all points differed by, ascending
	apart        bool       // runs of a block have too little in common to be compared with one another
	wander       float64    // by how much more the mean of blocks varies than that of as many that know nothing of one another
}

// seen is how often two sessions, one after the other, differed by as much, in the family: 0 where none did. Noise that is
// taken for normal says nothing of a machine that is slow on some days.
func (l *lent) seen(size float64) float64 {
	const alike = .9 // of the size
	at, _ := slices.BinarySearch(l.nights, alike*size)
	return float64(len(l.nights)-at) / float64(max(len(l.nights), 1))
}

// alike is the chance that all runs of a side, which do not differ from one another, are off by so much, where no run of the
// family is: ranks of few runs cannot be sure of anything. It is 1 where the family cannot tell, where some run is off by as
// much, as its point may be off half of the time, and where the sides are of two sessions, whose runs share what they are off.
func (l *lent) alike(p *Pair, change float64) float64 {
	if !l.many || p.Confounded || !l.far.never(math.Abs(change)) {
		return 1
	}
	return l.far.sides(p.Base, p.Head, change)
}

// countJudged counts the pairs that have runs enough for a verdict.
func countJudged(drafts []draft) (n int) {
	for i := range drafts {
		if drafts[i].judgeable {
			n++
		}
	}
	return n
}

// lentBy is what pairs lend, from what was measured of them.
func lentBy(drafts []draft) lent {
	l := lent{
		runs: fit(drafts, func(d *draft) sampleVariance { return d.runs }), blocks: fit(drafts, func(d *draft) sampleVariance { return d.blocks }),
		far: runJumps(drafts), farBlocks: blockJumps(drafts),
		many: countJudged(drafts) >= leastFamily, wander: wandering(drafts),
	}
	if slices.ContainsFunc(drafts, func(d draft) bool { return d.base.N != d.head.N }) {
		l.base = fit(drafts, func(d *draft) sampleVariance { return sampleVariance{d.base.Variance, d.base.DF} })
		l.head = fit(drafts, func(d *draft) sampleVariance { return sampleVariance{d.head.Variance, d.head.DF} })
	}
	l.apart = l.betterApart(drafts)
	for i := range drafts {
		l.nights = append(l.nights, drafts[i].nights...)
	}
	slices.Sort(l.nights)
	return l
}

// fit is what the pairs that can be judged say of a variance.
func fit(drafts []draft, of func(d *draft) sampleVariance) stat.Prior {
	variances, df := make([]float64, 0, len(drafts)), make([]float64, 0, len(drafts))
	for i := range drafts {
		if s := of(&drafts[i]); drafts[i].judgeable && s.df > 0 {
			variances, df = append(variances, s.value), append(df, s.df)
		}
	}
	if len(variances) < leastFamily {
		return stat.Prior{}
	}
	prior, ok := stat.FitPrior(variances, df)
	if !ok {
		return stat.Prior{}
	}
	return prior
}
