package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestTrigamma: ψ'(1) = π²/6, ψ'(1/2) = π²/2, ψ”(1) = -2ζ(3), ψ”(1/2) = -14ζ(3) (Abramowitz and Stegun 1964, 6.4.2 and
// 6.4.4), those of 20 by SciPy 1.17.1, polygamma; and the inverse is one.
func TestTrigamma(t *testing.T) {
	t.Parallel()
	const zeta3 = 1.2020569031595942
	for name, c := range map[string][2]float64{
		"trigamma 1":     {trigamma(1), math.Pi * math.Pi / 6},
		"trigamma 2":     {trigamma(2), math.Pi*math.Pi/6 - 1},
		"trigamma 1/2":   {trigamma(.5), math.Pi * math.Pi / 2},
		"tetragamma 1":   {tetragamma(1), -2 * zeta3},
		"tetragamma 1/2": {tetragamma(.5), -14 * zeta3},
		"trigamma 20":    {trigamma(20), 0.051270822935203124},
		"tetragamma 20":  {tetragamma(20), -0.0026281224023146543},
	} {
		if !near(c[0], c[1], 1e-14) {
			t.Errorf("%s is %.16g, want %.16g", name, c[0], c[1])
		}
	}
	for exponent := -10.; exponent <= 10; exponent += .125 {
		x := math.Pow(10, exponent)
		// Above 1e7 and below 1e-6 the inverse is the first term of a series.
		if got := trigamma(trigammaInverse(x)); !near(got, x, 2e-6) || x > 1e-6 && x < 1e7 && !near(got, x, 1e-12) {
			t.Errorf("the inverse of %g is that of %g", x, got)
		}
	}
}

// TestFitPriorGolden: the formulas of Smyth (2004), with ψ and ψ' of SciPy 1.17.1, and its brentq for the inverse.
func TestFitPriorGolden(t *testing.T) {
	t.Parallel()
	variances := []float64{1.2, .7, 3.1, .9, 2.2, .4, 1.7, 5.5, .8, 1.1}
	df := []float64{8, 8, 8, 6, 8, 4, 8, 8, 7, 8}
	prior, ok := FitPrior(variances, df)
	if !ok || !near(prior.DF, 10.133629744140848, 1e-10) || !near(prior.Variance, 1.3936528803246024, 1e-10) {
		t.Errorf("%+v, %v", prior, ok)
	}
	// Four times the variance, the same worth; what does not count changes nothing.
	for i := range variances {
		variances[i] *= 4
	}
	variances = append(variances, math.NaN(), math.Inf(1), -1, 5, 5, 5)
	df = append(df, 8, 8, 8, 0, math.NaN(), math.Inf(1))
	scaled, ok := FitPrior(variances, df)
	if !ok || !near(scaled.DF, prior.DF, 1e-9) || !near(scaled.Variance, 4*prior.Variance, 1e-9) {
		t.Errorf("scaled %+v, %v", scaled, ok)
	}
}

// TestFitPriorFinds: the prior that variances were drawn from, s² = s₀² F(d, d₀), where degrees of freedom differ too.
func TestFitPriorFinds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(81, 82))
	for _, want := range []Prior{{3, 4}, {.01, 20}} {
		const points = 50_000
		variances, df := make([]float64, points), make([]float64, points)
		for i := range variances {
			df[i] = float64(2 + random.IntN(15))
			variances[i] = want.Variance * distuv.F{D1: df[i], D2: want.DF, Src: random}.Rand()
		}
		got, ok := FitPrior(variances, df)
		if !ok || !near(got.Variance, want.Variance, .02) || !near(got.DF, want.DF, .1) {
			t.Errorf("%+v, %v, want %+v", got, ok, want)
		}
	}
	// Of one variance for all, half of the fits find no more spread than chance makes.
	certain := 0
	for range 100 {
		variances, df := make([]float64, 200), make([]float64, 200)
		for i := range variances {
			df[i], variances[i] = 8, distuv.ChiSquared{K: 8, Src: random}.Rand()/8
		}
		prior, ok := FitPrior(variances, df)
		if !ok || !near(prior.Variance, 1, .2) || prior.DF < 30 {
			t.Fatalf("%+v, %v", prior, ok)
		}
		if math.IsInf(prior.DF, 1) {
			certain++
		}
	}
	if certain < 30 || certain > 70 {
		t.Errorf("%d of 100 priors are certain", certain)
	}
}

// TestFitPriorOfLittle: variances of 0 count as little as they can, and nothing is made of few.
func TestFitPriorOfLittle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2][]float64{
		"nothing": {nil, nil}, "one": {{1}, {4}}, "zeros": {{0, 0, 0, 1}, {4, 4, 4, 4}}, "lengths": {{1, 2, 3}, {4, 4}},
		"one of three": {{1, math.NaN(), math.Inf(1)}, {4, 4, 4}},
	} {
		if prior, ok := FitPrior(c[0], c[1]); ok {
			t.Errorf("%s: %+v", name, prior)
		}
	}
	zero, ok := FitPrior([]float64{0, 1, 2, 3, 4}, []float64{4, 4, 4, 4, 4})
	floor, _ := FitPrior([]float64{2e-5, 1, 2, 3, 4}, []float64{4, 4, 4, 4, 4})
	above, _ := FitPrior([]float64{2.1e-5, 1, 2, 3, 4}, []float64{4, 4, 4, 4, 4})
	if !ok || zero != floor || above == floor {
		t.Errorf("a variance of 0: %+v, %v, of a hundred-thousandth of the median: %+v, above: %+v", zero, ok, floor, above)
	}
	if prior, ok := FitPrior([]float64{2, 2, 2}, []float64{4, 4, 4}); !ok || !math.IsInf(prior.DF, 1) {
		t.Errorf("equal variances: %+v, %v", prior, ok)
	}
}

// TestModerate: a calm point borrows, a noisy one stays what it is, and without a prior all do.
func TestModerate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prior                                    Prior
		variance, df, wantVariance, wantModerate float64
	}{
		{Prior{3, 4}, 1, 8, 20. / 12, 12},
		{Prior{3, 4}, 6, 8, 6, 12},
		{Prior{3, 4}, 0, 8, 1, 12},
		{Prior{3, math.Inf(1)}, 1, 8, 3, math.Inf(1)},
		{Prior{3, math.Inf(1)}, 6, 8, 6, math.Inf(1)},
		{Prior{}, 1, 8, 1, 8},
		{Prior{3, math.NaN()}, 1, 8, 1, 8},
	} {
		variance, df := c.prior.Moderate(c.variance, c.df)
		if !near(variance, c.wantVariance, 1e-14) || df != c.wantModerate {
			t.Errorf("%+v of %g, %g: %g, %g, want %g, %g", c.prior, c.variance, c.df, variance, df, c.wantVariance, c.wantModerate)
		}
	}
}

// TestModeratedCoverage: of points that do not differ, the moderated t finds at most one in twenty that does, whether
// their variances are the same or not, from 10 points on; and it is more often right of those that differ than the t of
// each point alone.
func TestModeratedCoverage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(83, 84))
	for _, c := range []struct {
		points, tries int
		worth         float64
	}{{10, 800, math.Inf(1)}, {10, 800, 6}, {100, 80, math.Inf(1)}, {100, 80, 6}} {
		found, alone, wrong := 0, 0, 0
		for range c.tries {
			for _, distance := range []float64{0, 2} {
				tests, variances, df := make([]TTest, c.points), make([]float64, c.points), make([]float64, c.points)
				for i := range tests {
					width := 1.
					if !math.IsInf(c.worth, 1) {
						width = math.Sqrt(c.worth / distuv.ChiSquared{K: c.worth, Src: random}.Rand())
					}
					base := iid(random, 5, func(z float64) float64 { return width * z })
					head := iid(random, 5, func(z float64) float64 { return width*z + distance })
					tests[i], _ = Welch(base, head)
					variances[i], df[i], _ = PooledVariance(base, head)
				}
				prior, _ := FitPrior(variances, df)
				for i, test := range tests {
					moderated, worth := prior.Moderate(variances[i], df[i])
					p := TTest{test.Difference, math.Sqrt(moderated * 2 / 5), worth}.P()
					switch own := (TTest{test.Difference, math.Sqrt(variances[i] * 2 / 5), df[i]}).P(); {
					case distance == 0 && p < .05:
						wrong++
					case distance > 0 && p < .05 && own >= .05:
						found++
					case distance > 0 && p >= .05 && own < .05:
						alone++
					}
				}
			}
		}
		all := c.points * c.tries
		if float64(wrong) > .05*float64(all) || found <= alone {
			t.Errorf("%+v: %d of %d wrong, %d found more and %d fewer than alone", c, wrong, all, found, alone)
		}
		t.Logf("%+v: %.2f %% wrong, %d found more and %d fewer than alone", c, 100*float64(wrong)/float64(all), found, alone)
	}
}
