package judge

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// noises are differences of blocks: normal, with outliers on either side, of runs that cluster around two values, and of
// correlated blocks.
var noises = map[string]func(random *rand.Rand) func() float64{
	"normal": func(random *rand.Rand) func() float64 { return func() float64 { return .1 * random.NormFloat64() } },
	"outliers": func(random *rand.Rand) func() float64 {
		run := func() float64 {
			if random.IntN(10) == 0 {
				return .5 * random.Float64()
			}
			return .03 * random.NormFloat64()
		}
		return func() float64 { return run() - run() }
	},
	"two values": func(random *rand.Rand) func() float64 {
		run := func() float64 { return .1*float64(random.IntN(2)) + .002*random.NormFloat64() }
		return func() float64 { return run() - run() }
	},
	"correlated": func(random *rand.Rand) func() float64 {
		last := random.NormFloat64()
		return func() float64 {
			last = .1*last + math.Sqrt(1-.01)*random.NormFloat64()
			return .1 * last
		}
	},
}

// TestHalfwayErrors: of commits of either kind, and of one that is just on one side of the middle, no more are
// assigned to the wrong end than the error allows. Most of the latter are not decided. With -v it prints the shares.
func TestHalfwayErrors(t *testing.T) {
	t.Parallel()
	tries := 60
	if os.Getenv("NEUROLENS_LONG") == "all" {
		tries = 20_000
	}
	looks := []int{6, 9, 14, 20, 30, 46, 68, 103}
	for name, noise := range noises {
		for _, truth := range []float64{0, .0699, .0701, .14} {
			random := rand.New(rand.NewPCG(11, uint64(1e4*truth)))
			h := Halfway{Known: .14, Error: .05, Looks: len(looks)}
			wrong, undecided, blocks := 0, 0, 0
			for range tries {
				next := noise(random)
				n, like := decided(&h, looks, func() float64 { return truth + next() })
				blocks += n
				switch {
				case like == LikeNone:
					undecided++
				case (like == LikeBad) != (truth > .07):
					wrong++
				}
			}
			share := float64(wrong) / float64(tries)
			t.Logf("%-10s truth %.2f: wrong %.2f %%, undecided %.1f %%, %.0f blocks", name, truth, 100*share, 100*float64(undecided)/float64(tries), float64(blocks)/float64(tries))
			if slack := 3 * math.Sqrt(.05*.95/float64(tries)); share > .05+slack {
				t.Errorf("%s, truth %v: %.1f %% are wrong", name, truth, 100*share)
			}
		}
	}
}

// decided adds blocks until a look decides.
func decided(h *Halfway, looks []int, block func() float64) (n int, like Likeness) {
	var blocks []float64
	for _, look := range looks {
		for len(blocks) < look {
			blocks = append(blocks, block())
		}
		if _, like = h.Look(blocks); like != LikeNone {
			break
		}
	}
	return len(blocks), like
}

// TestHalfway: exact blocks decide at once, in both directions; equal ones do not; an unknown change has to be larger
// than the minimum.
func TestHalfway(t *testing.T) {
	t.Parallel()
	same := func(v float64) []float64 { return []float64{v, v, v, v, v, v} }
	for _, c := range []struct {
		known, least, blocks float64
		want                 Likeness
	}{
		{.2, 0, .11, LikeBad},
		{.2, 0, .09, LikeGood},
		{.2, 0, -.5, LikeGood},
		{.2, 0, .1, LikeNone},
		{.2, 0, 5, LikeBad},
		{-.2, 0, -.11, LikeBad},
		{-.2, 0, -.09, LikeGood},
		{-.2, 0, .5, LikeGood},
		{math.NaN(), .02, .1, LikeBad},
		{math.NaN(), .02, -.1, LikeBad},
		{math.NaN(), .02, .01, LikeNone},
		{math.NaN(), 0, 0, LikeNone},
		{math.NaN(), 0, 1e-16, LikeNone},
	} {
		h := Halfway{Known: c.known, Error: .01, Looks: 5, Min: c.least}
		if change, got := h.Look(same(c.blocks)); got != c.want || change.Value != c.blocks {
			t.Errorf("%+v: %q, %+v", c, got, change)
		}
	}
	h := Halfway{Known: math.NaN(), Error: .01, Looks: 5, Min: .02}
	if !h.Negligible(h.Change(same(.01))) || h.Negligible(h.Change(same(.03))) || h.Negligible(h.Change([]float64{0})) {
		t.Error("nothing is what lies within the least change")
	}
	if change, like := h.Look(nil); like != LikeNone || change.Confidence != 0 {
		t.Errorf("no blocks: %+v, %q", change, like)
	}
}
