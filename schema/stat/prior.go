package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Prior is the distribution of variances that the points of one comparison share: a variance and its degrees of freedom. DF is +Inf if
// all have the same variance, and 0 if there is no common variance.
type Prior struct{ Variance, DF float64 }

// varianceFloor is the least variance that a logarithm is taken of, in terms of the median one.
const varianceFloor = 1e-5

// FitPrior estimates the prior from the sample variances of points, in one unit, and their degrees of freedom, by the moments of their
// logarithms (Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray experiments",
// Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2): with e = ln s² - ψ(d/2) + ln(d/2), the variance of e
// beyond the mean of ψ'(d/2) is ψ'(d₀/2), and s₀² = exp(ē + ψ(d₀/2) - ln(d₀/2)). Degrees of freedom may differ.
//
// Variances below 1e-5 of the median variance, such as 0, are raised to that. Points whose variance is not finite or negative, or whose
// degrees of freedom are not positive, do not count. ok is false if fewer than 2 count, if more than half of their variances are 0, and
// if there are fewer degrees of freedom than variances.
func FitPrior(variances, df []float64) (prior Prior, ok bool) {
	if len(variances) != len(df) {
		return Prior{}, false
	}
	counts := func(i int) bool {
		return variances[i] >= 0 && !math.IsInf(variances[i], 1) && df[i] > 0 && !math.IsInf(df[i], 1)
	}
	sorted := make([]float64, 0, len(variances))
	for i, v := range variances {
		if counts(i) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	floor := varianceFloor * Quantile(sorted, .5)
	if len(sorted) < 2 || !(floor > 0) {
		return Prior{}, false
	}
	logs := sorted[:0]
	var chance float64 // of the logarithms, where all variances are the same
	for i, v := range variances {
		if counts(i) {
			logs = append(logs, math.Log(max(v, floor))-logBias(df[i]))
			chance += trigamma(df[i] / 2)
		}
	}
	mean, deviation := moments(logs)
	beyond := deviation*deviation - chance/float64(len(logs))
	if beyond <= 0 {
		return Prior{Variance: math.Exp(mean), DF: math.Inf(1)}, true
	}
	prior.DF = 2 * trigammaInverse(beyond)
	prior.Variance = math.Exp(mean + logBias(prior.DF))
	return prior, true
}

// logBias returns the expected difference between the logarithm of a sample variance and the logarithm of the variance.
func logBias(df float64) float64 { return mathext.Digamma(df/2) - math.Log(df/2) }

// Moderate returns the moderated variance of one point and its degrees of freedom: (d₀ s₀² + d s²) / (d₀ + d) and d₀ + d (Smyth 2004,
// section 3). variance is the sample variance, with df degrees of freedom. The result is never less than the sample variance, so that a
// point that is noisier than the others does not borrow their precision.
func (p Prior) Moderate(variance, df float64) (moderated, moderatedDF float64) {
	if !(p.DF > 0) {
		return variance, df
	}
	own := df / (p.DF + df) // 0 where the prior is certain
	return max(variance, p.Variance+own*(variance-p.Variance)), p.DF + df
}

// polygammaFrom is from where on the asymptotic series of trigamma and tetragamma are right to 14 digits.
const polygammaFrom = 20

// trigamma is ψ', the second derivative of the logarithm of Γ, of a positive x (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 1964, 6.4.6 and 6.4.12).
func trigamma(x float64) float64 {
	var sum float64
	for ; x < polygammaFrom; x++ {
		sum += 1 / (x * x)
	}
	r := 1 / (x * x)
	return sum + 1/x + r/2 + r/x*(1./6-r*(1./30-r*(1./42-r/30)))
}

// tetragamma returns the derivative of trigamma (Abramowitz and Stegun 1964, 6.4.6 and 6.4.13).
func tetragamma(x float64) float64 {
	var sum float64
	for ; x < polygammaFrom; x++ {
		sum -= 2 / (x * x * x)
	}
	r := 1 / (x * x)
	return sum - r - r/x - r*r*(1./2-r*(1./6-r*(1./6-r*(3./10-r*5/6))))
}

// trigammaInverse returns the x with ψ'(x) = y, for a positive y: Newton's method on 1/ψ', which is nearly straight and
// convex, so that it comes from one side (Smyth 2004, appendix).
func trigammaInverse(y float64) float64 {
	switch {
	case y > 1e7:
		return 1 / math.Sqrt(y)
	case y < 1e-6:
		return 1 / y
	}
	x := .5 + 1/y
	for range 50 {
		value := trigamma(x)
		step := value * (1 - value/y) / tetragamma(x)
		x += step
		if -step < 1e-8*x {
			break
		}
	}
	return x
}
