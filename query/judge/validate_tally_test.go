package judge_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// tally counts the results of a rule on a data set.
type tally struct {
	rule
	points, sweeps int // that were judged, with nothing changed and as many with a tenth of the points slower

	wrong, wrongSweeps int     // called different, and sweeps with any, where nothing changed
	falseShare         float64 // sum over the sweeps of the share of the calls that are false, where a tenth is slower
	slower, found      int     // points that are slower, and those of them called so
}

// share is in percent.
func share(count, of int) float64 { return 100 * float64(count) / float64(of) }

func (t *tally) falsePoints() float64 { return share(t.wrong, t.points) }
func (t *tally) falseSweeps() float64 { return share(t.wrongSweeps, t.sweeps) }
func (t *tally) fdr() float64         { return 100 * t.falseShare / float64(t.sweeps) }
func (t *tally) power() float64       { return share(t.found, t.slower) }

// add counts the verdicts of one sweep in which nothing changed.
func (t *tally) add(calls []int) {
	t.sweeps++
	t.points += len(calls)
	before := t.wrong
	for _, c := range calls {
		if c != 0 {
			t.wrong++
		}
	}
	if t.wrong > before {
		t.wrongSweeps++
	}
}

// addInjected counts the verdicts of one sweep in which some points are slower.
func (t *tally) addInjected(sweep []point, calls []int) {
	var right, all int
	for i, c := range calls {
		if sweep[i].factor > 1 {
			t.slower++
			if c > 0 {
				right++
			}
		}
		if c != 0 {
			all++
		}
	}
	t.found += right
	if all > 0 {
		t.falseShare += float64(all-right) / float64(all)
	}
}

// calls are the verdicts of every rule in one sweep: with nothing changed, and with a tenth of the points slower.
type calls struct {
	sweep           []point
	nothing, slower [][]int // nil for the rules that were not asked
}

// callsOf draws a sweep and applies the rules. Its number alone determines what is drawn.
func (d *dataSet) callsOf(number int) calls {
	name := fnv.New64a()
	name.Write([]byte(d.name))
	random := rand.New(rand.NewPCG(name.Sum64(), uint64(number)))
	c := calls{sweep: d.draw(random), nothing: make([][]int, len(rules)), slower: make([][]int, len(rules))}
	ask := func(of [][]int) {
		for i := range rules {
			if !rules[i].peer || number < d.peers {
				of[i] = rules[i].call(c.sweep)
			}
		}
	}
	ask(c.nothing)
	inject(random, c.sweep)
	ask(c.slower)
	return c
}

// tallies returns the tally of every rule over all sweeps of a data set. All processors draw; the sums are in order.
func (d *dataSet) tallies() []tally {
	all := make([]calls, d.sweeps)
	numbers := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for number := range numbers {
				all[number] = d.callsOf(number)
				all[number].sweep = factorsOf(all[number].sweep)
			}
		})
	}
	for number := range all {
		numbers <- number
	}
	close(numbers)
	wait.Wait()

	tallies := make([]tally, len(rules))
	for i := range tallies {
		tallies[i].rule = rules[i]
		for _, c := range all {
			if c.nothing[i] != nil {
				tallies[i].add(c.nothing[i])
				tallies[i].addInjected(c.sweep, c.slower[i])
			}
		}
	}
	return tallies
}

// factorsOf keeps what is needed of points to judge them, so that their samples can be released.
func factorsOf(sweep []point) []point {
	kept := make([]point, len(sweep))
	for i := range sweep {
		kept[i].factor = sweep[i].factor
	}
	return kept
}

// measures are the rows of the table for each data set.
var measures = []struct {
	name string
	of   func(t *tally) float64
}{
	{"points", (*tally).falsePoints},
	{"comparisons", (*tally).falseSweeps},
	{"FDR", (*tally).fdr},
	{"found", (*tally).power},
}

// tableHead returns the first two lines of the table.
func tableHead() []string {
	var names, rulers strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&names, " %s |", r.name)
		rulers.WriteString("--:|")
	}
	return []string{"| data | % of |" + names.String(), "|---|---|" + rulers.String()}
}

// tableRows returns the lines of a data set.
func (d *dataSet) tableRows(tallies []tally) []string {
	var lines []string
	for k, m := range measures {
		var line strings.Builder
		name := d.name
		if k > 0 {
			name = ""
		}
		fmt.Fprintf(&line, "| %s | %s |", name, m.name)
		for i := range tallies {
			fmt.Fprintf(&line, " %s |", percent(m.of(&tallies[i])))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// percent has two decimals where one would be 0.
func percent(v float64) string {
	switch {
	case v > 0 && v < .01:
		return "<0.01"
	case v > 0 && v < .1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// tallyOf returns the tally of a rule by name.
func tallyOf(t *testing.T, tallies []tally, name string) *tally {
	t.Helper()
	for i := range tallies {
		if tallies[i].name == name {
			return &tallies[i]
		}
	}
	t.Fatalf("there is no rule %q", name)
	return nil
}
