package compare_test

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestBesideMedians: a change that the medians of the sides contradict says how it was computed, so that nobody who divides the
// two medians is surprised.
func TestBesideMedians(t *testing.T) {
	t.Parallel()
	base := []float64{100, 200, 101, 201, 102, 150, 202, 203}
	slower := func(by float64) []float64 {
		head := slices.Clone(base)
		for i := range head {
			head[i] += by
		}
		return head
	}
	swapped := slices.Clone(base) // each run takes 1 more, but two swap places across the middle
	for i := range swapped {
		swapped[i] = base[i] - 1
	}
	swapped[5] = 104 // of 150
	for _, c := range []struct {
		name   string
		blocks bool
		head   []float64
		want   []string
	}{
		{"blocks that agree", true, slower(1), nil},
		{"blocks", true, swapped, []string{compare.FlagPaired}},
		{"runs that agree", false, slower(1), nil},
		{"runs", false, []float64{100, 100, 100, 100, 199, 199, 199, 199, 199}, []string{compare.FlagPairwise}},
	} {
		n := 0
		side := func(name string) func(*schema.Run) {
			block := int64(0)
			return querytest.Of(1, func(r *schema.Run) {
				r.Side = name
				if c.blocks {
					r.BlockIndex = new(block)
					block++
				}
			})
		}
		var runs []schema.Run
		base, head := querytest.RunsOf(&n, 1, side("base"), base...), querytest.RunsOf(&n, 1, side("head"), c.head...)
		for i := range max(len(base), len(head)) {
			if i < len(base) {
				runs = append(runs, base[i])
			}
			if i < len(head) {
				runs = append(runs, head[i])
			}
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		only(t, got)
		flags := slices.DeleteFunc(slices.Clone(got.Rows[0].Flags), func(word string) bool { return word != compare.FlagPaired && word != compare.FlagPairwise })
		if !slices.Equal(flags, c.want) {
			t.Errorf("%s: %v, want %v: %+v", c.name, flags, c.want, *got.Rows[0].Estimates)
		}
	}
}
