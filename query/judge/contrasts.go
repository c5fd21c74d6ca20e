package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// ContrastRun is a run of a point with its facts.
type ContrastRun struct {
	Head     bool
	Session  string // empty: unknown
	Block    int64  // index within its session; -1: unknown
	Location float64
	Facts    map[string]string
}

// Contrasting is the input of Contrasts.
type Contrasting struct {
	// Runs are the runs of both sides, in the order in which they ran.
	Runs []ContrastRun

	// Names are the facts to test. If several facts split the runs in the same way, the first one represents the others.
	Names []string

	// Margin is the equivalence margin for the difference between the sides, in the unit of the locations. Higher means that higher
	// values are better.
	Margin float64
	Higher bool
}

// Within names the runs among which a contrast was found.
type Within string

// The runs of one side, or of both sides with the level of each side subtracted.
const (
	WithinBase  Within = "base"
	WithinHead  Within = "head"
	WithinSides Within = "both"
)

// ContrastVerdict describes how a contrast contributes to the difference between the sides.
type ContrastVerdict string

// The verdicts. A significant contrast explains the difference if it accounts for at least a tenth of it, opposes it if it has that
// size in the opposite direction, and is noise otherwise. A contrast is inconclusive if it is not significant, or if there are too
// few runs to test it.
const (
	Explains             ContrastVerdict = "explains"
	Opposes              ContrastVerdict = "opposes"
	Noisy                ContrastVerdict = "noise"
	ContrastInconclusive ContrastVerdict = "inconclusive"
)

// minExplained is the minimum share of the difference for a fact that explains it.
const minExplained = .1

// Contrast is a fact by which the runs of a side differ from one another.
type Contrast struct {
	Condition
	Within Within

	// ConfoundedWith are the conditions on other facts that split the runs in exactly the same way, so that the data cannot distinguish
	// them. For numbers that rise and fall together, only Fact is set.
	ConfoundedWith []Condition

	// With and Others are the numbers of runs that meet the condition and that do not. If the fact only changes between sessions,
	// WithSessions and OtherSessions are the numbers of sessions; otherwise they are 0.
	With, Others, WithSessions, OtherSessions int

	// Base and Head are, for each side, the number of runs that meet the condition and the number of runs.
	Base, Head [2]int

	// Effect is the difference between the runs that meet the condition and the others, in the unit of the locations. NaN if no
	// two runs of a session can be compared.
	Effect stat.Estimate

	// P is the p-value of the permutation test, Adjusted is P adjusted for all tests. Both are NaN if there are too few runs or
	// sessions for a p below Level.
	P, Adjusted float64

	// Part is the share of the difference between the mean locations of the sides that the fact explains. NaN if unknown.
	Part    float64
	Verdict ContrastVerdict
}

// Contrasted is the result of Contrasts.
type Contrasted struct {
	All []Contrast // by ascending adjusted p
	// Tested is the number of facts that Adjusted accounts for; facts that split the runs in the same way count once. Untestable is
	// the number of facts with too few runs or sessions for a p below Level; they are in All too.
	Tested, Untestable int
}

// permutations is the largest number of permutations that are drawn. Fewer are drawn, but at least minPermutations, if it would take
// more than permutationWork steps.
const (
	permutations    = 4999
	minPermutations = 999
	permutationWork = 2e8
)

// smallDelta is Cliff's delta (Psychological Bulletin 114, 1993) up to which a fact counts as equally frequent on both sides. The
// weight of a fact is the square of its delta, at least smallDelta squared. If it varies on both sides, the test within one side has
// that weight times oneSideWeight.
const (
	smallDelta    = .2
	oneSideWeight = .25
)

// Contrasts finds the facts that the slow runs of a side have and its fast runs do not have. The runs of a side share everything else,
// so such a fact is the best evidence for the cause of slow runs.
//
// Test. It is a permutation test on aligned ranks (Hodges and Lehmann, Annals of Mathematical Statistics 33, 1962): the median of its
// session and side is subtracted from each run, so differences between sessions do not matter. The runs of both sides of a block are
// moved together, because they share the minute in which they ran. A fact that only changes between sessions is tested between sessions;
// using runs as replicates would be pseudo-replication (Hurlbert, Ecological Monographs 54, 1984). The statistic is the share of the
// variance of the ranks between the values of the fact, so the test is the Kruskal-Wallis test, for two values the Mann-Whitney test,
// and for numbers Spearman's rank correlation. If consecutive runs resemble each other, both in the fact and in the measurement, p is
// increased (stat.Autocorrelated). Each fact is tested within each side, and within both.
//
// Correction. All tests of all facts are one family, separate from metrics and stages, and Level is the family-wise error rate
// (stat.AdjustMinP). It is stricter than a false discovery rate because contrasts are ranked first, where a false one would mislead. A
// fact that is equally frequent on both sides cannot explain the difference, so facts are weighted by how much their frequencies differ.
// The measurements do not influence the weights.
//
// Part. The part of the difference is computed as in Kitagawa (Journal of the American Statistical Association 50, 1955): the difference
// between the frequencies of the fact on the two sides, times its effect. If the intervals of the effects on the two sides do not
// overlap, each side has its own effect.
func Contrasts(c Contrasting) Contrasted {
	s := newSplits(c)
	s.permute()
	var found Contrasted
	for i, f := range s.factors {
		best := s.best(i)
		if best == nil {
			found.Untestable++
			found.All = append(found.All, s.untestable(f))
			continue
		}
		found.Tested++
		found.All = append(found.All, s.contrast(f, best))
	}
	slices.SortStableFunc(found.All, bySurety)
	return found
}

// bySurety orders contrasts by adjusted p, then by p, then by the size of their part; NaN comes last.
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
