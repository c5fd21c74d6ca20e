package stat

import "math"

// Estimate is a value with its confidence interval, in the unit of the samples. Low is -Inf and High +Inf if there are
// too few values for an interval of the confidence; Confidence is the one reached (at least the requested one), or 0 if
// there is no interval. Value is NaN if there are no values or one is not finite.
type Estimate struct{ Value, Low, High, Confidence float64 }

// unbounded returns an estimate without an interval.
func unbounded(value float64) Estimate {
	return Estimate{Value: value, Low: math.Inf(-1), High: math.Inf(1)}
}

// Equivalent reports whether a difference is within a limit in both directions: whether its interval is inside (-limit,
// limit) (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). Two one-sided tests at level α are the
// interval of confidence 1 - 2α, so an interval of 95 % is a test at 2.5 % on either side.
func Equivalent(interval Estimate, limit float64) bool {
	return interval.Confidence > 0 && -limit < interval.Low && interval.High < limit
}

// middle returns the midpoint of a and b. middle(-b, -a) is exactly its negative.
func middle(a, b float64) float64 {
	if a == b {
		return a
	}
	return a/2 + b/2
}

// tailChance returns the probability that an interval of a confidence leaves on either side; ok is false for a confidence that is not
// between 0 and 1. It is slightly larger than computed, so that 1 - 0.9 is no less than one tenth.
func tailChance(confidence float64) (chance float64, ok bool) {
	if !(confidence > 0 && confidence < 1) {
		return 0, false
	}
	return (1 - confidence) / 2 * (1 + 1e-12), true
}
