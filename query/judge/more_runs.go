package judge

import (
	"math"
	"slices"
	"sort"

	"github.com/neurolens/neurolens/schema/stat"
)

// Settings of moreRuns: the probability with which the runs should decide the pair, the confidence of the upper limit of the
// variance, and the largest number that is reported.
const (
	decidedShare = .85
	varianceLess = .8
	maxMoreRuns  = 500
)

// moreRuns returns the number of further runs per side that would probably decide the pair; 0 if that is more than 500, or runs do not
// help.
//
// The number is chosen so that the pair is decided with a probability of 85 %, over all true changes that the data so far allow
// (assurance: O'Hagan, Stevens and Campbell, Pharmaceutical Statistics 4, 2005). The power at the estimated change would promise too
// much (Hoenig and Heisey, American Statistician 55, 2001). So would the estimated variance, in half of all cases; its upper 80 %
// confidence limit is used instead (Browne, Statistics in Medicine 14, 1995).
//
// At least 7 in 10 pairs are decided with this number of runs whatever the true change is, unless it is close to the equivalence margin
// (TestMoreRunsDecide).
func (d *draft) moreRuns(p *Pair, rules Rules, family int) int {
	o := d.outcome
	least := MinRuns
	if rules.Gate {
		least = FirmRuns
	}
	if math.IsNaN(o.Variance) || d.session > 0 {
		return max(least-p.Runs(), 0)
	}
	if quanta*p.Resolution > p.Margin {
		return 0 // the clock is too coarse
	}
	next := Spend(max(p.Looks, 1)+1, p.Planned)
	if o.Rule == RuleRanks {
		more := 1 + sort.Search(maxMoreRuns, func(i int) bool {
			base, head := slices.Repeat(p.Base[:1], len(p.Base)+1+i), slices.Repeat(p.Head[:1], len(p.Head)+1+i)
			_, chance := stat.MannWhitney(base, head)
			return chance < Level*next/float64(max(family, 1))
		})
		return max(more, least-p.Runs())
	}
	f := forecast{
		change: o.Change.Value, margin: o.Margin, variance: 2 * stat.UpperVariance(o.Variance, o.DF, varianceLess), have: p.Runs(), sides: 2,
		strict: rules.Strict || p.Ordered, family: normalQuantile(Level * next / float64(max(family, 1))), alone: normalQuantile((1 - Confidence) * next),
	}
	if d.paired { // the variance is the variance of a difference, which is the sum of the variances of two runs
		f.variance, f.have, f.sides = f.variance/2, len(p.Blocks), 1
	}
	first := max(least-f.have, 1)
	more := first + sort.Search(maxMoreRuns+1-first, func(i int) bool { return f.decided(first+i) >= decidedShare })
	if more > maxMoreRuns {
		return 0
	}
	return more
}

// forecast predicts the result of a pair with more runs.
type forecast struct {
	change, margin float64
	variance       float64 // of the difference of two single runs, or of a block
	have           int     // runs per side, or blocks
	sides          int     // number of variances: 2, or 1 for blocks
	strict         bool    // a change has to be significantly larger than the equivalence margin
	family, alone  float64 // normal quantiles for significance in the family, and for the interval
}

// decided returns the probability that this many more runs decide the pair: that the estimate is then significant and beyond the
// equivalence margin, or so far within the equivalence margin that the interval is too.
func (f *forecast) decided(more int) float64 {
	have, all := float64(f.have), float64(f.have+more)
	stdErr := math.Sqrt(f.variance / all)
	df := float64(f.sides) * (all - 1)
	found := studentOf(f.family, df) * stdErr
	beyond := max(f.margin, found)
	if f.strict || f.have+more < FirmRuns {
		beyond = f.margin + found
	}
	within := max(f.margin-studentOf(f.alone, df)*stdErr, 0)
	spread := math.Sqrt(f.variance * (1/have - 1/all))
	above := func(level float64) float64 { return math.Erfc((level-f.change)/spread/math.Sqrt2) / 2 }
	return above(beyond) + 1 - above(-beyond) + above(-within) - above(within)
}

// normalQuantile returns the two-sided quantile of the normal distribution: the distance from 0 that the given share of its values
// exceeds.
func normalQuantile(share float64) float64 { return math.Sqrt2 * math.Erfcinv(share) }

// studentOf converts a quantile of the normal distribution to one of Student's t, with the first terms of Abramowitz and Stegun,
// Handbook of Mathematical Functions, 1964, 26.7.5.
func studentOf(normal, df float64) float64 {
	square := normal * normal
	return normal * (1 + (square+1)/(4*df) + ((5*square+16)*square+3)/(96*df*df))
}

// countEventual returns the number of pairs that can be judged once they have enough runs.
func countEventual(pairs []Pair) (family int) {
	for i := range pairs {
		if p := &pairs[i]; p.Barred == "" && p.Runs() > 0 && !(p.Confounded && len(p.History) < MinHistory) {
			family++
		}
	}
	return family
}
