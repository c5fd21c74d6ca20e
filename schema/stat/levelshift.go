package stat

import "math"

// Constants of the strength of a level shift.
const (
	clipAt       = 2.5    // standard deviations beyond which a residual counts as if it were there
	madOfNormals = 1.4826 // standard deviations of normal values in a median absolute deviation
	priorRho     = .6     // the correlation of neighbours that is taken for likely before there are values
	priorWeight  = 15     // values that it counts as much as
	maxRho       = .99    // that a correlation is taken for
)

// levelShift is the most likely change of level in some values, and how large it is beside what they scatter.
type levelShift struct {
	at        int     // the first value of the new level
	low, high float64 // the levels before and after
	size      float64 // of the shift in robust standard errors, if neighbours are independent; infinite where nothing scatters
	inflation float64 // how many times the standard error is that, as neighbours are correlated
}

// shifts measures the changes of level in parts of a series. It keeps what the parts have in common, and room to work in.
type shifts struct {
	series           []float64
	running          runningMedian
	first, last      beginnings
	residuals, sizes []float64
}

// newShifts is for a series whose values are finite.
func newShifts(series []float64) *shifts {
	return &shifts{series: series, running: newRunningMedian(series)}
}

// in divides a part of the series, of n values from low on, where their absolute deviations from the medians of the two sides are
// least (Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11, 1995), with at least trendLeast values on either
// side, and measures the shift
//
//	size = |median after - median before| / s · √(k(n-k)/n)
//
// where s is the standard deviation of the residuals about the medians, clipped so that a few that are far off count little
// (winsorized; Huber and Ronchetti, Robust Statistics, 2nd edition 2009, section 1.7). Where most of the residuals are 0, it is
// the shift of means over their standard deviation, as of values that are counted the medians say too much. Unlike a statistic
// of ranks it has no bound, so that a large step is seen also among few values.
func (s *shifts) in(low, n int) levelShift {
	values := s.series[low : low+n]
	s.running.follow(&s.first, low, 1, n)
	s.running.follow(&s.last, low+n-1, -1, n)
	at, least := trendLeast, math.Inf(1)
	for k := trendLeast; k <= n-trendLeast; k++ {
		if sum := s.first.deviations[k-1] + s.last.deviations[n-k-1]; sum < least {
			at, least = k, sum
		}
	}
	shift := levelShift{at: at, low: s.first.medians[at-1], high: s.last.medians[n-at-1]}
	s.setResiduals(values, shift)
	clip := s.clip()
	if clip == 0 { // most values of each side are equal
		shift.low, _ = moments(values[:at])
		shift.high, _ = moments(values[at:])
		s.setResiduals(values, shift)
		clip = math.Inf(1)
	}
	shift.size = math.Abs(shift.high-shift.low) * math.Sqrt(float64(at)*float64(n-at)/float64(n)) / scatter(s.residuals, clip)
	if !(shift.size >= 0) {
		shift.size = 0 // nothing differs, or it is beyond all numbers
	}
	shift.inflation = inflationOf(s.residuals)
	return shift
}

// held reports whether at least trendLeast values on either side are nearer to their level than to the other: two that are far
// off are no level, even if they are more than half of a side.
func (s levelShift) held(values []float64) bool {
	before, after := 0, 0
	for i, v := range values {
		nearer := math.Abs(v-s.low) < math.Abs(v-s.high)
		switch {
		case i < s.at && nearer:
			before++
		case i >= s.at && !nearer:
			after++
		}
	}
	return min(before, after) >= trendLeast
}

// setResiduals sets how far values are from the levels of their sides.
func (s *shifts) setResiduals(values []float64, shift levelShift) {
	s.residuals = s.residuals[:0]
	for i, v := range values {
		level := shift.low
		if i >= shift.at {
			level = shift.high
		}
		s.residuals = append(s.residuals, v-level)
	}
}

// clip is where residuals about the medians of two sides are clipped. A median is a value of its side or between two, so that
// the smallest residual of each side carries no information about the scatter.
func (s *shifts) clip() float64 {
	s.sizes = s.sizes[:0]
	for _, r := range s.residuals {
		s.sizes = append(s.sizes, math.Abs(r))
	}
	return clipAt * madOfNormals * nth(s.sizes, (len(s.sizes)+2)/2)
}

// nth is the value that is at place k when values are sorted (Hoare, "Algorithm 65: Find", Communications of the ACM 4, 1961). It changes
// their order.
func nth(values []float64, k int) float64 {
	for low, high := 0, len(values)-1; low < high; {
		i, j, pivot := low, high, values[k]
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for pivot < values[j] {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		if j < k {
			low = i
		}
		if k < i {
			high = j
		}
	}
	return values[k]
}

// scatter is the standard deviation of residuals about two levels, clipped.
func scatter(residuals []float64, clip float64) float64 {
	var squares float64
	for _, r := range residuals {
		r = min(math.Abs(r), clip)
		squares += r * r
	}
	return math.Sqrt(squares / float64(len(residuals)-2))
}

// inflationOf is how many times the standard deviations of sums of neighbours are those of independent values,
// √((1+ρ)/(1-ρ)). ρ is the lag-1 autocorrelation of the residuals plus its bias, (1+4ρ)/n (Kendall, Biometrika 41, 1954), and
// at least 0. As few values tell little of it, the mean with a likely one is taken, which counts as priorWeight values.
func inflationOf(residuals []float64) float64 {
	n := float64(len(residuals))
	rho := lag1(residuals)
	rho = min(max(rho+(1+4*rho)/n, 0), maxRho)
	rho = (n*rho + priorWeight*priorRho) / (n + priorWeight)
	return math.Sqrt((1 + rho) / (1 - rho))
}
