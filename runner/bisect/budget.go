package bisect

import "math"

// wrongCommit is the maximum probability that a search names a wrong commit.
const wrongCommit = .05

// budget divides the probability of a wrong commit among the steps of a search. The expected steps share four fifths of it. Each
// further step, needed when commits were skipped, gets half of the rest.
type budget struct {
	expected int // how many steps are measured
	spent    int // how many have been, and had their share
}

// next is the share of the next step.
func (b budget) next() float64 {
	const usual = .8
	if b.spent < b.expected {
		return usual * wrongCommit / float64(b.expected)
	}
	return (1 - usual) * wrongCommit / math.Exp2(float64(b.spent-b.expected+1))
}
