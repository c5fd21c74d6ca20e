package stat

import "math"

// FisherExact returns the one-sided p of Fisher's exact test (Journal of the Royal Statistical Society 98, 1935): the probability of at
// least this number of hits on one side, given the numbers of hits and misses on both sides together.
func FisherExact(hits, misses, otherHits, otherMisses int) float64 {
	own, other, total := hits+misses, otherHits+otherMisses, hits+otherHits
	chance := 0.0
	for k := hits; k <= min(total, own); k++ {
		chance += math.Exp(logChoose(own, k) + logChoose(other, total-k) - logChoose(own+other, total))
	}
	return min(chance, 1)
}
