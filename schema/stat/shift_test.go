package stat

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// Two examples of Hollander and Wolfe, Nonparametric Statistical Methods, 1973, which the help of R's wilcox.test has:
// the permeability of a membrane at term and at 12 to 26 weeks (p. 69), and a depression scale before and after (p.
// 29).
var (
	permeable = []float64{.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46}
	younger   = []float64{1.15, .88, .90, .74, 1.21}
	depressed = []float64{1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	treated   = []float64{.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
)

func less(a, b []float64) []float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return differences
}

// TestShiftGolden: R 4, wilcox.test with conf.int = TRUE, of the examples above.
func TestShiftGolden(t *testing.T) {
	t.Parallel()
	wantEstimate(t, "permeability", Shift(younger, permeable, .95), Estimate{.305, -.15, .76, 1 - 2*60./3003})
	wantEstimate(t, "depression", PairedShift(less(depressed, treated), .95), Estimate{.46, .01, .786, 1 - 2*10./512})
}

// TestRanks: the critical values of two-sided tests at 5 % are one less than the rank where an interval ends. Those of
// U are Milton's (Journal of the American Statistical Association 59, 1964), those of V Wilcoxon and Wilcox's (Some
// Rapid Approximate Statistical Procedures, 1964).
func TestRanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, m, critical int }{
		{2, 7, -1},
		{2, 8, 0},
		{3, 4, -1},
		{3, 5, 0},
		{4, 4, 0},
		{5, 5, 2},
		{6, 6, 5},
		{8, 8, 13},
		{10, 10, 23},
		{5, 10, 8},
		{10, 5, 8},
		{15, 15, 64},
		{20, 20, 127},
	} {
		if rank, reached := shiftRank(c.n, c.m, .95); rank != c.critical+1 || rank > 0 && reached < .95 {
			t.Errorf("of %d and %d: rank %d of confidence %g, want %d", c.n, c.m, rank, reached, c.critical+1)
		}
	}
	for n, critical := range map[int]int{5: -1, 6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 25: 89, 50: 434} {
		if rank, reached := signedRank(n, .95); rank != critical+1 || rank > 0 && reached < .95 {
			t.Errorf("of %d: rank %d of confidence %g, want %d", n, rank, reached, critical+1)
		}
	}
	// A chance of just one in twenty on either side is 90 %.
	if rank, reached := shiftRank(3, 3, .9); rank != 1 || reached != .9 {
		t.Errorf("of 3 and 3: rank %d of confidence %g", rank, reached)
	}
}

// TestNullDistributions: against every arrangement of small samples, and all cases are counted.
func TestNullDistributions(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		for m := range 6 {
			counts := make([]float64, n*m+1)
			for set := range 1 << (n + m) {
				u, others, chosen := 0, 0, 0
				for i := range n + m {
					if set>>i&1 == 1 {
						chosen++
						u += others
					} else {
						others++
					}
				}
				if chosen == n {
					counts[u]++
				}
			}
			compareNull(t, "U of "+strconv.Itoa(n)+" and "+strconv.Itoa(m), rankSum(n, m), counts)
		}
	}
	for n := range 10 {
		counts := make([]float64, n*(n+1)/2+1)
		for set := range 1 << n {
			v := 0
			for i := range n {
				v += (set >> i & 1) * (i + 1)
			}
			counts[v]++
		}
		compareNull(t, "V of "+strconv.Itoa(n), signedRanks()[n], counts)
	}
	// The number of ways to choose 50 of 100.
	if got := rankSum(50, 50).total; !near(got, 1.0089134454556420e29, 1e-14) {
		t.Errorf("%.16g cases of 50 and 50", got)
	}
	small, large := usualRankSums()[7][exactUsual], allRankSums()[7][exactUsual]
	valuetest.DeepEqual(t, small.below, large.below, "the tables differ")
	valuetest.Equal(t, small.total, large.total, "the tables differ")
}

func compareNull(t *testing.T, name string, d null, counts []float64) {
	t.Helper()
	var sum float64
	for u, count := range counts {
		sum += count
		valuetest.Equal(t, d.atMost(u), sum, name, u)
	}
	valuetest.Equal(t, d.total, sum, name)
	valuetest.Equal(t, d.atMost(-1), 0, name)
}

// TestNormalRanks: from 95 % on the normal approximation has no narrower interval than the exact distribution, and
// where it begins to be used one that is hardly wider.
func TestNormalRanks(t *testing.T) {
	t.Parallel()
	for _, confidence := range []float64{.95, .99, .999} {
		chance, _ := tailChance(confidence)
		for _, c := range [][2]int{{50, 50}, {20, 50}, {10, 50}, {5, 50}, {3, 50}, {2, 50}} {
			exact, _ := shiftRank(c[0], c[1], confidence)
			mean, variance := uMoments(c[0], c[1])
			rank, reached := normalRank(mean, math.Sqrt(variance), chance)
			if rank > exact || c[0] >= 10 && rank < exact*9/10 || rank > 0 && reached < confidence {
				t.Errorf("%g of %v: rank %d of confidence %g, exact %d", confidence, c, rank, reached, exact)
			}
		}
		exact, _ := signedRank(50, confidence)
		rank, reached := normalRank(50*51/4., math.Sqrt(50*51*101/24.), chance)
		if rank > exact || rank < exact*9/10 || reached < confidence {
			t.Errorf("%g of 50: rank %d of confidence %g, exact %d", confidence, rank, reached, exact)
		}
	}
	if rank, reached := shiftRank(1, 1000, .95); rank != 0 || reached != 0 {
		t.Errorf("of 1 and 1000: rank %d of confidence %g", rank, reached)
	}
}

// TestShiftProperties: swapped sides give the opposite, a distance added to head is added, a scale scales, and the
// order of values does not matter; all exactly, with few values and many, with ties and without.
func TestShiftProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(41, 42))
	for i := range 300 {
		n, m := 1+random.IntN(12), 1+random.IntN(12)
		if i%10 == 0 {
			n, m = 20+random.IntN(300), 20+random.IntN(300)
		}
		whole := func(z float64) float64 { return math.Round(z*float64(int(4)<<(i%8))) / 8 }
		base, head := iid(random, n, whole), iid(random, m, whole)
		was := Shift(base, head, .95)
		paired := PairedShift(base, .95)
		if was.Low > was.Value || was.Value > was.High || paired.Low > paired.Value || paired.Value > paired.High {
			t.Fatalf("%+v, %+v", was, paired)
		}
		affine := func(values []float64, factor, more float64) []float64 {
			other := make([]float64, len(values))
			for i, v := range values {
				other[i] = factor*v + more
			}
			random.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
			return other
		}
		for name, c := range map[string][2]Estimate{
			"swapped":       {Shift(head, base, .95), turned(was)},
			"shuffled":      {Shift(affine(base, 1, 0), affine(head, 1, 0), .95), was},
			"shifted":       {Shift(base, affine(head, 1, 512), .95), {was.Value + 512, was.Low + 512, was.High + 512, was.Confidence}},
			"scaled":        {Shift(affine(base, 4, 0), affine(head, 4, 0), .95), {4 * was.Value, 4 * was.Low, 4 * was.High, was.Confidence}},
			"paired turned": {PairedShift(affine(base, -1, 0), .95), turned(paired)},
			"paired moved":  {PairedShift(affine(base, 4, 512), .95), {4*paired.Value + 512, 4*paired.Low + 512, 4*paired.High + 512, paired.Confidence}},
		} {
			valuetest.Equal(t, c[0], c[1], name, n, m)
		}
	}
}

func turned(e Estimate) Estimate { return Estimate{-e.Value, -e.High, -e.Low, e.Confidence} }

// TestShiftCoverage: intervals contain the true value as often as they say, also where the distribution is skewed or
// the sides differ in size, and not much more often than the ranks allow.
func TestShiftCoverage(t *testing.T) {
	t.Parallel()
	const tries = 20_000
	random := rand.New(rand.NewPCG(43, 44))
	exponential := func(z float64) float64 { return math.Exp(z) }
	for name, c := range map[string]struct {
		n, m int
		of   func(float64) float64
	}{"normal": {5, 5, identity}, "large": {10, 10, identity}, "lognormal": {8, 8, exponential}, "unbalanced": {5, 20, identity}} {
		hits, paired := 0, 0
		_, reached := shiftRank(c.n, c.m, .95)
		_, signed := signedRank(c.m, .95)
		for range tries {
			base, head := iid(random, c.n, c.of), iid(random, c.m, c.of)
			if e := Shift(base, head, .95); e.Low <= 0 && 0 <= e.High {
				hits++
			}
			if e := PairedShift(iid(random, c.m, identity), .95); e.Low <= 0 && 0 <= e.High {
				paired++
			}
		}
		// Four standard errors.
		within := func(hits int, chance float64) bool {
			return math.Abs(float64(hits)/tries-chance) < 4*math.Sqrt(chance*(1-chance)/tries)
		}
		if !within(hits, reached) {
			t.Errorf("%s: %d of %d shifts, want %g", name, hits, tries, reached)
		}
		if signed > 0 && !within(paired, signed) {
			t.Errorf("%s: %d of %d paired shifts, want %g", name, paired, tries, signed)
		}
	}
}

// TestShiftOfLittle: what there is to say of no values, of few, of equal ones, of huge ones, and of what is no number.
func TestShiftOfLittle(t *testing.T) {
	t.Parallel()
	one := []float64{3}
	none := Estimate{math.NaN(), math.Inf(-1), math.Inf(1), 0}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for name, c := range map[string][2]Estimate{
		"nothing":          {Shift(nil, nil, .95), none},
		"one side":         {Shift(nil, one, .95), none},
		"NaN":              {Shift(one, []float64{1, math.NaN()}, .95), none},
		"infinity":         {Shift([]float64{math.Inf(1)}, one, .95), none},
		"no differences":   {PairedShift(nil, .95), none},
		"paired NaN":       {PairedShift([]float64{math.NaN()}, .95), none},
		"one each":         {Shift(one, []float64{5}, .95), unbounded(2)},
		"one difference":   {PairedShift(one, .95), unbounded(3)},
		"three each":       {Shift([]float64{1, 2, 3}, []float64{1, 2, 3}, .95), unbounded(0)},
		"equal":            {Shift([]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, .95), {0, 0, 0, 1 - 2./70}},
		"confidence 0":     {Shift([]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, 0), unbounded(0)},
		"confidence 1":     {PairedShift([]float64{7, 7, 7, 7, 7, 7}, 1), unbounded(7)},
		"confidence NaN":   {PairedShift([]float64{7, 7, 7, 7, 7, 7}, math.NaN()), unbounded(7)},
		"huge":             {PairedShift([]float64{1.5e308, 1.6e308}, .95), unbounded(1.55e308)},
		"out of range":     {Shift([]float64{-1.5e308}, []float64{1.5e308}, .95), unbounded(math.Inf(1))},
		"next to nothing":  {Shift([]float64{0}, []float64{5e-324}, .95), unbounded(5e-324)},
		"thousands, equal": {Shift(make([]float64, 3000), make([]float64, 200), .95), {0, 0, 0, Shift(make([]float64, 3000), make([]float64, 200), .95).Confidence}},
	} {
		if !same(c[0].Value, c[1].Value) || c[0].Low != c[1].Low || c[0].High != c[1].High || !near(c[0].Confidence, c[1].Confidence, 1e-12) {
			t.Errorf("%s: %+v, want %+v", name, c[0], c[1])
		}
	}
	if math.Signbit(Shift(make([]float64, 100), make([]float64, 100), .95).Value) {
		t.Error("the shift of zeros is -0")
	}
}

// TestShiftAllocates: nothing up to 20 values a side.
func TestShiftAllocates(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 46))
	base, head := iid(random, 20, identity), iid(random, 20, identity)
	if count := testing.AllocsPerRun(100, func() { Shift(base, head, .95); PairedShift(base, .95) }); count > 0 {
		t.Errorf("%g allocations", count)
	}
}
