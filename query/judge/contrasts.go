package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// ContrastRun is a run of a point, and what is known about it.
type ContrastRun struct {
	Head     bool
	Session  string // empty: not known
	Block    int64  // of its session; -1: not known
	Location float64
	Facts    map[string]string
}

// Contrasting is what is asked of Contrasts.
type Contrasting struct {
	// Runs are those of both sides, in the order in which they ran.
	Runs []ContrastRun

	// Names are the facts to look at. Of facts that the data cannot tell apart, the first one stands for the others.
	Names []string

	// DeadZone is the difference between the sides that nobody wants to hear of, in the unit of the locations. Higher tells
	// that higher values are better.
	DeadZone float64
	Higher   bool
}

// Within says which runs a contrast is between.
type Within string

// The runs of one side, or of both, each less the level of its side.
const (
	WithinBase  Within = "base"
	WithinHead  Within = "head"
	WithinSides Within = "both"
)

// ContrastVerdict says what a contrast means for the difference between the sides.
type ContrastVerdict string

// The verdicts. A fact explains a tenth of the difference or more, or works against it by as much; with less it is the noise
// of both sides. All others are inconclusive: so large a contrast may be chance, or there are too few runs for any.
const (
	Explains           ContrastVerdict = "explains"
	Opposes            ContrastVerdict = "opposes"
	Noisy              ContrastVerdict = "noise"
	ContrastNotSettled ContrastVerdict = "inconclusive"
)

// leastPart is the part of the difference that a fact has to explain.
const leastPart = .1

// Contrast is a fact by which the runs of a side differ from one another.
type Contrast struct {
	Condition
	Within Within

	// Alike are what the other facts say of the same runs, which split all runs in the same way: the data cannot tell which of
	// them it is. Of numbers, which go up and down together, only Fact is set.
	Alike []Condition

	// With and Others are how many runs meet the condition, and how many do not. Where the fact changes from session to
	// session alone, WithSessions and OtherSessions are how many sessions these are; else they are 0.
	With, Others, WithSessions, OtherSessions int

	// Base and Head are how many of the runs of each side meet the condition, and how many there are.
	Base, Head [2]int

	// Effect is by how much the runs that meet the condition are above the others, in the unit of the locations. NaN where
	// runs of one session cannot be compared.
	Effect stat.Estimate

	// P is that of the permutation test, Adjusted that among all facts. Both are NaN where there are too few runs, or
	// sessions, for any p below Level.
	P, Adjusted float64

	// Part is the share of the difference between the mean locations of the sides that the fact accounts for. NaN where that
	// is not known.
	Part    float64
	Verdict ContrastVerdict
}

// Contrasted is what Contrasts found.
type Contrasted struct {
	All []Contrast // the surest first

	// Tested is how many facts Adjusted takes into account: facts that split the runs alike are one. TooFew are those that
	// too few runs, or sessions, have for any p below Level; they are in All too.
	Tested, TooFew int
}

// permutations is how many are drawn at most; fewer, but at least leastPermutations, where that would take more than
// permutationWork steps.
const (
	permutations      = 4999
	leastPermutations = 999
	permutationWork   = 2e8
)

// alikeDelta is Cliff's delta (Psychological Bulletin 114, 1993) up to which a fact is about as frequent on both sides. The
// weight of a fact is the square of its delta, but at least that of this one. Where it changes on both sides, what it does on
// one of them alone counts oneSideWeight of that.
const (
	alikeDelta    = .2
	oneSideWeight = .25
)

// Contrasts finds the facts that the slow runs of a side have and its fast ones have not. The runs of a side share all
// else, so that nothing tells more about what makes runs slow.
//
// The test. What is permuted are the runs of a session, each less the median of its session and side (aligned ranks: Hodges
// and Lehmann, Annals of Mathematical Statistics 33, 1962), so that what sessions differ by is in no contrast. Runs of
// both sides of a block are moved together, since they share the minute. A fact that changes from session to session alone
// is tested between sessions: to take the runs of a session for replicates would be pseudo-replication (Hurlbert,
// Ecological Monographs 54, 1984). The statistic is the share of the variance of the ranks that is between the values of
// the fact, so that the test is that of Kruskal and Wallis, or of Mann and Whitney; of numbers it is Spearman's. Where
// neighbours resemble one another, both in the fact and in what was measured, p is larger (stat.Autocorrelated). Each fact
// is looked at within each side, and within both.
//
// The family. All looks at all facts are one family, apart from metrics and stages, and the level holds for the chance of
// even one false contrast (stat.AdjustMinP): a contrast is ranked before everything else, and one that is false would
// mislead, while of many metrics a false one does little harm. A fact that is as frequent on both sides cannot be the
// difference, so that facts have weights by how much their frequency differs; what was measured has no part in these.
//
// The part of the difference is that of Kitagawa (Journal of the American Statistical Association 50, 1955), whose
// differences are those of means: how much more frequent the fact is on the head, times its effect; where the effects on
// the two sides have intervals apart from one another, with the effect on each side.
func Contrasts(c Contrasting) Contrasted {
	s := newSplits(c)
	s.permute()
	var found Contrasted
	for i, f := range s.factors {
		best := s.best(i)
		if best == nil {
			found.TooFew++
			found.All = append(found.All, s.tooFew(f))
			continue
		}
		found.Tested++
		found.All = append(found.All, s.contrast(f, best))
	}
	slices.SortStableFunc(found.All, bySurety)
	return found
}

// bySurety orders contrasts: by their adjusted p, then p, then the larger part; those without come last.
func bySurety(a, b Contrast) int {
	for _, pair := range [][2]float64{{a.Adjusted, b.Adjusted}, {a.P, b.P}, {-math.Abs(a.Part), -math.Abs(b.Part)}} {
		x, y := pair[0], pair[1]
		switch {
		case x < y || math.IsNaN(y) && !math.IsNaN(x):
			return -1
		case x > y || math.IsNaN(x) && !math.IsNaN(y):
			return 1
		}
	}
	return 0
}
