package bisect

import "math"

// wrongCommit is how often a search names a wrong commit, at most.
const wrongCommit = .05

// budget is the chance of a wrong commit, as it is shared out over the steps of a search. So many steps are expected, and
// share four fifths of it; each further one, which a search takes that had to skip, gets half of what is left.
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
