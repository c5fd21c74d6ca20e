package stat

// steadyThresholds are what the strongest change of n values must exceed: the 0.95 quantiles of the strongest change of
// n exchangeable values without ties, which is 950th of 999 shuffles in ascending order. Ranks alone enter, so that
// they hold for any distribution. The test of this table draws it again.
var steadyThresholds = []struct {
	n         int
	threshold float64
}{
	{30, 2.8782479208},
	{40, 3.0561952723},
	{60, 3.1803609843},
	{80, 3.3494592428},
	{100, 3.4327108718},
	{150, 3.5890508721},
	{200, 3.6383633787},
}

// threshold is what the strongest change of n values must exceed, for n of the table's first to its last: between the
// table's rows on the line that joins them.
func threshold(n int) float64 {
	for i, right := range steadyThresholds {
		if n == right.n {
			return right.threshold
		}
		if n < right.n {
			left := steadyThresholds[i-1]
			share := float64(n-left.n) / float64(right.n-left.n)
			return left.threshold + share*(right.threshold-left.threshold)
		}
	}
	return steadyThresholds[len(steadyThresholds)-1].threshold
}
