// Package judge decides whether the measurements of two sides differ. It consists of pure functions on the locations of runs,
// without input or output. The location of a run is the median of its samples, as a natural logarithm for metrics that are
// compared by ratio.
//
// The replicate is the run. A difference has to exceed the variation from one launch to the next, however many iterations each
// launch has. A difference is reported as a change only if it is statistically significant among all compared points, larger than
// the equivalence margin (Threshold), and larger than the differences between sessions of the same point.
package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// DefaultThreshold is the equivalence margin for a ratio if none is given: 2 %.
const DefaultThreshold = .02

// Pair is one metric of one point on two sides. All numbers are finite: natural logarithms of the metric, or the metric itself if
// it is compared by difference.
type Pair struct {
	// Base and Head are the locations of the runs of each side, in the order in which they ran.
	Base, Head []float64

	// Blocks are the differences, head minus base, of the two runs of each block. Empty if the sides were not interleaved.
	Blocks []float64

	// Sequence has an entry for each run, in the order in which the runs of both sides started: whether it belongs to the head. Empty:
	// unknown.
	Sequence []bool

	// Confounded means that the sides are from different sessions, so that any difference between two sessions looks like a difference
	// between the sides. History has the locations of the earlier sessions of this point on this machine, oldest first.
	Confounded bool
	History    []float64

	// Ordered means that within a session the runs of one side came before the runs of the other: see SeparatedInTime. A drift of the
	// machine then looks like a difference between the sides, so there is no verdict.
	Ordered bool

	// Looks is how often the growing data have been judged, including this time; 0 and 1 mean once. Planned is the maximum
	// number of looks if it was fixed before the first one; 0: it was not. See Spend.
	Looks, Planned int

	// Barred is the reason why there can be no verdict, whatever the numbers; empty: there can be one.
	Barred Reason

	// Difference means that the pair is compared by difference: its numbers are values of the metric, not logarithms.
	Difference bool

	// Higher and Lower are set if higher or lower values are better. Both are false if the direction is unknown.
	Higher, Lower bool

	// Margin is the equivalence margin (threshold): smaller differences count as unchanged. Resolution is the step of the clock at these
	// values.
	Margin, Resolution float64
}

// Runs returns the number of replicates on the side with fewer.
func (p *Pair) Runs() int { return min(len(p.Base), len(p.Head)) }

// spend is Spend of the pair.
func (p *Pair) spend() float64 { return Spend(p.Looks, p.Planned) }

// Spend returns the share of Level that one look (interim analysis) at growing data may use (alpha spending). Planned looks have equal
// shares, which is valid however the looks depend on each other (Bonferroni). If the number of looks is not planned, the first look,
// which is usually the only one, may use all of Level, and look k may use 1/(k(k+1)). These shares add up to 1.5, but most changes that
// a later look would report were reported before: if data without a change grow until a change is reported, or until 20 looks, at most 5
// % report one; without the shares it would be 14 to 22 % (TestLooks).
func Spend(look, planned int) float64 {
	switch {
	case planned > 0:
		return 1 / float64(planned)
	case look > 1:
		return 1 / float64(look*(look+1))
	}
	return 1
}

// confidence returns the confidence level of the interval of the pair.
func (p *Pair) confidence() float64 { return 1 - (1-Confidence)*p.spend() }

// minRankedBlocks is minRankedBlocksAt for the pair's confidence.
func (p *Pair) minRankedBlocks() int { return minRankedBlocksAt(p.confidence()) }

// minRankedBlocksAt returns the minimum number of blocks for which the rank interval is narrower than the range of all differences: 7 at
// 95 %. With fewer blocks the interval is that range, and one odd block would make it wider than with fewer blocks.
func minRankedBlocksAt(confidence float64) int { return int(math.Ceil(2 - math.Log2(1-confidence))) }

// Processes reports whether the samples of a pair, each of which is a separate process, are its replicates instead of its runs. runs is
// the number of runs on the side with fewer; confounded is Pair.Confounded.
//
// Processes of one run share the minute in which they ran, so their differences do not show how minutes differ. If they were replicates,
// unchanged points would be reported as different (pseudo-replication: Hurlbert, Ecological Monographs 54, 1984; for benchmarks Kalibera
// and Jones, ISMM 2013). Within a session the run is therefore the replicate, and fewer than 3 runs give no verdict. Between sessions,
// differences between minutes are part of the differences between sessions, which are known from the history and which a change has to
// exceed. So processes may replace runs until there are enough runs for any verdict. This way, more repeats or more processes never make
// verdicts rarer (TestMoreDataDecidesMore).
func Processes(runs int, confounded bool) bool { return confounded && runs < manyRuns }

// Rules determine how strictly to judge.
type Rules struct {
	Strict bool // a change has to be significantly larger than the equivalence margin, not only by its estimate
	Gate   bool // Holm's correction, and no verdict with fewer than 5 runs per side or 6 blocks
}

// Level is the significance level for a family of points, Confidence the confidence level of each interval.
const (
	Level      = .05
	Confidence = .95
)

// Numbers of replicates.
const (
	MinRuns  = 3 // per side, for any verdict
	FirmRuns = 5 // per side, for a gate, and for a verdict by the estimate without the strict rule
	// MinHistory is the minimum number of earlier sessions for an estimate of the differences between sessions. If a machine is slow on
	// some days, at most one in 20 comparisons has a head on a slow day with none of the 7 sessions on one, however many days are slow.
	MinHistory = 7
)

const (
	MinBlocks = 6  // to compare the sides block by block
	minFamily = 10 // pairs, to estimate a common prior of their variances
	manyRuns  = 10 // per side; from this number of runs on, processes are not used as replicates
	quanta    = 2  // steps of the clock that count as no difference
)

// Verdict is the result of a comparison.
type Verdict string

// The verdicts. Changed means that the metric changed and it is unknown which direction is better. Estimate means that the sides
// cannot be judged, whatever the numbers: see Pair.Barred.
const (
	Regressed    Verdict = "regressed"
	Improved     Verdict = "improved"
	Changed      Verdict = "changed"
	Unchanged    Verdict = "unchanged"
	Inconclusive Verdict = "inconclusive"
	Estimate     Verdict = "estimate"
)

// Reason is the reason why there is no verdict.
type Reason string

// The reasons.
const (
	FewRuns   Reason = "few_runs"     // fewer than 3 runs on a side; in a gate fewer than 5, or than 6 blocks; too few for a small p if those of each side are identical
	Noise     Reason = "noise"        // the interval is too wide
	Quantised Reason = "quantised"    // at most two steps of the clock; more runs do not help
	Sessions  Reason = "sessions"     // different sessions, and fewer than 7 earlier ones to know how sessions differ
	Unsettled Reason = "unsettled"    // different sessions, and the newest of the earlier ones differ more than the others
	Commits   Reason = "commits"      // the interval is too wide, and the sessions have different commits, whose changes differ
	Machines  Reason = "machines"     // different machines
	Devices   Reason = "devices"      // different GPUs of one machine
	Clocks    Reason = "clocks"       // different clocks
	OffClock  Reason = "off_clock"    // the clocks of the device differ by more than 1 %
	Levels    Reason = "levels"       // samples measure different things, such as iterations and processes
	Units     Reason = "units"        // different units
	Order     Reason = "order"        // in a session one side ran before the other; a drift would look the same
	Unchecked Reason = "unchecked"    // the result of a run could not be checked, and may be wrong
	Wrong     Reason = "wrong_result" // the result of a run is wrong
	// FailedRequests: in runs of a side more requests of the server failed than are allowed. The values cover only the other requests,
	// and a server that fails requests has less to do.
	FailedRequests Reason = "failed_requests"
	NoValues       Reason = "no_values" // a side has no run with a finite value
)

// Method is the data and the distribution behind the confidence interval of a change.
type Method string

// The methods: the differences of blocks (6 blocks: with the t distribution); the runs of both sides; the runs of both sides with the t
// distribution, for fewer than 4 runs. MethodRuns is also used for interleaved runs if the runs of a block have little in common.
const (
	MethodBlocks Method = "blocks"
	MethodRuns   Method = "runs"
	MethodT      Method = "t"
)

// Rule is the test that P comes from: of all tests that apply, the one with the largest p.
type Rule string

// The rules. The documentation of Judge gives the source of each.
const (
	RuleT              Rule = "t"            // of the point alone: Welch's t test of runs, or the one-sample t test of blocks
	RuleModerated      Rule = "moderated_t"  // with a variance that is moderated by the variances of the family
	RuleSides          Rule = "t_of_sides"   // moderated, with a separate variance for each side
	RuleRanks          Rule = "mann_whitney" // if all runs of a side are identical
	RuleJumps          Rule = "jumps"        // most runs of a side may be outliers, as frequent as in the family
	RuleSessions       Rule = "sessions"     // from the differences between earlier sessions of the point
	RuleFlips          Rule = "flips"        // if the runs have a periodic component: how often the order within blocks gives as much by chance
	RuleFamilySessions Rule = "nights"       // from how often sessions of the family differed by as much: an empirical null distribution
)

// Outcome is the result of judging a Pair.
type Outcome struct {
	// Change is the Hodges-Lehmann estimate of head minus base, with the confidence interval that the verdict uses. If the sides
	// are from different sessions, the interval includes the differences between sessions. NaN if a side has no values.
	Change stat.Estimate
	Method Method
	// P is the two-sided p-value of no difference or, with the strict rule, of a difference within the equivalence margin: the largest
	// of the p-values that Judge describes. Adjusted is P adjusted over the family. NaN if there can be no verdict.
	P, Adjusted float64
	Rule        Rule // the test of P; empty: none
	// Variance is the variance of one run, or of the difference of a block, and DF its degrees of freedom, as the test used them.
	Variance, DF float64
	// Prior is the prior of Variance, estimated from all pairs of the family on the same scale; zero if there are fewer than 10.
	Prior stat.Prior
	// Noise is the noise floor: half the width of the interval of runs or, if that is wider, of sessions. SessionSD is the
	// standard deviation between the point's sessions, NaN if unknown.
	Noise, SessionSD float64
	// Margin is the equivalence margin that the verdict uses: at least the margin of the Pair, two steps of the clock, and the noise of
	// sessions.
	Margin float64

	Verdict Verdict
	Reason  Reason // set for Inconclusive and Estimate
	// Strict means that the strict rule was used: because it was requested, because a side has fewer than 5 runs, or because the runs of
	// one side came before the runs of the other.
	Strict bool
	// MoreRuns is about how many more runs per side would decide an inconclusive pair; 0 if that is unknown, is more than 500, or
	// runs would not help.
	MoreRuns int
}

// Judgement is the result for a family of pairs: all points for which one metric is compared.
type Judgement struct {
	Outcomes []Outcome
	// Family is the number of pairs that P was adjusted for.
	Family int
}
