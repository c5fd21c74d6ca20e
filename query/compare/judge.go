package compare

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Judge compares a family of pairs.
//
// The effect is the shift of Hodges and Lehmann with its interval of ranks. Its p is that of a t test of the mean
// locations, in which the variance is the larger one of the pair's own and that moderated by the other pairs' (Smyth,
// Statistical Applications in Genetics and Molecular Biology 3, 2004); with fewer than 10 pairs Welch's. It is adjusted
// over the family by Benjamini and Hochberg, in a gate by Holm. Between different sessions it is at least that of the
// change among the point's own sessions. A change is one whose adjusted p is below 0.05, that is at least as large as
// the dead zone, and whose interval excludes 0; the strict rule tests against the dead zone in place of 0 (McCarthy and
// Smyth, Bioinformatics 25, 2009). Unchanged is an interval within the dead zone (Schuirmann, Journal of
// Pharmacokinetics and Biopharmaceutics 15, 1987).
func Judge(pairs []Pair, rules Rules) Judgement {
	return JudgeAll([][]Pair{pairs}, rules)[0]
}

// JudgeAll judges families, one for each metric. Each lends itself variances and is corrected on its own; a gate, which is
// one decision, is corrected over all of them.
func JudgeAll(families [][]Pair, rules Rules) []Judgement {
	judgements := make([]Judgement, len(families))
	drafts := make([][]draft, len(families))
	for i, pairs := range families {
		drafts[i] = judgements[i].draft(pairs, rules)
	}
	corrected := drafts // each on its own
	if rules.Gate {
		corrected = [][]draft{slices.Concat(drafts...)}
	}
	for i, family := range corrected {
		judgements[i].Family = adjust(family, rules)
	}
	all := 0
	for _, pairs := range families {
		all += eventually(pairs)
	}
	for i, pairs := range families {
		family := eventually(pairs)
		if rules.Gate {
			family, judgements[i].Family = all, judgements[0].Family
		}
		inParallel(len(pairs), func(k int) { drafts[i][k].decide(&pairs[k], rules, family) })
	}
	return judgements
}

// draft comes to all that a family says before it is corrected.
func (j *Judgement) draft(pairs []Pair, rules Rules) []draft {
	j.Outcomes = make([]Outcome, len(pairs))
	drafts := make([]draft, len(pairs))
	inParallel(len(pairs), func(i int) {
		drafts[i].outcome = &j.Outcomes[i]
		drafts[i].estimate(&pairs[i])
	})
	j.Runs, j.Blocks = priors(drafts)
	inParallel(len(pairs), func(i int) {
		prior := j.Runs
		if drafts[i].outcome.Method == MethodBlocks {
			prior = j.Blocks
		}
		drafts[i].test(&pairs[i], prior, rules)
	})
	return drafts
}

// inParallel calls do for 0 up to n, on all processors.
func inParallel(n int, do func(i int)) {
	const least = 256 // for a goroutine to pay
	parts := max(min(runtime.GOMAXPROCS(0), n/least), 1)
	var wait sync.WaitGroup
	for part := range parts {
		wait.Go(func() {
			for i := part * n / parts; i < (part+1)*n/parts; i++ {
				do(i)
			}
		})
	}
	wait.Wait()
}

// draft is an outcome in the making.
type draft struct {
	outcome *Outcome
	own     stat.TTest // of the pair alone
	pooled  float64    // variance of a run, or of the difference of a block
	df      float64
	factor  float64 // of the variance, in that of the mean difference
	session float64 // half-width of the interval of what two sessions differ by; 0 where it does not matter
}

// estimate is what a pair says on its own.
func (d *draft) estimate(p *Pair) {
	o := d.outcome
	o.P, o.Adjusted, o.SessionSD, o.Noise = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	o.Variance, o.DF = math.NaN(), math.NaN()
	o.DeadZone = max(p.DeadZone, quanta*p.Resolution)
	o.Method = MethodRuns
	if p.Runs() == 0 {
		o.Change = stat.Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
		return
	}
	var known bool
	if p.paired() {
		o.Method = MethodBlocks
		o.Change = stat.PairedShift(p.Blocks, Confidence)
		if len(p.Blocks) < leastRankedBlocks {
			o.Change.Confidence = 0
		}
		n := float64(len(p.Blocks))
		d.own, known = stat.OneSample(p.Blocks)
		d.pooled, d.df, d.factor = d.own.StdErr*d.own.StdErr*n, d.own.DF, 1/n
	} else {
		o.Change = stat.Shift(p.Base, p.Head, Confidence)
		d.own, known = stat.Welch(p.Base, p.Head)
		if pooled, df, ok := stat.PooledVariance(p.Base, p.Head); ok {
			d.pooled, d.df = pooled, df
		}
		d.factor = 1/float64(len(p.Base)) + 1/float64(len(p.Head))
	}
	if !known || p.Runs() < LeastRuns {
		d.df = 0
	}
	d.sessions(p)
}

// sessions finds what two sessions of the point differ by, by chance.
func (d *draft) sessions(p *Pair) {
	if !p.Confounded || len(p.History) < LeastHistory {
		return
	}
	sd, ok := stat.SessionNoise(p.History)
	if !ok {
		return
	}
	d.outcome.SessionSD = sd
	d.session = among(p, sd, 0).Interval(Confidence).High
}

// among is the test of a difference between two of the point's sessions.
func among(p *Pair, sd, difference float64) stat.TTest {
	return stat.TTest{Difference: difference, StdErr: math.Sqrt2 * sd, DF: float64(len(p.History) - 1)}
}

// amongFew is among for chances far below 5 %. A deviation that is the median of differences is worth as much as one of
// about 0.4 times as many sessions: by simulation the tails are right to 1 in 10,000 from 5 sessions to 50, where those
// of H-1 are 2 to 12 times too light.
func amongFew(p *Pair, sd, difference float64) stat.TTest {
	test := among(p, sd, difference)
	test.DF = 1 + .4*float64(len(p.History))
	return test
}

// priors are the variances that the runs of pairs, and their blocks, borrow from.
func priors(drafts []draft) (runs, blocks stat.Prior) {
	fit := func(of Method) stat.Prior {
		variances, df := make([]float64, 0, len(drafts)), make([]float64, 0, len(drafts))
		for i := range drafts {
			if d := &drafts[i]; d.outcome.Method == of && d.df > 0 {
				variances, df = append(variances, d.pooled), append(df, d.df)
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
	return fit(MethodRuns), fit(MethodBlocks)
}

// test finds the p of a pair, and the interval of one with too few runs for that of ranks: of its own variance, as ranks
// would give it. One by what other pairs lend would be narrower, so that the next run could take a verdict away.
func (d *draft) test(p *Pair, prior stat.Prior, rules Rules) {
	o := d.outcome
	o.Noise = (o.Change.High - o.Change.Low) / 2
	if d.df == 0 {
		return
	}
	test := d.own
	o.Variance, o.DF = d.pooled, d.df
	if prior.Variance > 0 {
		o.Variance, o.DF = prior.Moderate(d.pooled, d.df)
		test = stat.TTest{Difference: d.own.Difference, StdErr: math.Sqrt(o.Variance * d.factor), DF: o.DF}
	}
	if o.Change.Confidence == 0 {
		if !p.paired() {
			o.Method = MethodT
		}
		interval := d.own.Interval(Confidence)
		o.Change.Low, o.Change.High, o.Change.Confidence = interval.Low, interval.High, interval.Confidence
	}
	o.Noise = (o.Change.High - o.Change.Low) / 2
	d.widen()
	o.Strict = rules.Strict || p.Runs() < FirmRuns || p.Ordered
	if d.judged(p, rules) {
		d.chance(p, test)
	}
}

// judged tells whether a pair can have a verdict: whatever its p, it would mislead where it cannot.
func (d *draft) judged(p *Pair, rules Rules) bool {
	return p.Barred == "" && d.df > 0 && !(rules.Gate && p.Runs() < FirmRuns && !p.paired()) &&
		!(p.Confounded && math.IsNaN(d.outcome.SessionSD))
}

// widen makes the interval cover what two sessions differ by, and the dead zone as wide.
func (d *draft) widen() {
	if d.session == 0 {
		return
	}
	o := d.outcome
	o.Noise = max(o.Noise, d.session)
	o.DeadZone = max(o.DeadZone, d.session)
	o.Change.Low = min(o.Change.Low, o.Change.Value-d.session)
	o.Change.High = max(o.Change.High, o.Change.Value+d.session)
}

// rounding is the error of a location, relative to it: no more than that is no spread.
const rounding = 1e-13

// chance is the p of a pair: of its runs, and of its sessions where they differ.
func (d *draft) chance(p *Pair, test stat.TTest) {
	o := d.outcome
	least := 0.0
	if o.Strict {
		least = o.DeadZone
	}
	switch {
	case test.StdErr > rounding*math.Abs(p.Base[0]):
		o.P = test.PBeyond(least)
	case math.Abs(test.Difference) <= least: // no run differs from another of its side
		o.P = 1
	default:
		_, o.P = stat.MannWhitney(p.Base, p.Head)
	}
	if p.Confounded && d.session > 0 {
		o.P = max(o.P, amongFew(p, o.SessionSD, test.Difference).PBeyond(least))
	}
}

// adjust corrects p over all pairs that can have a verdict.
func adjust(drafts []draft, rules Rules) (family int) {
	p, of := make([]float64, 0, len(drafts)), make([]int, 0, len(drafts))
	for i := range drafts {
		if !math.IsNaN(drafts[i].outcome.P) {
			p, of = append(p, drafts[i].outcome.P), append(of, i)
		}
	}
	adjusted := stat.BenjaminiHochberg(p)
	if rules.Gate {
		adjusted = stat.Holm(p)
	}
	for k, i := range of {
		drafts[i].outcome.Adjusted = adjusted[k]
	}
	return len(p)
}

// decide comes to the verdict.
func (d *draft) decide(p *Pair, rules Rules, family int) {
	o := d.outcome
	o.Verdict, o.Reason = Inconclusive, Noise
	switch {
	case p.Barred != "":
		o.Verdict, o.Reason = Estimate, p.Barred
	case p.Runs() == 0:
		o.Reason = NoValues
	case p.Confounded && math.IsNaN(o.SessionSD):
		o.Reason = Sessions
	case !d.judged(p, rules):
		o.Reason = FewRuns
	case o.Adjusted < Level && math.Abs(o.Change.Value) >= o.DeadZone && excludesZero(o.Change):
		o.Verdict, o.Reason = direction(p, o.Change.Value), ""
	case stat.Equivalent(o.Change, o.DeadZone), o.Change.Low == 0 && o.Change.High == 0:
		o.Verdict, o.Reason = Unchanged, ""
	}
	if o.Reason == Noise || o.Reason == FewRuns {
		o.MoreRuns = d.moreRuns(p, rules, family)
	}
}

func excludesZero(e stat.Estimate) bool { return e.Low > 0 || e.High < 0 }

func direction(p *Pair, change float64) Verdict {
	switch {
	case !p.Higher && !p.Lower:
		return Changed
	case change > 0 == p.Lower:
		return Regressed
	}
	return Improved
}

// BetterOf sets which way is better.
func (p *Pair) BetterOf(better schema.Better) {
	p.Lower, p.Higher = better == schema.BetterLower, better == schema.BetterHigher
}
