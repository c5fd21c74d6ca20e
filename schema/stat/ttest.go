package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// TTest is a difference of means, head minus base, with its standard error, both in the unit of the values, and the
// degrees of freedom of the latter, which may be +Inf. If the standard error is 0 (all values of a side are equal), any
// difference is infinitely many standard errors; the caller has to decide whether to believe it.
type TTest struct{ Difference, StdErr, DF float64 }

// Welch returns the t test of two means whose variances may differ (Welch, Biometrika 34, 1947). If both variances are 0, DF is the
// degrees of freedom of the pooled variance. ok is false if a side has fewer than 2 values, or if a value or a variance is not finite.
func Welch(base, head []float64) (t TTest, ok bool) {
	if len(base) < 2 || len(head) < 2 || slices.ContainsFunc(base, notFinite) || slices.ContainsFunc(head, notFinite) {
		return TTest{}, false
	}
	b, h := spreadOf(base), spreadOf(head)
	t = WelchOf(h.Mean-b.Mean, b, h)
	return t, !notFinite(t.Difference) && !notFinite(t.StdErr)
}

// Spread is an estimate of the location and the variance of a population: the mean of N values, and their variance with
// its degrees of freedom.
type Spread struct{ Mean, Variance, DF, N float64 }

// SpreadOf returns the Spread of values. ok is false for fewer than 2, and if one or the variance is not finite.
func SpreadOf(values []float64) (s Spread, ok bool) {
	if len(values) < 2 || slices.ContainsFunc(values, notFinite) {
		return Spread{}, false
	}
	s = spreadOf(values)
	return s, !notFinite(s.Variance)
}

func spreadOf(values []float64) Spread {
	mean, deviation := moments(values)
	n := float64(len(values))
	return Spread{Mean: mean, Variance: deviation * deviation, DF: n - 1, N: n}
}

// WelchOf returns the test of a difference of means of two sides with separate variance estimates, from any source. Its degrees of
// freedom are Satterthwaite's (Biometrics Bulletin 2, 1946). With a prior for each side it is the test of Demissie, Mascialino, Calza
// and Pawitan (Bioinformatics 24, 2008).
func WelchOf(difference float64, base, head Spread) TTest {
	a, b := math.Sqrt(base.Variance/base.N), math.Sqrt(head.Variance/head.N)
	t := TTest{Difference: difference, StdErr: math.Hypot(a, b), DF: base.DF + head.DF}
	if t.StdErr > 0 {
		// Shares of the variance, so that its square does not overflow.
		a, b = (a/t.StdErr)*(a/t.StdErr), (b/t.StdErr)*(b/t.StdErr)
		t.DF = 1 / (a*a/base.DF + b*b/head.DF)
	}
	return t
}

// PooledVariance returns the pooled within-side variance of two sides, in the square of their unit, with its degrees of freedom, n + m -
// 2. ok is false if a side has no value, both have one, or a value or the variance is not finite.
func PooledVariance(base, head []float64) (variance, df float64, ok bool) {
	df = float64(len(base) + len(head) - 2)
	if len(base) == 0 || len(head) == 0 || df == 0 {
		return 0, 0, false
	}
	variance = (squares(base) + squares(head)) / df
	return variance, df, !notFinite(variance)
}

// squares returns the sum of squared deviations from the mean.
func squares(values []float64) float64 {
	mean, _ := moments(values)
	var sum float64
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// P returns the two-sided p of no difference. It is NaN if a field is NaN, if StdErr is negative or infinite, and if DF is not
// positive.
func (t TTest) P() float64 { return t.PBeyond(0) }

// PBeyond returns the p of the hypothesis that the absolute difference is at most least: min(1, 2 P(T >= (|Difference| - least) /
// StdErr)). It is an upper bound, the larger tail twice; McCarthy and Smyth ("Testing significance relative to a fold-change threshold
// is a TREAT", Bioinformatics 25, 2009) give the exact p. A least below 0 counts as 0.
func (t TTest) PBeyond(least float64) float64 {
	excess := math.Abs(t.Difference) - max(least, 0)
	switch {
	case !t.valid() || math.IsNaN(least):
		return math.NaN()
	case excess <= 0:
		return 1
	}
	return min(1, 2*studentTail(excess/t.StdErr, t.DF))
}

func (t TTest) valid() bool {
	return !math.IsNaN(t.Difference) && t.StdErr >= 0 && t.DF > 0 && !math.IsInf(t.StdErr, 1)
}

// Interval returns the difference with its t interval. The interval is missing for a confidence that is not between 0 and 1, if the test
// has no p, and if the ends of the interval are not finite.
func (t TTest) Interval(confidence float64) Estimate {
	if !(confidence > 0 && confidence < 1) || !t.valid() {
		return unbounded(t.Difference)
	}
	half := studentQuantile((1-confidence)/2, t.DF) * t.StdErr
	if notFinite(half) {
		return unbounded(t.Difference)
	}
	return Estimate{Value: t.Difference, Low: t.Difference - half, High: t.Difference + half, Confidence: confidence}
}

// normalFrom is the number of degrees of freedom from which Student's distribution is approximated by the normal distribution of a
// transformed t (Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.8): the continued fraction of the incomplete beta
// function loses a digit of precision with each further digit of the degrees of freedom.
const normalFrom = 1e6

// studentTail is P(T >= t) for t of at least 0.
func studentTail(t, df float64) float64 {
	if df >= normalFrom {
		if half := t * t / (2 * df); half < math.Inf(1) { // beyond, the tail is 0 either way
			t *= (1 - 1/(4*df)) / math.Sqrt(1+half)
		}
		return math.Erfc(t/math.Sqrt2) / 2
	}
	return mathext.RegIncBeta(df/2, .5, df/(df+t*t)) / 2
}

// studentQuantile returns the t with P(T >= t) = chance, for a chance below a half: the expansion of Cornish and Fisher (Fisher and
// Cornish, Technometrics 2, 1960), refined by Halley's method.
func studentQuantile(chance, df float64) float64 {
	z := -mathext.NormalQuantile(chance)
	if math.IsInf(df, 1) {
		return z
	}
	squared := z * z
	t := z * (1 + (squared+1)/(4*df) + ((5*squared+16)*squared+3)/(96*df*df) +
		(((3*squared+19)*squared+17)*squared-15)/(384*df*df*df))
	upper, _ := math.Lgamma((df + 1) / 2)
	lower, _ := math.Lgamma(df / 2)
	scale := upper - lower - math.Log(math.Pi*df)/2
	for range 100 {
		density := math.Exp(scale - (df+1)/2*math.Log1p(t*t/df))
		step := (studentTail(t, df) - chance) / density
		slope := (df + 1) * t / (df + t*t) // of the logarithm of the density, falling
		step /= max(.5, 1-step*slope/2)
		t += step
		if math.Abs(step) <= 1e-4*t { // the remaining error is about its cube
			break
		}
	}
	return t
}
