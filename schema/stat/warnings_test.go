package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNoFalseWarnings: of 400 runs of independent samples at most 2 % are warned of, by each word. spread is left out
// where the samples really are that wide.
func TestNoFalseWarnings(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(41, 42))
	for _, c := range []struct {
		name string
		wide bool
		of   func(z float64) float64
	}{
		{"normal 2 %", false, func(z float64) float64 { return 1000 * (1 + .02*z) }},
		{"normal 10 %", true, func(z float64) float64 { return 1000 * (1 + .1*z) }},
		{"lognormal 2 %", false, func(z float64) float64 { return 1000 * math.Exp(.02*z) }},
		{"lognormal 50 %", true, func(z float64) float64 { return 1000 * math.Exp(.5*z) }},
		{"uniform 20 %", true, func(float64) float64 { return 1000 * (1 + .2*random.Float64()) }},
		{"a tail of 1 %", false, func(z float64) float64 { return 1000 * (1 + .02*z) * (1 + 9*math.Floor(random.Float64()+.01)) }},
	} {
		for _, n := range []int{10, 20, 30, 100, 1000} {
			said := map[string]int{}
			for range 400 {
				for _, word := range Warnings(iid(random, n, c.of), .001, 1) {
					said[word]++
				}
			}
			for word, times := range said {
				// Twice 1 % and the chance of so many more in 400.
				if times > 12 && !(word == WarnSpread && c.wide) {
					t.Errorf("%s, %d samples: %s in %d of 400 runs", c.name, n, word, times)
				}
			}
		}
	}
}

// TestPlantedWarnings: what is there is said, and nothing but what it brings with it, in at least 95 of 100 runs.
func TestPlantedWarnings(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(43, 44))
	steady := func(z float64) float64 { return 1000 * (1 + .005*z) }
	planted := func(n int, change func(values []float64)) func() []float64 {
		return func() []float64 {
			values := iid(random, n, steady)
			change(values)
			return values
		}
	}
	for _, c := range []struct {
		name        string
		values      func() []float64
		tick, floor float64
		want        string   // none: nothing is said
		also        []string // may be said too
	}{
		{"nothing", planted(100, func([]float64) {}), 1, 10, "", nil},
		{"a third of 20 % noise", planted(100, func(v []float64) {
			for i := range v {
				v[i] *= 1 + .2*random.NormFloat64()
			}
		}), 1, 10, WarnSpread, nil},
		{"2 % slower at the end", planted(100, func(v []float64) {
			for i := range v {
				v[i] += 20 * float64(i) / 100
			}
		}), 1, 10, WarnDrift, []string{WarnAutocorrelation}},
		{"0.3 % slower at the end", planted(1000, func(v []float64) {
			for i := range v {
				v[i] += 3 * float64(i) / 1000
			}
		}), 1, 10, "", nil},
		{"a third of the samples 5 % slower", planted(100, func(v []float64) {
			for i := range v {
				if random.IntN(3) == 0 {
					v[i] *= 1.05
				}
			}
		}), 1, 10, WarnModes, nil},
		{"a third of the samples 15 % slower: the median deviation is small, the interquartile range is not", planted(100, func(v []float64) {
			for i := range v {
				if random.IntN(3) == 0 {
					v[i] *= 1.15
				}
			}
		}), 1, 10, WarnModes, nil},
		{"neighbours alike", func() []float64 {
			values := autoregressive(random, 2000, .85)
			for i := range values {
				values[i] = steady(values[i])
			}
			return values
		}, 1, 10, WarnAutocorrelation, nil},
		{"a coarse tick", planted(100, func([]float64) {}), 6, 10, WarnQuantised, nil},
		{"a coarse clock", planted(1000, func(v []float64) {
			for i := range v {
				v[i] = 7 * math.Round(v[i]*1.003/7)
			}
		}), 1, 10, WarnQuantised, nil},
		{"two ticks", planted(100, func(v []float64) {
			for i := range v {
				v[i] = 1000 + 30*float64(random.IntN(2))
			}
		}), 1, 10, WarnQuantised, nil},
		{"a fine clock, many samples", planted(1000, func(v []float64) {
			for i := range v {
				v[i] = math.Round(v[i])
			}
		}), 1, 10, "", nil},
		{"short", planted(100, func([]float64) {}), 1, 60, WarnShort, nil},
		{"a slow first sample", planted(100, func(v []float64) { v[0] *= 2.5 }), 1, 10, WarnSlowStart, nil},
		{"a first sample half as slow again", planted(100, func(v []float64) { v[0] *= 1.5 }), 1, 10, "", nil},
		{"a new level at the end", planted(100, func(v []float64) {
			for i := 90; i < 100; i++ {
				v[i] *= 1.08
			}
		}), 1, 10, WarnUnsteady, []string{WarnModes, WarnAutocorrelation, WarnDrift}},
	} {
		right, other := 0, map[string]int{}
		for range 100 {
			words := Warnings(c.values(), c.tick, c.floor)
			beside := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == c.want || slices.Contains(c.also, w) })
			if len(beside) == 0 && (c.want == "" || slices.Contains(words, c.want)) {
				right++
			} else {
				other[fmt.Sprint(words)]++
			}
		}
		if right < 95 {
			t.Errorf("%s: %d of 100 are %q, others %v", c.name, right, c.want, other)
		}
	}
}

// TestWarningsProperties: another unit changes nothing, another order only what is about order, and no samples crash it.
func TestWarningsProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(45, 46))
	ordered := []string{WarnDrift, WarnAutocorrelation, WarnSlowStart, WarnUnsteady}
	for range 100 {
		level := 1.0
		values := iid(random, 10+random.IntN(300), func(z float64) float64 {
			if random.IntN(40) == 0 {
				level = .7 + .6*random.Float64()
			}
			return 1000 * level * math.Exp(.05*z)
		})
		words := Warnings(values, 2, 40)
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= 1024
		}
		valuetest.DeepEqual(t, Warnings(scaled, 2048, 40960), words)
		shuffled := slices.Clone(values)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		order := func(word string) bool { return slices.Contains(ordered, word) }
		again := slices.DeleteFunc(Warnings(shuffled, 2, 40), order)
		if words = slices.DeleteFunc(words, order); !slices.Equal(again, words) {
			t.Fatalf("%v becomes %v in another order", words, again)
		}
	}
	if step := clockStep(slices.Sorted(slices.Values(slices.Repeat([]float64{1, 2, 4}, 20))), 5); step != 5 {
		t.Errorf("a tick of 5 becomes a step of %g", step) // of means of ticks, say
	}
	huge := slices.Repeat([]float64{-1.7e308, 1.7e308, 1.7e308}, 20)
	for _, values := range [][]float64{
		nil,
		{1},
		{0, 0},
		{-1, -2},
		{1, math.NaN()},
		{1, math.Inf(1)},
		slices.Repeat([]float64{5}, 60), make([]float64, 60), append(make([]float64, 11), drifting[:9]...),
	} {
		if words := Warnings(values, 0, 0); words != nil {
			t.Errorf("%v is called %v", values, words)
		}
	}
	Warnings(huge, 0, 0)
}
