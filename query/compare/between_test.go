package compare

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBetweenNights compares the last night before a step of 0 and of 20 % with a later one. The nights between them have the step, too. It
// makes the table of VALIDATION.md.
func TestBetweenNights(t *testing.T) {
	t.Parallel()
	comparisons := 200
	if querytest.Long() {
		comparisons = 4000
	}
	real := realLevels(t)
	table := "| nights | apart | any false | +20 % found |\n|---|--:|--:|--:|\n"
	for _, kind := range []struct {
		name  string
		level func(*rand.Rand) func() float64
		least float64 // share of steps that have to be found
	}{
		{"normal, 2 %", func(random *rand.Rand) func() float64 { return func() float64 { return .02 * random.NormFloat64() } }, .8},
		{"real runs", func(random *rand.Rand) func() float64 {
			of := real[random.IntN(len(real))]
			return func() float64 { return of[random.IntN(len(of))] }
		}, .35},
	} {
		for _, apart := range []int{1, 2, 3, 4} {
			var changed [2]int
			for i, step := range []float64{0, math.Log(1.2)} {
				random := rand.New(rand.NewPCG(uint64(apart), uint64(i)))
				for range comparisons {
					if v := verdictOfNights(random, kind.level(random), step, apart); v == judge.Regressed || v == judge.Improved {
						changed[i]++
					}
				}
			}
			n := float64(comparisons)
			table += fmt.Sprintf("| %s | %d | %.1f %% | %.0f %% |\n", kind.name, apart, 100*float64(changed[0])/n, 100*float64(changed[1])/n)
			if f := float64(changed[0]) / n; f > judge.Level+3*math.Sqrt(judge.Level*(1-judge.Level)/n) {
				t.Errorf("%s, %d apart: %.1f %% are false", kind.name, apart, 100*f)
			}
			if float64(changed[1])/n < kind.least {
				t.Errorf("%s, %d apart: only %.0f %% are found", kind.name, apart, 100*float64(changed[1])/n)
			}
		}
	}
	t.Log("\n" + table)
	if querytest.Long() {
		valuetest.Contains(t, string(valuetest.Must(os.ReadFile("../judge/VALIDATION.md"))), table, "VALIDATION.md has another table")
	}
}

// verdictOfNights compares the last of 20 nights with another one, so many nights later, after a step. Each night has 5 runs.
func verdictOfNights(random *rand.Rand, level func() float64, step float64, apart int) judge.Verdict {
	const before, night = 20, 24 * 3600e6
	var all []earlierSession
	runs := make([][]float64, before+apart)
	for i := range runs {
		location := level()
		if i >= before {
			location += step
		}
		all = append(all, earlierSession{Began: int64(i+1) * night, Location: math.Exp(location)})
		for range 5 {
			runs[i] = append(runs[i], location+.005*random.NormFloat64())
		}
	}
	side := func(s earlierSession) *selectedSide {
		return &selectedSide{Side: Side{Since: s.Began, Until: s.Began + 60e6}}
	}
	base, head := before-1, before+apart-1
	m := comparison{base: side(all[base]), head: side(all[head])}
	p := pairing{distance: int64(apart * night)}
	var history []float64
	for _, s := range p.spaced(m.notBetween(all[:head])) {
		history = append(history, math.Log(s.Location))
	}
	pair := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: true, Base: runs[base], Head: runs[head], History: history}
	return judge.Judge([][]judge.Pair{{pair}}, judge.Rules{})[0].Outcomes[0].Verdict
}

// realLevels returns the logarithms of the medians of the runs of each point of fixtures/aa.
func realLevels(t *testing.T) [][]float64 {
	file := valuetest.Must(os.Open("../../fixtures/aa/aa.csv"))
	defer file.Close()
	levels := map[string][]float64{}
	for _, row := range valuetest.Must(csv.NewReader(file).ReadAll())[1:] {
		var samples []float64
		for _, text := range strings.Fields(row[5]) {
			samples = append(samples, math.Log(valuetest.Must(strconv.ParseFloat(text, 64))))
		}
		levels[row[0]] = append(levels[row[0]], stat.Median(samples))
	}
	var all [][]float64
	for _, point := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, levels[point])
	}
	return all
}
