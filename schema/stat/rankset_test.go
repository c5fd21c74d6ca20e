package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRankSet: the neighbours of ranks that are near and far, against looking at one rank after the other, also after it was emptied.
func TestRankSet(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{2, 63, 64, 65, 4096, 4097, 20_000} {
		set := newRankSet(n)
		for _, members := range []int{2, 3, 10, n} {
			has := make([]bool, n)
			for range members {
				rank := random.IntN(n)
				has[rank] = true
				set.add(uint(rank))
			}
			checkNeighbours(t, set, has)
			for rank := range has {
				set.clearAround(uint(rank))
			}
		}
	}
}

// checkNeighbours looks at every rank, and at the end.
func checkNeighbours(t *testing.T, set rankSet, has []bool) {
	t.Helper()
	last := -1
	for rank, member := range has {
		if last >= 0 && set.previous(uint(rank)) != uint(last) {
			t.Fatalf("of %d ranks, %d is before %d, want %d", len(has), set.previous(uint(rank)), rank, last)
		}
		if !member {
			continue
		}
		for before := max(last, 0); before < rank; before++ {
			valuetest.Equal(t, set.next(uint(before)), uint(rank), len(has), "ranks", before, rank)
		}
		last = rank
	}
	valuetest.Equal(t, set.previous(uint(len(has))), uint(last), len(has), "ranks", last)
}
