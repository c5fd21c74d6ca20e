package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// Likeness is which of two known commits another one is like, by one metric of one point.
type Likeness string

// The likenesses. None is not decided yet.
const (
	LikeNone Likeness = ""
	LikeGood Likeness = "good" // the change is less than half of the known one
	LikeBad  Likeness = "bad"  // it is more than half of it, in the same direction
)

// Halfway decides on which side of the middle a change lies, while blocks are measured one after another: whether a
// commit differs from the good one by more or less than half of what the bad one does.
//
// The interval of the change has to exclude half of the known one. It is that of ranks of the blocks (Wilcoxon), or with
// too few blocks for its confidence that of Student's t, each widened for blocks that are as correlated as those of a
// comparison. Each look takes an equal share of Error (Bonferroni), so that all of them together end on the wrong side
// with at most that chance: of a commit that is unchanged, and of one that is changed by as much as the bad one.
type Halfway struct {
	// Known is the change between good and bad: of logarithms, or the difference. NaN: it is what is looked for. Then the
	// interval has to exclude half of the estimate itself, which is that of a bad commit to whatever half is taken later.
	Known float64

	Error float64 // the chance of a wrong side, over all looks
	Looks int     // how often the interval is looked at, at most
	Least float64 // a change that is smaller is none: see Nothing
}

// change is the estimate from the differences of blocks, head less base, with the interval that is looked at. Fewer than
// 2 blocks have none.
func (h *Halfway) change(blocks []float64) stat.Estimate {
	confidence := 1 - 2*h.Error/float64(h.Looks)
	d := draft{}
	d.own, _ = stat.OneSample(blocks)
	if rho, ok := stat.Neighbours(blocks); ok {
		d.rho, d.rhoOf = rho, float64(len(blocks))
	}
	widen := math.Sqrt(wandering([]draft{d}))
	change := stat.PairedShift(blocks, confidence)
	if len(blocks) < leastRankedAt(confidence) {
		d.own.StdErr *= widen
		return d.own.Interval(confidence)
	}
	change.Low, change.High = change.Value-widen*(change.Value-change.Low), change.Value+widen*(change.High-change.Value)
	return change
}

// Look says what blocks decide. It is to be asked at the looks alone.
func (h *Halfway) Look(blocks []float64) (stat.Estimate, Likeness) {
	change := h.change(blocks)
	if change.Confidence == 0 {
		return change, LikeNone
	}
	known := h.Known
	if math.IsNaN(known) {
		if known = change.Value; math.Abs(known) < max(h.Least, rounding) {
			return change, LikeNone
		}
	}
	low, high := change.Low, change.High
	if known < 0 {
		low, high = -high, -low
	}
	switch half := math.Abs(known) / 2; {
	case low > half:
		return change, LikeBad
	case high < half:
		return change, LikeGood
	}
	return change, LikeNone
}

// Nothing tells that there is no change that anybody wants to hear of: the interval lies within Least of 0.
func (h *Halfway) Nothing(change stat.Estimate) bool {
	return stat.Equivalent(change, max(h.Least, rounding))
}

// BlocksFor is about how many blocks it takes for the interval to exclude half of a change, from what so many have
// given; of a change that is smaller than Least, for one of Least. 0 where nothing says so.
func (h *Halfway) BlocksFor(change stat.Estimate, blocks int) int {
	margin := max(math.Abs(change.Value), h.Least, rounding) / 2
	wide := (change.High - change.Low) / 2 / margin
	if n := math.Ceil(float64(blocks) * wide * wide); n < math.MaxInt32 {
		return int(n)
	}
	return 0
}
