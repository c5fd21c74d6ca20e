package judge

import "math"

const (
	// grownJump is the ratio of the difference between the two newest sessions to the root mean square of the earlier differences from which on
	// sessions differ more than they did.
	grownJump = 3
	// grownTrend is the same for Kendall's statistic of all differences, as a normal deviate: by chance in 1 of 90.
	grownTrend = 2.3
	// grownShare is the share of the points of a family of which this has to be so.
	grownShare = .2
)

// grew reports whether sessions differ more and more: by a trend of the differences between consecutive sessions (Kendall, Biometrika 30, 1938),
// or because the newest one, the base, is further from the one before it than any chance. How much the earlier sessions differ then says
// too little of how much the next one will.
func grew(history []float64) bool {
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
	trend := (rising - 1) / math.Sqrt(n*(n-1)*(2*n+5)/18)
	return differences[last] > grownJump*math.Sqrt(squares/float64(last)) || trend > grownTrend
}
