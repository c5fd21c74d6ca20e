package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// Hours of sleep gained by two drugs (Student, "The Probable Error of a Mean", Biometrika 6, 1908), as in R's sleep.
var (
	sleepOne = []float64{.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2}
	sleepTwo = []float64{1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// TestWelchGolden: SciPy 1.17.1, ttest_ind with equal_var=False, and its pooled t; R's help of t.test has the former
// with fewer digits.
func TestWelchGolden(t *testing.T) {
	t.Parallel()
	test, ok := Welch(sleepOne, sleepTwo)
	if !ok || !near(test.Difference, 1.58, 1e-14) || !near(test.Difference/test.StdErr, 1.8608134674868526, 1e-13) ||
		!near(test.DF, 17.776473516178488, 1e-13) || !near(test.P(), 0.0793941401873583, 1e-12) {
		t.Errorf("%+v, p %.16g, %v", test, test.P(), ok)
	}
	wantEstimate(t, "interval", test.Interval(.95), Estimate{1.58, -0.20548323071171137, 3.3654832307117104, .95})
	variance, df, ok := PooledVariance(sleepOne, sleepTwo)
	pooled := TTest{Difference: 1.58, StdErr: math.Sqrt(variance / 5), DF: df}
	if !ok || df != 18 || !near(pooled.Difference/pooled.StdErr, 1.8608134674868524, 1e-13) || !near(pooled.P(), 0.07918671421593822, 1e-12) {
		t.Errorf("pooled %g of %g degrees, p %.16g, %v", variance, df, pooled.P(), ok)
	}
}

// TestStudentGolden: SciPy 1.17.1, t.isf and 2 t.sf.
func TestStudentGolden(t *testing.T) {
	t.Parallel()
	tails := []float64{.25, .1, .025, .005, .0005, 1e-7}
	for df, want := range map[float64][]float64{
		1:    {1, 3.0776835371752536, 12.706204736174705, 63.65674116287158, 636.6192487687196, 3183098.8618378025},
		2.5:  {0.7850136829922992, 1.7302509288071761, 3.5746548420036834, 7.163728138948786, 18.277893528130647, 553.0599830483213},
		3:    {0.7648923284043444, 1.6377443536962089, 3.1824463052837086, 5.840909309733357, 12.923978636687481, 222.5715909471987},
		8.3:  {0.7051912876677879, 1.392302197776936, 2.2915762675950195, 3.3204435990449475, 4.954330284535966, 15.533092027850888},
		40:   {0.6806727171644491, 1.3030770526071946, 2.0210753903062733, 2.7044592674331622, 3.550965760863311, 6.265672024833234},
		1000: {0.6747351646070093, 1.2823987214609245, 1.9623390808264085, 2.580754698065951, 3.3002826484239134, 5.235998469292347},
		1e5:  {0.674492203553292, 1.2815600314493614, 1.95998770753461, 2.5758784699083757, 3.290624031411883, 5.199701988365053},
		1e7:  {0.6744897747295749, 1.281551650203083, 1.9599642217672055, 2.575829795203749, 3.2905277044652226, 5.199341226035259},
		1e9:  {0.6744897504414163, 1.2815515663911852, 1.9599639869123253, 2.5758293084654484, 3.2905267412216257, 5.19933761863122},
	} {
		for i, chance := range tails {
			if got := studentQuantile(chance, df); !near(got, want[i], 2e-9) {
				t.Errorf("%g degrees: %g is exceeded with chance %g, want %.16g", df, got, chance, want[i])
			}
		}
	}
	at := []float64{.01, 1, 3, 8}
	for df, want := range map[float64][]float64{
		1:           {0.993634014470186, 0.5, 0.20483276469913345, 0.07916684832113109},
		8.3:         {0.9922574875769766, 0.3455691784102989, 0.01637186171970232, 3.5419707511966624e-05},
		40:          {0.9920709969599448, 0.3233218117482911, 0.004630139784156135, 7.905084110104538e-10},
		1e5:         {0.9920213073188231, 0.3173129275641102, 0.0027004608840647234, 1.2573919876256345e-15},
		1e6:         {0.9920212893655476, 0.3173107498335783, 0.0026998625414218, 1.2455063433202503e-15},
		math.Inf(1): {0.9920212873707368, 0.31731050786291415, 0.0026997960632601866, 1.244192114854348e-15}, // 2 norm.sf
	} {
		for i, x := range at {
			if got := (TTest{Difference: x, StdErr: 1, DF: df}).P(); !near(got, want[i], 2e-8) {
				t.Errorf("%g degrees: p of %g is %.16g, want %.16g", df, x, got, want[i])
			}
		}
	}
}

// TestStudentQuantile: back to the chance it was asked for, from the middle to far out.
func TestStudentQuantile(t *testing.T) {
	t.Parallel()
	for _, df := range []float64{.3, .7, 1, 1.5, 2.9, 3.7, 8, 18.5, 40, 1e3, 1e5, 1e6, 1e8, math.Inf(1)} {
		for _, chance := range []float64{.4999, .45, .3, .025, 1e-3, 1e-6, 1e-12} {
			if back := studentTail(studentQuantile(chance, df), df); !near(back, chance, 1e-6) {
				t.Errorf("%g degrees, chance %g: %g", df, chance, back)
			}
		}
	}
}

// TestTTestProperties: swapped sides have the same p and the opposite interval, level and scale do not matter, p is .05
// where the interval of 95 % ends at zero, and the larger the least difference of interest the larger p.
func TestTTestProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(71, 72))
	for range 500 {
		base, head := iid(random, 2+random.IntN(9), identity), iid(random, 2+random.IntN(9), identity)
		was, _ := Welch(base, head)
		if back, _ := Welch(head, base); back.P() != was.P() || back.Interval(.95) != turned(was.Interval(.95)) {
			t.Fatalf("%+v, swapped %+v", was, back)
		}
		moved := func(values []float64) []float64 {
			other := slices.Clone(values)
			for i := range other {
				other[i] = 4*other[i] + 8
			}
			slices.Reverse(other)
			return other
		}
		if other, _ := Welch(moved(base), moved(head)); !near(other.P(), was.P(), 1e-9) || !near(other.Difference, 4*was.Difference, 1e-9) {
			t.Fatalf("%+v, moved %+v", was, other)
		}
		interval := was.Interval(.95)
		if p := was.PBeyond(math.Abs(was.Difference) - (interval.High - interval.Value)); was.P() < .05 && !near(p, .05, 1e-6) {
			t.Fatalf("%+v: p of what its interval leaves out is %g", was, p)
		}
		last := was.P()
		valuetest.Equal(t, was.PBeyond(0), last, was, "p")
		valuetest.Equal(t, was.PBeyond(-1), last, was, "p")
		for least := .05; least < 3; least += .05 {
			p := was.PBeyond(least)
			if p < last || p > 1 || least > math.Abs(was.Difference) && p < 1 {
				t.Fatalf("%+v: p beyond %g is %g, beyond less %g", was, least, p, last)
			}
			last = p
		}
	}
}

// TestTTestCoverage: of two equal distributions the interval contains 0, and p is above .05, in 95 of 100; and with a
// difference of just as much as is not of interest, p beyond it is below .05 in no more than 5.
func TestTTestCoverage(t *testing.T) {
	t.Parallel()
	const tries = 20_000
	random := rand.New(rand.NewPCG(73, 74))
	for _, c := range []struct {
		n, m     int
		widths   [2]float64
		pooled   bool
		farthest float64 // from 5 %, in standard errors of the simulation
	}{
		{5, 5, [2]float64{1, 1}, true, 4},
		{10, 10, [2]float64{1, 1}, true, 4},
		{4, 12, [2]float64{1, 1}, true, 4},
		{10, 10, [2]float64{1, 3}, false, 4},
		{20, 8, [2]float64{1, 2}, false, 4},
	} {
		missed, significant, beyond := 0, 0, 0
		for range tries {
			base := iid(random, c.n, func(z float64) float64 { return c.widths[0] * z })
			head := iid(random, c.m, func(z float64) float64 { return c.widths[1] * z })
			test, _ := Welch(base, head)
			if c.pooled {
				variance, df, _ := PooledVariance(base, head)
				test.StdErr, test.DF = math.Sqrt(variance*(1/float64(c.n)+1/float64(c.m))), df
			}
			if e := test.Interval(.95); e.Low > 0 || e.High < 0 {
				missed++
			}
			if test.P() < .05 {
				significant++
			}
			test.Difference += 2
			if test.PBeyond(2) < .05 {
				beyond++
			}
		}
		chance := math.Sqrt(.05 * .95 * tries)
		if missed != significant || math.Abs(float64(missed)-.05*tries) > c.farthest*chance || float64(beyond) > .05*tries+4*chance {
			t.Errorf("%+v: of %d, %d intervals miss, %d tests and %d beyond are significant", c, tries, missed, significant, beyond)
		}
	}
}

// TestTTestOfLittle: equal values, one value, none, and what is no number.
func TestTTestOfLittle(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for name, sides := range map[string][2][]float64{
		"nothing": {nil, nil}, "one": {{1}, {1, 2}}, "NaN": {{1, nan}, {1, 2}}, "infinity": {{1, 2}, {1, inf}},
		"out of range": {{-1e308, -1.1e308}, {1e308, 1.1e308}}, "a variance out of range": {{-1e308, 1e308}, {1, 2}},
	} {
		if test, ok := Welch(sides[0], sides[1]); ok {
			t.Errorf("%s: %+v", name, test)
		}
	}
	for name, sides := range map[string][2][]float64{
		"nothing": {nil, nil}, "one side": {nil, {1, 2, 3}}, "one each": {{1}, {2}}, "NaN": {{1, nan}, {1, 2}},
		"one NaN": {{nan}, {1, 2}}, "infinity": {{1, 2}, {inf}},
	} {
		if variance, df, ok := PooledVariance(sides[0], sides[1]); ok {
			t.Errorf("%s: variance %g of %g degrees", name, variance, df)
		}
	}
	if variance, df, ok := PooledVariance([]float64{5}, []float64{1, 3}); !ok || variance != 2 || df != 1 {
		t.Errorf("one and two: %g of %g degrees, %v", variance, df, ok)
	}
	equal, ok := Welch([]float64{3, 3}, []float64{3, 3, 3})
	if !ok || equal.P() != 1 || equal.DF != 3 || equal.Interval(.95) != (Estimate{0, 0, 0, .95}) {
		t.Errorf("equal: %+v, p %g, %v", equal, equal.P(), ok)
	}
	apart, ok := Welch([]float64{3, 3}, []float64{4, 4})
	if !ok || apart.P() != 0 || apart.PBeyond(.5) != 0 || apart.PBeyond(1) != 1 || apart.Interval(.95) != (Estimate{1, 1, 1, .95}) {
		t.Errorf("equal but for the side: %+v, p %g, %v", apart, apart.P(), ok)
	}
	for i, test := range []TTest{{}, {1, 1, 0}, {1, 1, -1}, {nan, 1, 1}, {1, nan, 1}, {1, 1, nan}, {1, -1, 1}, {1, inf, 5}, {inf, inf, 5}} {
		if p := test.P(); !math.IsNaN(p) || test.Interval(.95).Confidence != 0 {
			t.Errorf("%d: p of %+v is %g", i, test, p)
		}
	}
	if !math.IsNaN((TTest{1, 1, 1}).PBeyond(nan)) {
		t.Error("there is a p beyond NaN")
	}
	for i, test := range []TTest{{inf, 1, 5}, {inf, 1, inf}, {1, 5e-324, 1e7}, {1e308, 1e-300, 3}} {
		if p := test.P(); p != 0 {
			t.Errorf("%s: p of %+v is %g", strconv.Itoa(i), test, p)
		}
	}
	for i, test := range []TTest{{1, inf, 5}, {1, 1, .001}, {1, 1e308, 1}} {
		valuetest.Equal(t, test.Interval(.95), unbounded(1), i, "interval of", test)
	}
	for _, confidence := range []float64{0, 1, -1, nan} {
		valuetest.Equal(t, (TTest{1, 1, 1}).Interval(confidence), unbounded(1), "confidence", confidence)
	}
}
