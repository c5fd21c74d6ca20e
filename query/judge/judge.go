package judge

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Judge compares families of pairs, one for each metric. Each lends itself variances and is corrected on its own; a gate,
// which is one decision, is corrected over all of them.
//
// The effect is the shift of Hodges and Lehmann with its interval of ranks; where one side has more runs than the other it
// covers that of Welch's t test too. Runs that took turns are compared block by block, from 6 blocks on, unless the family
// shows that its blocks have too little in common for that to be surer. Its p is the largest of several:
//
//   - that of a t test of the mean locations, in which the variance is the larger one of the pair's own and that moderated
//     by the other pairs' (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004); with fewer than 10
//     pairs Welch's; of blocks, that of blocks as correlated as they are in the family;
//   - with more runs on one side than on the other, the same with a variance for each side;
//   - that of a side of which most runs jumped, as single runs do in the family;
//   - between different sessions, that of the change among the point's own sessions, and how often sessions of the family
//     differed by as much.
//
// It is adjusted over the family by Benjamini and Hochberg, in a gate by Holm. A change is one whose adjusted p is below
// 0.05, that is at least as large as the dead zone and two steps of the clock, and whose interval excludes 0; the strict rule
// tests against the dead zone in place of 0 (McCarthy and Smyth, Bioinformatics 25, 2009). Unchanged is an interval within
// the dead zone (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), which a coarse clock makes too wide
// for that. Where in a session one side ran before the other there is no verdict.
func Judge(families [][]Pair, rules Rules) []Judgement {
	judgements := make([]Judgement, len(families))
	drafts := make([][]draft, len(families))
	for i, pairs := range families {
		drafts[i] = judgements[i].draft(pairs, rules)
	}
	corrected := drafts // each on its own
	if rules.Gate && len(families) > 0 {
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
		drafts[i].measure(&pairs[i])
	})
	lent := lentBy(drafts)
	j.Runs, j.Blocks = lent.runs, lent.blocks
	inParallel(len(pairs), func(i int) {
		drafts[i].estimate(&pairs[i], lent.apart)
		drafts[i].test(&pairs[i], &lent, rules)
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
	outcome   *Outcome
	spend     float64        // see Spend
	judgeable bool           // it has runs enough for a verdict, and they have a variance
	runs      sampleVariance // of a run of either side
	blocks    sampleVariance // of the difference of a block; no degrees of freedom: there are too few
	base      stat.Spread
	head      stat.Spread
	far       far     // its runs that are far from the others of their side
	farBlocks far     // its blocks that are far from the others
	rho       float64 // correlation of blocks that follow one another
	rhoOf     float64 // blocks that it is of: 0 where it is not known

	paired  bool       // it is judged by blocks
	own     stat.TTest // of the pair alone
	factor  float64    // of the variance, in that of the mean difference
	nights  []float64  // what its earlier sessions differed by, each from the one before it
	session float64    // half-width of the interval of what two sessions differ by; 0 where it does not matter
}

// sampleVariance is a variance with its degrees of freedom.
type sampleVariance struct{ value, df float64 }

// measure finds how much the runs of a pair differ, and its blocks.
func (d *draft) measure(p *Pair) {
	d.spend = p.spend()
	variance, df, known := stat.PooledVariance(p.Base, p.Head)
	if known {
		d.runs = sampleVariance{variance, df}
	}
	d.sides(p)
	if known {
		d.far.look(p.Base)
		d.far.look(p.Head)
	}
	if known && p.inBlocks() {
		of, ok := stat.SpreadOf(p.Blocks)
		known = ok
		d.blocks = sampleVariance{of.Variance, of.DF}
		d.farBlocks.look(p.Blocks)
		if rho, ok := stat.Neighbours(p.Blocks); ok {
			d.rho, d.rhoOf = rho, of.N
		}
	}
	d.judgeable = known && p.Runs() >= leastRuns
	d.sessions(p)
}

// estimate is what a pair says on its own: by its blocks, if it has enough, or apart from them.
func (d *draft) estimate(p *Pair, apart bool) {
	o := d.outcome
	o.P, o.Adjusted, o.Noise, o.Variance, o.DF = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	o.DeadZone = max(p.DeadZone, quanta*p.Resolution)
	o.Method = MethodRuns
	if p.Runs() == 0 {
		o.Change = stat.Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
		return
	}
	var known bool // finite
	defer func() { d.judgeable = d.judgeable && known }()
	if d.paired = p.inBlocks() && !apart; d.paired {
		o.Method = MethodBlocks
		o.Change = stat.PairedShift(p.Blocks, p.confidence())
		if len(p.Blocks) < p.leastRanked() {
			o.Change.Confidence = 0
		}
		d.own, known = stat.OneSample(p.Blocks)
		d.factor = 1 / float64(len(p.Blocks))
		return
	}
	o.Change = stat.Shift(p.Base, p.Head, p.confidence())
	d.own, known = stat.Welch(p.Base, p.Head)
	d.factor = 1/float64(len(p.Base)) + 1/float64(len(p.Head))
}

// sessions finds what two sessions of the point differ by, by chance.
func (d *draft) sessions(p *Pair) {
	d.outcome.SessionSD = math.NaN()
	if !p.Confounded || len(p.History) < LeastHistory {
		return
	}
	noise, ok := stat.SessionNoise(p.History)
	if !ok {
		return
	}
	d.outcome.SessionSD, d.nights = noise.SD, noise.Differences
	d.session = among(p, noise.SD, 0).Interval(p.confidence()).High
}

// among is the test of a difference between two of the point's sessions.
func among(p *Pair, sd, difference float64) stat.TTest {
	return stat.TTest{Difference: difference, StdErr: math.Sqrt2 * sd, DF: float64(len(p.History) - 1)}
}

// amongFew is among for chances far below 5 %. A deviation that is the median of differences, which is the least that it is
// taken for, is worth as much as one of about 0.4 times as many sessions: by simulation the tails are right to 1 in 10,000
// from 5 sessions to 50, where those of H-1 are 2 to 12 times too light.
func amongFew(p *Pair, sd, difference float64) stat.TTest {
	test := among(p, sd, difference)
	test.DF = 1 + .4*float64(len(p.History))
	return test
}

// sides are the variances of the sides, of which one may be of few runs that vary much.
func (d *draft) sides(p *Pair) {
	var ok bool
	if d.base, ok = stat.SpreadOf(p.Base); !ok {
		return
	}
	d.head, _ = stat.SpreadOf(p.Head)
}

// test finds the p of a pair, and the interval of one with too few runs for that of ranks: of its own variance, as ranks
// would give it. One by what other pairs lend would be narrower, so that the next run could take a verdict away.
func (d *draft) test(p *Pair, lent *lent, rules Rules) {
	o := d.outcome
	o.Noise = (o.Change.High - o.Change.Low) / 2
	if !d.judgeable {
		return
	}
	wander := 1.
	if p.inBlocks() {
		wander = lent.wander
		d.wander(wander)
	}
	test, rule := d.tested(p, lent, wander)
	if len(p.Base) != len(p.Head) && !d.paired && o.Change.Confidence > 0 {
		// Ranks of a side of few runs that vary much are those of the many of the other.
		interval := d.own.Interval(p.confidence())
		o.Change.Low, o.Change.High = min(o.Change.Low, interval.Low), max(o.Change.High, interval.High)
	}
	if o.Change.Confidence == 0 {
		if !d.paired {
			o.Method = MethodT
		}
		interval := d.own.Interval(p.confidence())
		o.Change.Low, o.Change.High, o.Change.Confidence = interval.Low, interval.High, interval.Confidence
	}
	o.Noise = (o.Change.High - o.Change.Low) / 2
	d.widen(p)
	o.Strict = rules.Strict || p.Runs() < FirmRuns || p.Ordered
	if d.judged(p, rules) {
		o.Rule = rule
		d.chance(p, test, lent)
		switch {
		case !(o.P < Level): // is no change, whatever jumped
		case d.paired:
			o.less(RuleJumps, lent.farBlocks.blocks(p.Blocks, o.Change.Value))
		default:
			o.less(RuleJumps, lent.far.sides(p.Base, p.Head, o.Change.Value))
		}
		if p.Confounded {
			o.less(RuleNights, lent.seen(math.Abs(o.Change.Value)))
		}
	}
}

// wander makes the test and the interval of blocks those of blocks that are correlated.
func (d *draft) wander(factor float64) {
	d.own.StdErr *= math.Sqrt(factor)
	c := &d.outcome.Change
	c.Low, c.High = c.Value-math.Sqrt(factor)*(c.Value-c.Low), c.Value+math.Sqrt(factor)*(c.High-c.Value)
}

// tested is the test of a pair with what the family lends it. Where one side has more runs than the other, it is that of
// one variance for both, or that of one for each, whichever is less sure: the many runs of a calm side say nothing of the
// few of another.
func (d *draft) tested(p *Pair, lent *lent, wander float64) (stat.TTest, Rule) {
	o := d.outcome
	prior, own := lent.runs, d.runs
	switch {
	case d.paired:
		prior, own = lent.blocks, d.blocks
	case d.blocks.value > opposed*2*d.runs.value: // its blocks tell what the family's do not
		own = sampleVariance{d.blocks.value / 2, d.blocks.df}
	}
	o.Variance, o.DF = prior.Moderate(own.value, own.df)
	o.Variance *= wander
	if !(prior.Variance > 0) {
		return d.own, RuleT
	}
	test := stat.TTest{Difference: d.own.Difference, StdErr: math.Sqrt(o.Variance * d.factor), DF: o.DF}
	if d.paired || len(p.Base) == len(p.Head) {
		return test, RuleModerated
	}
	base, head := d.base, d.head
	base.Variance, base.DF = lent.base.Moderate(base.Variance, base.DF)
	head.Variance, head.DF = lent.head.Moderate(head.Variance, head.DF)
	if each := stat.WelchOf(d.own.Difference, base, head); each.P() > test.P() {
		o.Variance, o.DF = each.StdErr*each.StdErr/d.factor, each.DF
		return each, RuleSides
	}
	return test, RuleModerated
}

// driftable tells whether what differs between the sides may have come with time: nothing in the data tells a machine that
// wanders, or that bursts of other work slow down, from a change where one side ran after the other, unless no run differs
// from any other of its side. Of different sessions the history tells what that does.
func (d *draft) driftable(p *Pair) bool {
	return p.Ordered && !p.Confounded && d.own.StdErr > rounding*math.Abs(p.Base[0])
}

// judged tells whether a pair can have a verdict: whatever its p, it would mislead where it cannot.
func (d *draft) judged(p *Pair, rules Rules) bool {
	return p.Barred == "" && d.judgeable && !d.driftable(p) && !(rules.Gate && p.Runs() < FirmRuns) &&
		!(p.Confounded && math.IsNaN(d.outcome.SessionSD))
}

// widen makes the interval cover the step in which values were read, and what two sessions differ by, and the dead zone as
// wide as the latter.
func (d *draft) widen(p *Pair) {
	o := d.outcome
	o.Change.Low, o.Change.High = o.Change.Low-p.Resolution, o.Change.High+p.Resolution
	o.Noise += p.Resolution
	if d.session == 0 {
		return
	}
	o.Noise = max(o.Noise, d.session)
	o.DeadZone = max(o.DeadZone, d.session)
	o.Change.Low = min(o.Change.Low, o.Change.Value-d.session)
	o.Change.High = max(o.Change.High, o.Change.Value+d.session)
}

// rounding is the error of a location, relative to it: no more than that is no spread.
const rounding = 1e-13

// chance is the p of a pair: of its runs, and of its sessions where they differ.
func (d *draft) chance(p *Pair, test stat.TTest, lent *lent) {
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
		o.Rule = RuleRanks
		if seen := lent.alike(p, math.Copysign(math.Abs(test.Difference)-least, test.Difference)); seen < o.P {
			o.P, o.Rule = seen, RuleJumps
		}
	}
	if p.Confounded && d.session > 0 {
		o.less(RuleSessions, amongFew(p, o.SessionSD, test.Difference).PBeyond(least))
	}
}

// less takes the p of a rule that is less sure.
func (o *Outcome) less(rule Rule, p float64) {
	if p > o.P {
		o.P, o.Rule = p, rule
	}
}

// adjust corrects p over all pairs that can have a verdict. Those that have none whatever their p count with p = 1: they
// would lend the others a significance that they do not use themselves, as tests of volcano plots do (Ebrahimpoor and
// Goeman, Briefings in Bioinformatics 22, 2021).
func adjust(drafts []draft, rules Rules) (family int) {
	p, of := make([]float64, 0, len(drafts)), make([]int, 0, len(drafts))
	for i := range drafts {
		o := drafts[i].outcome
		switch {
		case math.IsNaN(o.P):
			continue
		case o.sizeable():
			p = append(p, min(o.P/drafts[i].spend, 1))
		default:
			p = append(p, 1)
		}
		of = append(of, i)
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
	case p.Runs() >= leastRuns && d.driftable(p):
		o.Reason = Order
	case !d.judged(p, rules):
		o.Reason = FewRuns
	case o.Adjusted < Level && o.sizeable():
		o.Verdict, o.Reason = direction(p, o.Change.Value), ""
	case stat.Equivalent(o.Change, max(p.DeadZone, d.session)), o.Change.Low == 0 && o.Change.High == 0:
		o.Verdict, o.Reason = Unchanged, ""
	}
	if o.Reason == Noise && quanta*p.Resolution > p.DeadZone && math.Abs(o.Change.Value) <= quanta*p.Resolution {
		o.Reason = Quantised
	}
	if o.Reason == Noise || o.Reason == FewRuns {
		o.MoreRuns = d.moreRuns(p, rules, family)
	}
}

// sizeable tells whether a change is one by its size and its interval, if it is none of chance.
func (o *Outcome) sizeable() bool {
	return math.Abs(o.Change.Value) >= o.DeadZone && (o.Change.Low > 0 || o.Change.High < 0)
}

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
