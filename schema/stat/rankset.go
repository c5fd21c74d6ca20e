package stat

import "math/bits"

// rankSet is a set of ranks that finds the neighbours of a rank quickly, however far away they are: it is a two-level bitmap, with a bit
// for each rank, and one for each word of the first level that is not 0.
type rankSet struct{ words, filled []uint64 }

// newRankSet returns an empty set of ranks below n.
func newRankSet(n int) rankSet {
	words := n/64 + 1 // also for n itself, an argument of previous
	return rankSet{make([]uint64, words), make([]uint64, words/64+1)}
}

func (s *rankSet) add(rank uint) {
	s.words[rank/64] |= 1 << (rank % 64)
	s.filled[rank/(64*64)] |= 1 << (rank / 64 % 64)
}

// clearAround removes a rank with all ranks that share its words. A set is empty after clearAround was called for each of its ranks.
func (s *rankSet) clearAround(rank uint) {
	s.words[rank/64] = 0
	s.filled[rank/(64*64)] = 0
}

// next returns the first rank of the set after one. It must exist.
func (s *rankSet) next(rank uint) uint {
	at := rank / 64
	word := s.words[at] &^ (2<<(rank%64) - 1)
	if word == 0 {
		at = nextBit(s.filled, at)
		word = s.words[at]
	}
	return 64*at + uint(bits.TrailingZeros64(word))
}

// previous returns the last rank of the set before one. It must exist.
func (s *rankSet) previous(rank uint) uint {
	at := rank / 64
	word := s.words[at] & (1<<(rank%64) - 1)
	if word == 0 {
		at = previousBit(s.filled, at)
		word = s.words[at]
	}
	return 64*at + uint(bits.Len64(word)) - 1
}

// nextBit returns the first bit after one that is set. It must exist.
func nextBit(words []uint64, bit uint) uint {
	at := bit / 64
	word := words[at] &^ (2<<(bit%64) - 1)
	for word == 0 {
		at++
		word = words[at]
	}
	return 64*at + uint(bits.TrailingZeros64(word))
}

// previousBit returns the last bit before one that is set. It must exist.
func previousBit(words []uint64, bit uint) uint {
	at := bit / 64
	word := words[at] & (1<<(bit%64) - 1)
	for word == 0 {
		at--
		word = words[at]
	}
	return 64*at + uint(bits.Len64(word)) - 1
}
