package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// Likeness is the one of two known commits that another commit resembles, in one metric of one point.
type Likeness string

// The likenesses. LikeNone means not decided yet.
const (
	LikeNone Likeness = ""
	LikeGood Likeness = "good" // its change is less than half of the known change
	LikeBad  Likeness = "bad"  // its change is more than half of the known change, in the same direction
)

// Halfway is a sequential test for bisecting. It decides, while blocks are measured one after another, whether a commit differs from the
// good commit by more or by less than half of the change of the bad commit.
//
// It decides when the interval of the change excludes half of the known change. The interval is computed from Wilcoxon's signed ranks of
// the blocks or, with too few blocks for its confidence, from Student's t. Both are widened for the correlation of consecutive blocks.
// Each look (interim analysis) spends an equal share of Error (Bonferroni), so that all looks together decide wrongly with at most that
// probability, for a commit without a change and for one with the same change as the bad commit.
type Halfway struct {
	// Known is the change from good to bad, as a logarithm or a difference. NaN: the bad commit itself is being measured. Then the
	// interval has to exclude half of the estimate.
	Known float64
	Error float64 // probability of a wrong decision, over all looks
	Looks int     // maximum number of looks
	Min   float64 // smaller changes count as none: see Negligible
}

// change returns the estimate from the differences of blocks, head minus base, with its interval. Confidence is 0 for fewer than 2
// blocks.
func (h *Halfway) change(blocks []float64) stat.Estimate {
	confidence := 1 - 2*h.Error/float64(h.Looks)
	d := draft{}
	d.own, _ = stat.OneSample(blocks)
	if rho, ok := stat.Neighbours(blocks); ok {
		d.rho, d.rhoOf = rho, float64(len(blocks))
	}
	widen := math.Sqrt(varianceInflation([]draft{d}))
	change := stat.PairedShift(blocks, confidence)
	if len(blocks) < minRankedBlocksAt(confidence) {
		d.own.StdErr *= widen
		return d.own.Interval(confidence)
	}
	change.Low, change.High = change.Value-widen*(change.Value-change.Low), change.Value+widen*(change.High-change.Value)
	return change
}

// Look makes a decision from the differences of the blocks so far. Call it only at planned looks.
func (h *Halfway) Look(blocks []float64) (stat.Estimate, Likeness) {
	change := h.change(blocks)
	if change.Confidence == 0 {
		return change, LikeNone
	}
	known := h.Known
	if math.IsNaN(known) {
		if known = change.Value; math.Abs(known) < max(h.Min, rounding) {
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

// Negligible reports whether there is no relevant change: the interval is within Min of 0.
func (h *Halfway) Negligible(change stat.Estimate) bool {
	return stat.Equivalent(change, max(h.Min, rounding))
}

// BlocksFor estimates how many blocks are needed for the interval to exclude half of a change, given the estimate from the blocks so
// far; for a change smaller than Min, half of Min. 0 if unknown.
func (h *Halfway) BlocksFor(change stat.Estimate, blocks int) int {
	margin := max(math.Abs(change.Value), h.Min, rounding) / 2
	wide := (change.High - change.Low) / 2 / margin
	if n := math.Ceil(float64(blocks) * wide * wide); n < math.MaxInt32 {
		return int(n)
	}
	return 0
}
