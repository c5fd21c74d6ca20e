package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

const (
	// grownJump is the ratio of the difference between the two newest sessions to the root mean square of the earlier differences from
	// which on sessions differ more than they did.
	grownJump = 3
	// grownTrend is Kendall's statistic of all differences, as a normal deviate, above which sessions differ more than they did: by chance
	// in 1 of 90.
	grownTrend = 2.3
	// grownShare is the minimum share of points whose sessions differ more, for the whole family to be unsettled.
	grownShare = .2
	// aloneJump is the p-value of the newest difference, by Student's t against the earlier ones, below which a point is unsettled by
	// itself; aloneTrend is the normal deviate of its trend above which it is.
	aloneJump  = .005
	aloneTrend = 3
)

// growth describes how the newest sessions of a point differ. grew: more than the earlier ones. alone: so much more that the point is
// unsettled regardless of its family.
type growth struct{ grew, alone bool }

// growthOf tests whether sessions differ more and more: by a trend of the differences between consecutive sessions (Kendall, Biometrika
// 30, 1938), or by how far the newest session, the base, is from the one before it. If they do, the differences between earlier sessions
// do not show how much the next session will differ. If the earlier sessions do not differ at all, any difference of the newest one
// counts for the family, but not for the point alone.
func growthOf(history []float64) growth {
	differences := make([]float64, 0, len(history))
	for i, v := range history[1:] {
		differences = append(differences, math.Abs(v-history[i]))
	}
	last := len(differences) - 1
	squares, rising := 0., 0.
	for i, d := range differences {
		if i < last {
			squares += d * d
		}
		for _, earlier := range differences[:i] {
			if d > earlier {
				rising++
			} else if d < earlier {
				rising--
			}
		}
	}
	n := float64(len(differences))
	usual := math.Sqrt(squares / float64(last))
	trend := (rising - 1) / math.Sqrt(n*(n-1)*(2*n+5)/18) // 1 is the continuity correction: the statistic has steps of 2
	jump := stat.TTest{Difference: differences[last], StdErr: usual, DF: float64(last)}
	return growth{
		grew:  differences[last] > grownJump*usual || trend > grownTrend,
		alone: usual > 0 && jump.P() < aloneJump || trend > aloneTrend,
	}
}
