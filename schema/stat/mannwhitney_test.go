package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMannWhitneyGolden: SciPy 1.17.1, mannwhitneyu: its documented example; exact, without ties, and of 98 values; by
// all permutations where there are ties; asymptotic with ties, infinite values and more values than are counted out.
func TestMannWhitneyGolden(t *testing.T) {
	t.Parallel()
	count := func(n int, of func(i float64) float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = of(float64(i))
		}
		return values
	}
	for name, c := range map[string]struct {
		a, b []float64
		u, p float64
	}{
		"documented":   {[]float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 17, 1. / 9},
		"permeability": {permeable, younger, 35, 0.2544122544122544},
		"48 and 50": {
			count(48, func(i float64) float64 { return 1.5 * i }), count(50, func(i float64) float64 { return i*1.7 + 9.11 }),
			777, 0.0024301653348294287,
		},
		"60 and 45": {
			count(60, func(i float64) float64 { return i }), count(45, func(i float64) float64 { return 2*i + 5.5 }),
			756, 0.00012151252331714564,
		},
		"ties":          {[]float64{1, 2, 2, 3, 5}, []float64{2, 3, 3, 6}, 6, 0.4126984126984127},
		"lopsided ties": {[]float64{2, 1, 3, 5}, []float64{1, 1, 1, 1, 1}, 17.5, 0.09523809523809523},
		"infinite":      {[]float64{math.Inf(1), 3}, []float64{1, 2, math.Inf(-1)}, 6, .2},
		"equal":         {[]float64{1, 1, 1}, []float64{1, 1, 1}, 4.5, 1},
		"many equal":    {make([]float64, 60), make([]float64, 60), 1800, 1},
		"one side":      {nil, []float64{1}, 0, 1},
	} {
		if u, p := MannWhitney(c.a, c.b); u != c.u || !near(p, c.p, 1e-12) {
			t.Errorf("%s: u %g, p %.16g, want %g, %.16g", name, u, p, c.u, c.p)
		}
	}
	if u, p := MannWhitney([]float64{1, math.NaN()}, []float64{2}); !math.IsNaN(u) || !math.IsNaN(p) {
		t.Errorf("of NaN: u %g, p %g", u, p)
	}
	// Google Benchmark's test of its U test: SciPy's asymptotic p of a tie.
	lower, upper := newTies([]float64{8, 8}, []float64{7, 4.54, 800}).normal()
	if p := 2 * min(lower, upper); !near(p, 0.7670968684102772, 1e-12) {
		t.Errorf("asymptotic p %.16g", p)
	}
}

// TestConditional: without ties it is the table, and with ties what all arrangements give.
func TestConditional(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(55, 56))
	for range 100 {
		n, m := 1+random.IntN(5), 1+random.IntN(5)
		all := iid(random, n+m, func(z float64) float64 { return math.Round(2 * z) })
		s := newTies(all[:n], all[n:])
		var lower, upper, cases float64
		for set := range 1 << (n + m) {
			var a, b []float64
			for i, v := range all {
				if set>>i&1 == 1 {
					a = append(a, v)
				} else {
					b = append(b, v)
				}
			}
			if len(a) != n {
				continue
			}
			cases++
			u := newTies(a, b).u
			if u <= s.u {
				lower++
			}
			if u >= s.u {
				upper++
			}
		}
		gotLower, gotUpper := s.conditional()
		if !near(gotLower, lower/cases, 1e-12) || !near(gotUpper, upper/cases, 1e-12) {
			t.Fatalf("%v, %v: %g and %g, want %g and %g", all[:n], all[n:], gotLower, gotUpper, lower/cases, upper/cases)
		}
		smooth := newTies(iid(random, n, identity), iid(random, m, identity))
		l, u := smooth.conditional()
		if d := rankSum(n, m); !near(l, d.atMost(int(smooth.u))/d.total, 1e-12) || !near(u, d.atMost(d.last-int(smooth.u))/d.total, 1e-12) {
			t.Fatalf("%d and %d without ties, U %g: %g and %g", n, m, smooth.u, l, u)
		}
	}
}

// TestMannWhitneyProperties: swapped sides have the same p and the other pairs; order, level and scale do not matter;
// and of equal distributions at most a twentieth have a p of .05, with ties and without, at any size.
func TestMannWhitneyProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(57, 58))
	for _, steps := range []float64{2, 1 << 40} {
		for _, c := range [][2]int{{5, 5}, {5, 10}, {20, 8}, {30, 20}, {60, 60}} {
			const tries = 2000
			rejected := 0
			for range tries {
				of := func(z float64) float64 { return math.Round(steps*z) / steps }
				a, b := iid(random, c[0], of), iid(random, c[1], of)
				u, p := MannWhitney(a, b)
				if v, q := MannWhitney(b, a); u+v != float64(c[0]*c[1]) || !near(p, q, 1e-12) {
					t.Fatalf("u %g, p %g, swapped %g, %g", u, p, v, q)
				}
				if p <= .05 {
					rejected++
				}
				moved, back := slices.Clone(a), slices.Clone(b)
				for i := range moved {
					moved[i] = 4*moved[i] + 8
				}
				for i := range back {
					back[i] = 4*back[i] + 8
				}
				slices.Reverse(back)
				if v, q := MannWhitney(moved, back); u != v || p != q {
					t.Fatalf("u %g, p %g, moved %g, %g", u, p, v, q)
				}
			}
			if rejected > tries/20+4*int(math.Sqrt(tries/20)) {
				t.Errorf("%v in steps of 1/%g: %d of %d rejected", c, steps, rejected, tries)
			}
		}
	}
}
