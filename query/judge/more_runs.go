package judge

import (
	"math"
	"sort"
)

// How surely more runs are to settle a pair, how surely its variance is not larger than what they are reckoned of, and how many
// more are worth being said.
const (
	settledShare = .85
	varianceLess = .8
	mostMore     = 500
)

// moreRuns is how many more runs a side are likely to settle the pair, 0 where that takes more than 500, or runs do not help.
//
// The number settles 85 % of the changes that the runs seen allow for, all alike likely beforehand: the estimate with more runs
// is then normal around that of now (assurance: O'Hagan, Stevens and Campbell, Pharmaceutical Statistics 4, 2005). The power at
// the change seen alone promises too much (Hoenig and Heisey, American Statistician 55, 2001). So does the variance seen, in half
// of all cases: its upper 80 % limit takes its place (Browne, Statistics in Medicine 14, 1995).
//
// A number is promised to settle 7 in 10 whatever the true change is, unless that is about the dead zone (TestMoreRunsSettle).
func (d *draft) moreRuns(p *Pair, rules Rules, family int) int {
	o := d.outcome
	least := leastRuns
	if rules.Gate {
		least = FirmRuns
	}
	if math.IsNaN(o.Variance) || d.session > 0 {
		return max(least-p.Runs(), 0)
	}
	if quanta*p.Resolution > p.DeadZone {
		return 0 // it is the clock
	}
	next := Spend(max(p.Looks, 1)+1, p.Planned)
	f := forecast{
		change: o.Change.Value, deadZone: o.DeadZone, variance: 2 * upperVariance(o.Variance, o.DF), have: p.Runs(), sides: 2,
		strict: rules.Strict || p.Ordered, family: normalQuantile(Level * next / float64(max(family, 1))), alone: normalQuantile((1 - Confidence) * next),
	}
	if d.paired { // of a difference, which has the variance of two runs
		f.variance, f.have, f.sides = f.variance/2, len(p.Blocks), 1
	}
	first := max(least-f.have, 1)
	more := first + sort.Search(mostMore+1-first, func(i int) bool { return f.settled(first+i) >= settledShare })
	if more > mostMore {
		return 0
	}
	return more
}

// forecast is what is known of a pair before it has more runs.
type forecast struct {
	change, deadZone float64
	variance         float64 // of a difference of two single runs, or of a block
	have             int     // runs a side, or blocks
	sides            int     // that have a variance of their own: 1 where it is that of blocks
	strict           bool    // a change has to be beyond the dead zone beyond chance
	family, alone    float64 // normal quantiles of a change that is found in its family, and of the interval
}

// settled is how likely it is that so many more runs settle the pair: that the estimate is then beyond the dead zone and
// chance, or so far within the dead zone that the interval is too.
func (f *forecast) settled(more int) float64 {
	have, all := float64(f.have), float64(f.have+more)
	stdErr := math.Sqrt(f.variance / all)
	df := float64(f.sides) * (all - 1)
	found := studentOf(f.family, df) * stdErr
	beyond := max(f.deadZone, found)
	if f.strict || f.have+more < FirmRuns {
		beyond = f.deadZone + found
	}
	within := max(f.deadZone-studentOf(f.alone, df)*stdErr, 0)
	spread := math.Sqrt(f.variance * (1/have - 1/all))
	above := func(level float64) float64 { return math.Erfc((level-f.change)/spread/math.Sqrt2) / 2 }
	return above(beyond) + 1 - above(-beyond) + above(-within) - above(within)
}

// upperVariance is the limit that a variance, estimated with so many degrees of freedom, exceeds in one of 5 cases: by the
// approximation of chi-squared of Wilson and Hilferty (Proceedings of the National Academy of Sciences 17, 1931).
func upperVariance(variance, df float64) float64 {
	if math.IsInf(df, 1) {
		return variance
	}
	part := 2 / (9 * df)
	root := 1 - part - normalQuantile(2*(1-varianceLess))*math.Sqrt(part)
	return variance / (root * root * root)
}

// normalQuantile is the quantile of the normal distribution that a share of its values exceeds, to both sides.
func normalQuantile(share float64) float64 { return math.Sqrt2 * math.Erfcinv(share) }

// studentOf is the quantile of Student's t for one of the normal distribution: the first terms of Abramowitz and Stegun,
// Handbook of Mathematical Functions, 1964, 26.7.5.
func studentOf(normal, df float64) float64 {
	square := normal * normal
	return normal * (1 + (square+1)/(4*df) + ((5*square+16)*square+3)/(96*df*df))
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
