package judge

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Judge judges families of pairs, one family per metric. P-values are corrected within each family. A gate makes one decision, so it is
// corrected over all families together. Variances are moderated among the pairs of a family that are on the same scale.
//
// The effect size is the Hodges-Lehmann estimate of the shift, with its rank interval; if one side has more runs than the other, or
// fewer than 5, the interval also covers that of Welch's t test. Interleaved runs are compared block by block, from 6 blocks on, unless the
// family shows that its blocks have too little in common for that to be more precise. P is the largest of several p-values:
//
//   - a t test of the mean locations. Its variance is moderated by the variances of the other pairs, and at least that of the pair
//     itself (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004). With fewer than 10 pairs it is Welch's
//     test. For blocks, the test allows for the correlation of consecutive blocks in the family;
//   - if the sides have different numbers of runs, or one varies much more, the same with a separate variance for each side;
//   - the chance that most runs of a side are outliers, given how often single runs of the family are;
//   - of 5 to 32 blocks, the share of the possible orders within the blocks that give as large a difference: if it is above 0.15, or the runs
//     of the family have a periodic component that may be as large;
//   - between different sessions, a t test against the differences of the point's own sessions, and how often sessions of the
//     family differed by as much.
//
// P is adjusted over the family with the Benjamini-Hochberg procedure, in a gate with Holm's. A pair has changed if the adjusted p
// is below 0.05, the estimate is at least the equivalence margin and two steps of the clock, and the interval excludes 0. The strict rule
// tests against the equivalence margin instead of 0 (McCarthy and Smyth, Bioinformatics 25, 2009). A pair is unchanged if its interval is
// within the equivalence margin (equivalence: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987); a coarse clock makes
// the interval too wide for that. If in a session one side ran before the other, there is no verdict.
func Judge(families [][]Pair, rules Rules) []Judgement {
	judgements := make([]Judgement, len(families))
	drafts := make([][]draft, len(families))
	for i, pairs := range families {
		drafts[i] = judgements[i].draft(pairs, rules)
	}
	corrected := drafts // each family separately
	if rules.Gate && len(families) > 0 {
		corrected = [][]draft{slices.Concat(drafts...)}
	}
	for i, family := range corrected {
		judgements[i].Family = adjust(family, rules)
	}
	all := 0
	for _, pairs := range families {
		all += countEventual(pairs)
	}
	for i, pairs := range families {
		family := countEventual(pairs)
		if rules.Gate {
			family, judgements[i].Family = all, judgements[0].Family
		}
		inParallel(len(pairs), func(k int) { drafts[i][k].decide(&pairs[k], rules, family) })
	}
	return judgements
}

// draft computes everything about a family except the correction and the verdicts.
func (j *Judgement) draft(pairs []Pair, rules Rules) []draft {
	j.Outcomes = make([]Outcome, len(pairs))
	drafts := make([]draft, len(pairs))
	inParallel(len(pairs), func(i int) {
		drafts[i].outcome = &j.Outcomes[i]
		drafts[i].measure(&pairs[i])
	})
	ratios, differences := poolByScale(pairs, drafts)
	ratios.periodic = periodic(pairs) // a disturbance of the machine affects all metrics and scales
	differences.periodic = ratios.periodic
	inParallel(len(pairs), func(i int) {
		family := &ratios
		if pairs[i].Difference {
			family = &differences
		}
		drafts[i].estimate(&pairs[i], family)
		drafts[i].test(&pairs[i], family, rules)
	})
	return drafts
}

// inParallel calls do for 0 up to n, on all processors.
func inParallel(n int, do func(i int)) {
	const minPart = 256 // minimum size of a part for a goroutine
	parts := max(min(runtime.GOMAXPROCS(0), n/minPart), 1)
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

// draft is an outcome that is being computed.
type draft struct {
	outcome       *Outcome
	spend         float64        // see Spend
	judgeable     bool           // there are enough runs for a verdict, and their variance is positive
	runs          sampleVariance // of a run, pooled over both sides
	blocks        sampleVariance // of the difference of a block; no degrees of freedom: too few blocks
	base          stat.Spread
	head          stat.Spread
	outliers      pointOutliers // outliers among the runs of each side
	blockOutliers pointOutliers // outliers among the blocks
	rho           float64       // correlation of consecutive blocks
	rhoOf         float64       // number of blocks that rho is computed from; 0: unknown

	paired        bool       // it is judged by blocks
	own           stat.TTest // test of the pair alone
	factor        float64    // variance of the mean difference / variance of a run or block
	sessionDeltas []float64  // differences between consecutive earlier sessions
	growth        growth     // whether the newest sessions differ more than the earlier ones
	// unsettled means that the differences between sessions have grown: for too many points of the family to be chance, or for this point
	// by far.
	unsettled bool
	session   float64 // half the width of the interval for the difference of two sessions; 0: not relevant
}

// sampleVariance is a variance with its degrees of freedom.
type sampleVariance struct{ value, df float64 }

// measure computes the variances and outliers of the runs and blocks of a pair.
func (d *draft) measure(p *Pair) {
	d.spend = p.spend()
	variance, df, known := stat.PooledVariance(p.Base, p.Head)
	if known {
		d.runs = sampleVariance{variance, df}
	}
	d.sides(p)
	if known {
		d.outliers.add(p.Base)
		d.outliers.add(p.Head)
	}
	if known && p.inBlocks() {
		of, ok := stat.SpreadOf(p.Blocks)
		known = ok
		d.blocks = sampleVariance{of.Variance, of.DF}
		d.blockOutliers.add(p.Blocks)
		if rho, ok := stat.Neighbours(p.Blocks); ok {
			d.rho, d.rhoOf = rho, of.N
		}
	}
	d.judgeable = known && p.Runs() >= MinRuns
	d.sessions(p)
}

// estimate computes the effect size and its interval from the pair alone: from its blocks, if it has enough and the family shows that
// blocking pays off, otherwise from the runs of each side.
func (d *draft) estimate(p *Pair, family *pooled) {
	o := d.outcome
	o.P, o.Adjusted, o.Noise, o.Variance, o.DF = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	o.Margin = max(p.Margin, quanta*p.Resolution)
	o.Method = MethodRuns
	if p.Runs() == 0 {
		o.Change = stat.Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
		return
	}
	var known bool // finite
	defer func() { d.judgeable = d.judgeable && known }()
	if d.paired = p.inBlocks() && !family.unpaired; d.paired {
		o.Method = MethodBlocks
		o.Change = stat.PairedShift(p.Blocks, p.confidence())
		if len(p.Blocks) < p.minRankedBlocks() && !family.mayBePeriodic(p) { // a rank interval allows for every order, as signFlipP does
			o.Change.Confidence = 0
		}
		d.own, known = stat.OneSample(p.Blocks)
		d.factor = 1 / float64(len(p.Blocks))
		return
	}
	o.Change = stat.Shift(p.Base, p.Head, p.confidence())
	if family.mayBePeriodic(p) {
		o.Change.Low, o.Change.High = min(o.Change.Low, slices.Min(p.Blocks)), max(o.Change.High, slices.Max(p.Blocks))
	}
	d.own, known = stat.Welch(p.Base, p.Head)
	d.factor = 1/float64(len(p.Base)) + 1/float64(len(p.Head))
}

// sessions estimates how much two sessions of the point differ without a change.
func (d *draft) sessions(p *Pair) {
	d.outcome.SessionSD = math.NaN()
	if !p.Confounded || len(p.History) < MinHistory {
		return
	}
	noise, ok := stat.SessionNoise(p.History)
	if !ok {
		return
	}
	d.outcome.SessionSD, d.sessionDeltas, d.growth = noise.SD, noise.Differences, growthOf(p.History)
	d.session = sessionTest(p, noise.SD, 0).Interval(p.confidence()).High
}

// sessionTest returns the t test of a difference against the differences between the point's sessions.
func sessionTest(p *Pair, sd, difference float64) stat.TTest {
	return stat.TTest{Difference: difference, StdErr: math.Sqrt2 * sd, DF: float64(len(p.History) - 1)}
}

// sessionTailTest returns sessionTest for p-values far below 5 %. The standard deviation is estimated from a median of differences,
// which is as precise as an estimate from about 0.4 times as many sessions. In simulations the tails are right down to 1 in 10,000 for 5
// to 50 sessions; with H-1 degrees of freedom they would be 2 to 12 times too light.
func sessionTailTest(p *Pair, sd, difference float64) stat.TTest {
	test := sessionTest(p, sd, difference)
	test.DF = 1 + .4*float64(len(p.History))
	return test
}

// sides computes the variance of each side separately: the side with few runs may vary more.
func (d *draft) sides(p *Pair) {
	var ok bool
	if d.base, ok = stat.SpreadOf(p.Base); !ok {
		return
	}
	d.head, _ = stat.SpreadOf(p.Head)
}

// test computes p, and the interval if there are too few runs for a rank interval. That interval uses the pair's own variance, as a
// rank interval would: with the moderated variance it would be narrower, and the next run could take a verdict away.
func (d *draft) test(p *Pair, family *pooled, rules Rules) {
	o := d.outcome
	o.Noise = (o.Change.High - o.Change.Low) / 2
	if !d.judgeable {
		return
	}
	inflation := 1.
	if p.inBlocks() {
		inflation = family.varianceInflation
		d.inflate(inflation)
	}
	test, rule := d.tTest(p, family, inflation)
	if (len(p.Base) != len(p.Head) || p.Runs() < FirmRuns) && !d.paired && o.Change.Confidence > 0 {
		// If the side with few runs varies more, the rank interval mostly reflects the many runs of the other side. The rank interval of 4
		// runs is the range of all differences, which is too narrow if one side varies more.
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
	d.unsettled = p.Confounded && (family.unsettled || d.growth.alone)
	o.Strict = rules.Strict || p.Runs() < FirmRuns || p.Ordered
	if d.hasVerdict(p, rules) {
		o.Rule = rule
		d.pValue(p, test, family)
		switch {
		case !(o.P < Level): // not a change anyway
		case d.paired:
			o.raise(RuleJumps, family.blockJumps.blocks(p.Blocks, o.Change.Value))
		default:
			o.raise(RuleJumps, family.runJumps.sides(p.Base, p.Head, o.Change.Value))
		}
		if o.P < Level && p.flippable() {
			if flips := signFlipP(p.Blocks); flips > maxFlipP || family.mayBePeriodic(p) {
				o.raise(RuleFlips, flips)
			}
		}
		if p.Confounded {
			o.raise(RuleFamilySessions, family.exceedance(math.Abs(o.Change.Value)))
		}
	}
}

// inflate widens the test and the interval of blocks for the correlation of consecutive blocks.
func (d *draft) inflate(factor float64) {
	d.own.StdErr *= math.Sqrt(factor)
	c := &d.outcome.Change
	c.Low, c.High = c.Value-math.Sqrt(factor)*(c.Value-c.Low), c.Value+math.Sqrt(factor)*(c.High-c.Value)
}

// unequalRatio is the ratio of the variances of the sides from which on the variance of one side is not used for the other.
const unequalRatio = 9

// unequalVariances reports whether one side varies much more than the other: three times as much, as a standard deviation.
func (d *draft) unequalVariances() bool {
	return max(d.base.Variance, d.head.Variance) > unequalRatio*min(d.base.Variance, d.head.Variance)
}

// tTest returns the t test of a pair with the moderated variance. If the sides have different numbers of runs, or one varies much more, it
// uses one variance for both or one for each, whichever gives the larger p: the runs of a calm side do not show how the runs of the
// other side vary.
func (d *draft) tTest(p *Pair, family *pooled, inflation float64) (stat.TTest, Rule) {
	o := d.outcome
	prior, own := family.runs, d.runs
	switch {
	case d.paired:
		prior, own = family.blocks, d.blocks
	case d.blocks.value > anticorrelated*2*d.runs.value: // the runs of its blocks are negatively correlated, unlike in the family
		own = sampleVariance{d.blocks.value / 2, d.blocks.df}
	}
	o.Prior = prior
	o.Variance, o.DF = prior.Moderate(own.value, own.df)
	o.Variance *= inflation
	if !(prior.Variance > 0) {
		return d.own, RuleT
	}
	test := stat.TTest{Difference: d.own.Difference, StdErr: math.Sqrt(o.Variance * d.factor), DF: o.DF}
	if d.paired || len(p.Base) == len(p.Head) && !d.unequalVariances() {
		return test, RuleModerated
	}
	base, head := d.base, d.head
	base.Variance, base.DF = family.base.Moderate(base.Variance, base.DF)
	head.Variance, head.DF = family.head.Moderate(head.Variance, head.DF)
	if each := stat.WelchOf(d.own.Difference, base, head); each.P() > test.P() {
		o.Variance, o.DF = each.StdErr*each.StdErr/d.factor, each.DF
		return each, RuleSides
	}
	return test, RuleModerated
}

// mayBeDrift reports whether a drift may explain the difference. If one side ran after the other, the data cannot distinguish a
// drifting or temporarily slow machine from a change, unless all runs of a side are identical. For different sessions the history
// shows how much they differ.
func (d *draft) mayBeDrift(p *Pair) bool {
	return p.Ordered && !p.Confounded && !d.identical(p)
}

// identical reports whether the runs of each side are identical.
func (d *draft) identical(p *Pair) bool { return d.own.StdErr <= rounding*math.Abs(p.Base[0]) }

// hasVerdict reports whether a pair can have a verdict. If it cannot, p would be misleading.
func (d *draft) hasVerdict(p *Pair, rules Rules) bool {
	return p.Barred == "" && d.judgeable && !d.mayBeDrift(p) && !d.unsettled && !(rules.Gate && p.Runs() < FirmRuns) &&
		!(p.Confounded && math.IsNaN(d.outcome.SessionSD))
}

// widen extends the interval by the step of the clock and to the differences between sessions, and the equivalence margin to the latter.
func (d *draft) widen(p *Pair) {
	o := d.outcome
	o.Change.Low, o.Change.High = o.Change.Low-p.Resolution, o.Change.High+p.Resolution
	o.Noise += p.Resolution
	if d.session == 0 {
		return
	}
	o.Noise = max(o.Noise, d.session)
	o.Margin = max(o.Margin, d.session)
	o.Change.Low = min(o.Change.Low, o.Change.Value-d.session)
	o.Change.High = max(o.Change.High, o.Change.Value+d.session)
}

// rounding is the relative rounding error of a location. A smaller spread counts as none.
const rounding = 1e-13

// pValue computes P of a pair from its runs and, if the sides are from different sessions, from its sessions.
func (d *draft) pValue(p *Pair, test stat.TTest, family *pooled) {
	o := d.outcome
	margin := 0.0
	if o.Strict {
		margin = o.Margin
	}
	switch {
	case test.StdErr > rounding*math.Abs(p.Base[0]):
		o.P = test.PBeyond(margin)
	case math.Abs(test.Difference) <= margin: // all runs of a side are identical
		o.P = 1
	default:
		_, o.P = stat.MannWhitney(p.Base, p.Head)
		o.Rule = RuleRanks
		if seen := family.pOutlier(p, math.Copysign(math.Abs(test.Difference)-margin, test.Difference)); seen < o.P {
			o.P, o.Rule = seen, RuleJumps
		}
	}
	if p.Confounded && d.session > 0 {
		o.raise(RuleSessions, sessionTailTest(p, o.SessionSD, test.Difference).PBeyond(margin))
	}
}

// raise sets P to the p-value of another rule if that is larger.
func (o *Outcome) raise(rule Rule, p float64) {
	if p > o.P {
		o.P, o.Rule = p, rule
	}
}

// adjust corrects p over all pairs that can have a verdict, and returns their number. Pairs whose change is too small to be
// reported count with p = 1; otherwise they would make the other pairs more significant, as in volcano plots (Ebrahimpoor and Goeman,
// Briefings in Bioinformatics 22, 2021).
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

// decide sets the verdict.
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
	case p.Runs() >= MinRuns && d.mayBeDrift(p):
		o.Reason = Order
	case d.unsettled:
		o.Reason = Unsettled
	case !d.hasVerdict(p, rules):
		o.Reason = FewRuns
	case o.Adjusted < Level && o.sizeable():
		o.Verdict, o.Reason = direction(p, o.Change.Value), ""
	case stat.Equivalent(o.Change, max(p.Margin, d.session)), o.Change.Low == 0 && o.Change.High == 0:
		o.Verdict, o.Reason = Unchanged, ""
	}
	if o.Reason == Noise && quanta*p.Resolution > p.Margin && math.Abs(o.Change.Value) <= quanta*p.Resolution {
		o.Reason = Quantised
	}
	if o.Reason == Noise && d.identical(p) && o.sizeable() && o.Rule != RuleSessions && o.Rule != RuleFamilySessions {
		o.Reason = FewRuns
	}
	if o.Reason == Noise || o.Reason == FewRuns {
		o.MoreRuns = d.moreRuns(p, rules, family)
	}
}

// sizeable reports whether a change is large enough to be reported, if it is significant: its estimate reaches the equivalence margin and
// its interval excludes 0.
func (o *Outcome) sizeable() bool {
	return math.Abs(o.Change.Value) >= o.Margin && (o.Change.Low > 0 || o.Change.High < 0)
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

// BetterOf sets which direction is better.
func (p *Pair) BetterOf(better schema.Better) {
	p.Lower, p.Higher = better == schema.BetterLower, better == schema.BetterHigher
}
