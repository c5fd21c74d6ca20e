package sweep

import (
	"math/rand/v2"
	"slices"
)

// patternRepeats is the number of repeats that a pattern covers.
const patternRepeats = 6

// patterns say in which of the first repeats a block runs in reverse. With so few repeats, a coin for each would too often produce an order that
// a periodic disturbance follows: one side always first, or first in every other block. These patterns follow no sine of any period, whether 5 or
// all 6 repeats are measured. They were selected among all 64 by simulation: see TestPeriods of package judge.
var patterns = [...]string{
	"010000", "001000", "101000", "000100", "001010", "111010", "000110", "101110",
}

// drawn is the order of the members of a block in a repeat. It depends on the seed, the block and the repeat alone, so a session that is continued
// goes on with the same order.
//
// An order that alternates by a rule, as AB BA BA AB, follows some periodic disturbance of the machine, and then repeats do not help (restricted
// randomization: Bailey and Nelson, Biometrical Journal 45, 2003). Each member is as likely as any other to run first.
func drawn(members int, seed uint64, block, repeat int) []int {
	first := rand.New(rand.NewPCG(seed, uint64(block)))
	order := first.Perm(members)
	if repeat >= patternRepeats {
		return rand.New(rand.NewPCG(first.Uint64(), uint64(repeat))).Perm(members)
	}
	if patterns[first.IntN(len(patterns))][repeat] == '1' {
		slices.Reverse(order)
	}
	return order
}
