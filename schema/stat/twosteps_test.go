package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSeparated: of all orders of the values of two or three levels, at most a share p has a p so small, wherever the parts end.
func TestSeparated(t *testing.T) {
	t.Parallel()
	for _, of := range [][]float64{{0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 0, 0, 0, 1, 1, 2, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}} {
		var all []float64
		for values := slices.Clone(of); ; {
			all = append(all, smallestSeparated(values))
			if !permute(values) {
				break
			}
		}
		slices.Sort(all)
		for i, p := range all {
			if share := float64(i+1) / float64(len(all)); p < share-1e-9 && (i+1 == len(all) || all[i+1] > p) {
				t.Errorf("%v: a share of %g of the orders has a p of at most %g", of, share, p)
			}
		}
		if all[0] > .2 {
			t.Errorf("%v: the smallest p is %g", of, all[0])
		}
	}
}

// smallestSeparated returns the smallest p of the order of values over all divisions into three parts, and all levels of the parts.
func smallestSeparated(values []float64) float64 {
	p := 1.
	levels := slices.Compact(slices.Sorted(slices.Values(values)))
	for first := 1; first < len(values)-1; first++ {
		for second := first + 1; second < len(values); second++ {
			for _, before := range levels {
				for _, between := range levels {
					for _, after := range levels {
						if before != between && between != after && (len(levels) < 3 || before != after) {
							p = min(p, math.Exp(separated(values, [...]int{first, second, len(values)}, [...]float64{before, between, after})))
						}
					}
				}
			}
		}
	}
	return p
}

// permute changes values to their next order, and reports whether there is one (Knuth, The Art of Computer Programming 4A, algorithm L).
func permute(values []float64) bool {
	i := len(values) - 2
	for i >= 0 && values[i] >= values[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(values) - 1
	for values[j] <= values[i] {
		j--
	}
	values[i], values[j] = values[j], values[i]
	slices.Reverse(values[i+1:])
	return true
}

// twoStepsTried are numbers of sessions on three levels.
var twoStepsTried = [][3]int{{4, 4, 4}, {6, 5, 5}, {8, 5, 5}, {8, 8, 8}, {20, 5, 5}, {20, 10, 10}, {40, 5, 5}, {40, 10, 10}, {80, 10, 5}, {80, 10, 10}}

// TestTwoSteps measures how many of two steps of 10 standard deviations are found, the second upwards as well or back, within a session of their
// places: with NEUROLENS_LONG=1 over all series of the table in VALIDATION.md. With -v it prints the table.
func TestTwoSteps(t *testing.T) {
	t.Parallel()
	series, long := 1000, os.Getenv("NEUROLENS_LONG") != ""
	if !long {
		series = 100
	}
	otava := func(logs []float64) []int {
		values := make([]float64, len(logs))
		for i, v := range logs {
			values[i] = math.Exp(v)
		}
		return Otava(values)
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| noise | sessions | two up | one of them | elsewhere | up and back | one of them | elsewhere | Otava: two up | elsewhere | up and back | elsewhere |")
	fmt.Fprintln(&table, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, noise := range []sessionNoise{sessionNoises[0], sessionNoises[3], sessionNoises[4]} {
		for _, counts := range twoStepsTried {
			ours := [2]twoStepsFound{}
			theirs := [2]twoStepsFound{}
			random := rand.New(rand.NewPCG(83, uint64(counts[0])))
			for range series {
				logs := noise.make(random, counts[0]+counts[1]+counts[2])
				for i, second := range []float64{20, 0} {
					changed := make([]float64, len(logs))
					for at, z := range logs {
						level := 0.
						switch {
						case at >= counts[0]+counts[1]:
							level = second
						case at >= counts[0]:
							level = 10
						}
						changed[at] = .01 * (z + level)
					}
					ours[i].add(counts, places(NewTrend(changed).Changes(.05, within(math.Log(1.02)))))
					theirs[i].add(counts, otava(changed))
				}
			}
			share := func(n int) float64 { return 100 * float64(n) / float64(series) }
			fmt.Fprintf(&table, "| %s | %d, %d, %d |", noise.name, counts[0], counts[1], counts[2])
			for _, f := range ours {
				fmt.Fprintf(&table, " %.0f %% | %.0f %% | %.0f %% |", share(f.both), share(f.one), share(f.elsewhere))
			}
			for _, f := range theirs {
				fmt.Fprintf(&table, " %.0f %% | %.0f %% |", share(f.both), share(f.elsewhere))
			}
			table.WriteByte('\n')
			if noise.name == sessionNoises[0].name && counts[0] >= 8 && (share(ours[0].both) < 80 || share(ours[1].both) < 90) {
				t.Errorf("%d sessions: %+v", counts, ours)
			}
		}
	}
	t.Log("\n" + table.String())
	if long && runtime.GOARCH == "amd64" { // others round otherwise
		document := valuetest.Must(os.ReadFile("../../query/judge/VALIDATION.md"))
		valuetest.Contains(t, string(document), table.String(), "VALIDATION.md has another table")
	}
}

// twoStepsFound counts series by which of two steps were found.
type twoStepsFound struct{ both, one, elsewhere int }

// add counts a series with so many sessions on each level. A series with a step elsewhere counts there as well.
func (f *twoStepsFound) add(counts [3]int, found []int) {
	hits, elsewhere := 0, 0
	for _, at := range found {
		if max(at-counts[0], counts[0]-at) <= 1 || max(at-counts[0]-counts[1], counts[0]+counts[1]-at) <= 1 {
			hits++
		} else {
			elsewhere = 1
		}
	}
	f.elsewhere += elsewhere
	switch {
	case hits >= 2:
		f.both++
	case hits == 1:
		f.one++
	}
}

// TestStepsBesideAStep: where a level changes by much, at most 5 % of the series have another step, as in series without a change.
func TestStepsBesideAStep(t *testing.T) {
	t.Parallel()
	draws, lengths := 100, []int{16, 60}
	if os.Getenv("NEUROLENS_LONG") != "" {
		draws, lengths = 2000, []int{12, 16, 20, 30, 60, 100}
	}
	for _, of := range stationaries {
		line := of.name
		for _, n := range lengths {
			random := rand.New(rand.NewPCG(89, uint64(n)))
			beside := 0
			for range draws {
				series, at := of.make(random, n), 2*n/5
				for i := at; i < n; i++ {
					series[i]++
				}
				if slices.ContainsFunc(NewTrend(series).Changes(.05, within(math.Log(1.02))), func(c ChangePoint) bool { return max(c.Index-at, at-c.Index) > 1 }) {
					beside++
				}
			}
			share := float64(beside) / float64(draws)
			line += fmt.Sprintf(" %d: %.1f %%", n, 100*share)
			if share > .05+3*math.Sqrt(.05*.95/float64(draws)) {
				t.Errorf("%s, %d sessions: %.1f %% have another step", of.name, n, 100*share)
			}
		}
		t.Log(line)
	}
}
