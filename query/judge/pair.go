// Package judge decides what the measurements of two sides say about the difference between them: pure functions of
// the locations of runs, without input or output.
//
// The replicate is the run: what varies from one launch to the next is what a difference has to stand out from, however
// many iterations each launch has. A difference is a verdict only where it is unlikely to be chance among all the points
// that are compared, larger than the dead zone, and larger than what the same point does from session to session.
package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// DefaultThreshold is the dead zone of a ratio where nobody gives one: 2 %.
const DefaultThreshold = .02

// Pair is one metric of one point, on two sides. All numbers are natural logarithms of the metric, or the metric itself
// where it is compared by its difference; finite.
type Pair struct {
	// Base and Head are the locations of the runs of each side, in the order in which they ran.
	Base, Head []float64

	// Blocks are the differences, head less base, of runs that ran next to one another in a block. Empty where the sides
	// were not interleaved.
	Blocks []float64

	// Confounded tells that the sides are of different sessions, so that what differs between any two sessions looks like
	// a difference between the sides. History are the locations of the sessions of this point on this machine before the
	// head's, the oldest first.
	Confounded bool
	History    []float64

	// Ordered tells that within a session all runs of one side came before those of the other, so that a machine that warms
	// up, slows down or wanders looks like a difference between the sides: there is no verdict then.
	Ordered bool

	// Looks is how often these data have been judged while they grew, this time included; 0 and 1 are once. Planned is how
	// often at most they are, where that was settled before the first time; 0: it was not. See Spend.
	Looks, Planned int

	// Barred says why there can be no verdict, whatever the numbers. Empty: there can be.
	Barred Reason

	// Higher and Lower tell which way is better: neither where it is not known.
	Higher, Lower bool

	// DeadZone is the difference that nobody wants to hear of, Resolution the step of the clock at these values.
	DeadZone, Resolution float64
}

// Runs is the number of replicates on the side that has fewer.
func (p *Pair) Runs() int { return min(len(p.Base), len(p.Head)) }

// spend is Spend of the pair.
func (p *Pair) spend() float64 { return Spend(p.Looks, p.Planned) }

// Spend is the share of Level that a look at data may use: the look-th of however many, or any of so many that were planned. Looks that were planned have equal shares, which holds
// however looks depend on one another (Bonferroni). Where nobody knows how many there will be, the first, which is mostly
// the only one, has all, and the k-th 1 of k(k+1). The shares add up to 1.5, but most of what a later look would call was
// called before: of data that grow until something is called, or until 20 looks, at most 5 % are called in which nothing is
// there, where without the shares it is 14 to 22 % (TestLooks).
func Spend(look, planned int) float64 {
	switch {
	case planned > 0:
		return 1 / float64(planned)
	case look > 1:
		return 1 / float64(look*(look+1))
	}
	return 1
}

// confidence is that of the interval of the pair.
func (p *Pair) confidence() float64 { return 1 - (1-Confidence)*p.spend() }

// leastRanked is leastRankedAt of the pair.
func (p *Pair) leastRanked() int { return leastRankedAt(p.confidence()) }

// leastRankedAt is the number of blocks from which on the interval of ranks is narrower than the range of all differences:
// at 95 % it is 7. With fewer, where it is that range, one odd block would make verdicts rarer than fewer blocks do.
func leastRankedAt(confidence float64) int { return int(math.Ceil(2 - math.Log2(1-confidence))) }

// Processes tells whether the replicates of a pair are its samples, each of which is a process of its own, in place of its
// runs: of so many runs on the side that has fewer, whose sides are of different sessions (see Pair.Confounded) or not.
//
// Processes of one run share the minute in which they ran, and what that minute did to all of them is in none of their
// differences: taken for replicates, they call what did not change different (Hurlbert, Ecological Monographs 54, 1984;
// for benchmarks Kalibera and Jones, ISMM 2013). Within a session so the run is the replicate, and fewer than 3 say
// nothing. Between sessions what minutes differ by is part of what sessions differ by, which the history of the point
// tells and the verdict has to exceed: there processes stand for runs until there are enough of these for any verdict.
// Of more repeats, or more processes in each, verdicts so never become rarer (TestMoreDataSettlesMore).
func Processes(runs int, confounded bool) bool { return confounded && runs < manyRuns }

// Rules are how strictly to judge.
type Rules struct {
	Strict bool // a change has to be larger than the dead zone beyond doubt, not only by the estimate
	Gate   bool // Holm's correction, and no verdict with fewer than 5 runs a side or 6 blocks
}

// Level is the chance of a false verdict that is accepted, of a family of points; Confidence that of each interval.
const (
	Level      = .05
	Confidence = .95
)

// How many replicates it takes.
const (
	leastRuns = 3 // a side, for any verdict
	FirmRuns  = 5 // a side, for a gate, and for a verdict by the estimate
	// LeastHistory is how many sessions it takes to know what sessions differ by. Of a machine that is slow on some days, it
	// is but one in 20 comparisons, however many days that are, in which the head's is such a day and none of the 7 was.
	LeastHistory = 7
)

const (
	leastBlocks = 6  // to compare the sides block by block
	leastFamily = 10 // pairs, to borrow variance from one another
	manyRuns    = 10 // a side, to do without its processes
	quanta      = 2  // steps of the clock that are no difference
)

// Verdict is what a comparison says.
type Verdict string

// The verdicts. Changed is a change of a metric of which it is not known which way is better. Estimate stands where the
// two sides cannot be judged, whatever the numbers.
const (
	Regressed    Verdict = "regressed"
	Improved     Verdict = "improved"
	Changed      Verdict = "changed"
	Unchanged    Verdict = "unchanged"
	Inconclusive Verdict = "inconclusive"
	Estimate     Verdict = "estimate"
)

// Reason is why there is no verdict.
type Reason string

// The reasons.
const (
	FewRuns     Reason = "few_runs"     // fewer than 3 runs of a side; in a gate fewer than 5, or 6 blocks
	Noise       Reason = "noise"        // the interval is too wide
	Quantised   Reason = "quantised"    // up to two steps of the clock, which more runs do not tell from nothing
	Sessions    Reason = "sessions"     // different sessions, and fewer than 7 earlier ones to know what they do
	Machines    Reason = "machines"     // different machines
	Clocks      Reason = "clocks"       // different clocks
	Levels      Reason = "levels"       // a sample is something else on each side
	Units       Reason = "units"        // different units
	Order       Reason = "order"        // in a session one side ran before the other, and a drift would look the same
	Unchecked   Reason = "unchecked"    // the result of a run could not be checked, and may be wrong
	Wrong       Reason = "wrong_result" // the result of a run is wrong
	NotPositive Reason = "nonpositive"  // zero or negative values have no ratio
	NoValues    Reason = "no_values"    // a side has no run with a finite value
)

// Method is what the interval of a change is of.
type Method string

// The methods: differences of blocks (of 6 with the t distribution); runs of two sides; the same, of fewer than 4 runs,
// with the t distribution. Runs of blocks too are compared by sides where they have little in common.
const (
	MethodBlocks Method = "blocks"
	MethodRuns   Method = "runs"
	MethodT      Method = "t"
)

// Rule is what P comes from: of all that are looked at, that which is the least sure of a difference.
type Rule string

// The rules. Judge says where each is from.
const (
	RuleT         Rule = "t"            // of runs or blocks of the point alone: Welch's, or of one sample
	RuleModerated Rule = "moderated_t"  // with the variance that the family lends
	RuleSides     Rule = "t_of_sides"   // the same with a variance for each side
	RuleRanks     Rule = "mann_whitney" // of runs that do not differ from one another
	RuleJumps     Rule = "jumps"        // most runs of a side may have jumped, as single ones do in the family
	RuleSessions  Rule = "sessions"     // what sessions of the point differ by
	RuleNights    Rule = "nights"       // how often sessions of the family differed by as much
)

// Outcome is what is said of a Pair.
type Outcome struct {
	// Change is head less base (Hodges and Lehmann) with the interval that the verdict goes by: where the sides are of
	// different sessions it covers what sessions differ by too. It is NaN where a side has no values.
	Change stat.Estimate
	Method Method

	// P is two-sided, of no difference, or of one within the dead zone where the rule is strict: the largest of those that
	// Judge names. Adjusted is that of the family. NaN where there can be no verdict.
	P, Adjusted float64
	Rule        Rule // that P is of; empty where there is none

	// Variance and DF are those of one run, or of the difference of a block, as the test used them.
	Variance, DF float64

	// Noise is the noise floor: the half-width of the interval, of runs or, where it is wider, of sessions. SessionSD is
	// the standard deviation of the point's sessions, NaN where it is not known.
	Noise, SessionSD float64

	// DeadZone is that which the verdict goes by: at least the Pair's, two steps of the clock, and the session's noise.
	DeadZone float64

	Verdict Verdict
	Reason  Reason // of Inconclusive and Estimate

	// Strict tells that the strict rule was used: it was asked for, there are fewer than 5 runs of a side, or all of one came
	// before those of the other.
	Strict bool

	// MoreRuns is how many more runs a side are likely to settle an inconclusive pair; 0 where that is not known, takes more than
	// 500, or runs would not help.
	MoreRuns int
}

// Judgement is what is said of a family of pairs: of all points in which one metric is compared.
type Judgement struct {
	Outcomes []Outcome
	// Family is the number of pairs that were tested, and so those that P was adjusted for.
	Family int
	// Runs and Blocks are the variances that pairs borrow from one another; zero where there are fewer than 10.
	Runs, Blocks stat.Prior
}
