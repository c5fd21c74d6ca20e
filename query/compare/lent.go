package compare

import (
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// lent is what the pairs of a family tell of one more of them.
type lent struct {
	runs, blocks stat.Prior // of the variance of a run of either side, and of the difference of a block
	base, head   stat.Prior // of that of a run of one side
	far          jumps
	many         bool      // pairs enough to say what the runs of one more of them may do
	nights       []float64 // what earlier sessions of all points differed by, ascending
	wander       float64   // by how much more the mean of blocks varies than that of as many that know nothing of one another
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
func (l *lent) alike(p *Pair, size float64) float64 {
	if !l.many || p.Confounded || !l.far.never(size) {
		return 1
	}
	return l.far.chance(size, len(p.Base), len(p.Head))
}

// Before anything is known of a family, blocks that follow one another are taken to be a little correlated, as if so many
// blocks had said so. Blocks that are by more than mostRho drift, which is nothing that a mean varies by.
const (
	expectedRho   = .06
	expectedCount = 30
	mostRho       = .5
)

// wandering is what a mean of blocks varies by more where they are correlated as in the family: (1+ρ)/(1-ρ) of the
// variance, as of a long series whose correlation falls geometrically. Turns take out what is slow, but not all of it: of
// runs correlated by a half, blocks are by an eighth.
func wandering(drafts []draft) float64 {
	sum, count := expectedRho*expectedCount, float64(expectedCount)
	for i := range drafts {
		sum, count = sum+drafts[i].rho*drafts[i].blocks, count+drafts[i].blocks
	}
	rho := min(max(sum/count, 0), mostRho)
	return (1 + rho) / (1 - rho)
}

// countJudged counts the pairs that have runs enough for a verdict.
func countJudged(drafts []draft) (n int) {
	for i := range drafts {
		if drafts[i].df > 0 {
			n++
		}
	}
	return n
}

func lentBy(drafts []draft) lent {
	fit := func(of Method, variance func(d *draft) (variance, df float64)) stat.Prior {
		variances, df := make([]float64, 0, len(drafts)), make([]float64, 0, len(drafts))
		for i := range drafts {
			if d := &drafts[i]; d.outcome.Method == of && d.df > 0 {
				v, f := variance(d)
				variances, df = append(variances, v), append(df, f)
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
	both := func(d *draft) (float64, float64) { return d.pooled, d.df }
	l := lent{
		runs: fit(MethodRuns, both), blocks: fit(MethodBlocks, both),
		far: allJumps(drafts), many: countJudged(drafts) >= leastFamily, wander: wandering(drafts),
	}
	if slices.ContainsFunc(drafts, func(d draft) bool { return d.base.N != d.head.N }) {
		l.base = fit(MethodRuns, func(d *draft) (float64, float64) { return d.base.Variance, d.base.DF })
		l.head = fit(MethodRuns, func(d *draft) (float64, float64) { return d.head.Variance, d.head.DF })
	}
	for i := range drafts {
		l.nights = append(l.nights, drafts[i].nights...)
	}
	slices.Sort(l.nights)
	return l
}
