package stat

import "math"

// FisherExact is how likely so many hits of one side, or more, are by chance, given how many hits and misses there are on both
// sides together: the exact test of Fisher (Journal of the Royal Statistical Society 98, 1935), one-sided.
func FisherExact(hits, misses, otherHits, otherMisses int) float64 {
	own, other, total := hits+misses, otherHits+otherMisses, hits+otherHits
	chance := 0.0
	for k := hits; k <= min(total, own); k++ {
		chance += math.Exp(logChoose(own, k) + logChoose(other, total-k) - logChoose(own+other, total))
	}
	return min(chance, 1)
}
