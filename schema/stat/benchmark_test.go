package stat

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// What a comparison of 100,000 points asks of each.
func BenchmarkPoint(b *testing.B) {
	random := rand.New(rand.NewPCG(61, 62))
	base, head := iid(random, 10, identity), iid(random, 10, identity)
	test, _ := Welch(base, head)
	moderated := TTest{Difference: test.Difference, StdErr: test.StdErr, DF: 21.37}
	usualRankSums()
	signedRanks()
	for name, f := range map[string]func(){
		"shift":        func() { Shift(base, head, .95) },
		"paired shift": func() { PairedShift(base, .95) },
		"welch":        func() { Welch(base, head) },
		"p":            func() { moderated.P() },
		"p beyond":     func() { moderated.PBeyond(.1) },
		"interval":     func() { moderated.Interval(.95) },
		"mann-whitney": func() { MannWhitney(base, head) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

// Ways to select from all differences of two sides: those written down, and those that are not.
func BenchmarkShift(b *testing.B) {
	random := rand.New(rand.NewPCG(63, 64))
	for name, n := range map[string]int{"20": 20, "63": 63, "64": 64, "10000": 10_000} {
		base, head := iid(random, n, identity), iid(random, n, identity)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Shift(base, head, .95)
			}
		})
	}
}

// What a history of a million runs asks of each of its series.
func BenchmarkTrend(b *testing.B) {
	random := rand.New(rand.NewPCG(67, 68))
	for _, n := range []int{40, 400, 4000} {
		series := autoregressive(random, n, .3)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := NewTrend(series)
				t.changePoints(.05, within(0))
				t.VisibleChanges(.05, within(0))
			}
		})
	}
}

func BenchmarkFitPrior(b *testing.B) {
	random := rand.New(rand.NewPCG(65, 66))
	variances, df := make([]float64, 100_000), make([]float64, 100_000)
	for i := range variances {
		variances[i], df[i] = random.ExpFloat64(), 18
	}
	for b.Loop() {
		FitPrior(variances, df)
	}
}

func BenchmarkRankSums(b *testing.B) {
	for _, most := range []int{exactUsual, maxExact} {
		b.Run(strconv.Itoa(most), func(b *testing.B) {
			for b.Loop() {
				countRankSums(most)
			}
		})
	}
}

func identity(z float64) float64 { return z }
