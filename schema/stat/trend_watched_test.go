package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// watch is how a series without a change is looked at: after each session from the eighth to the last.
type watch struct {
	name   string
	alpha  float64
	newest int // sessions in which a change counts; 0: in all
	last   int
	series int
}

// watches are those of all kinds of noise, and those of a year, which take long, of two kinds.
var (
	watches = []watch{{"history", .05, 0, 100, 100}, {"`--gate`", .05 / 365, 14, 100, 100}}
	ofAYear = []watch{{"`--gate`", .05 / 365, 14, trendShortest + 364, 50}}
)

// calledOnce tells whether a series is called changed at any look.
func (w watch) calledOnce(series []float64) bool {
	for n := trendShortest; n <= len(series); n++ {
		for _, p := range NewTrend(series[:n]).Changes(w.alpha, within(math.Log(1.02))) {
			if w.newest == 0 || max(p.Index, p.Until-1) >= n-w.newest {
				return true
			}
		}
	}
	return false
}

// row returns a line of the table, and the share of series that are called changed.
func (w watch) row(noise sessionNoise) (line string, called float64) {
	random := rand.New(rand.NewPCG(31, uint64(w.last)))
	for range w.series {
		logs := noise.make(random, w.last)
		for i := range logs {
			logs[i] *= sessionSpread
		}
		if w.calledOnce(logs) {
			called += 1 / float64(w.series)
		}
	}
	return fmt.Sprintf("| %s | %s | 8 to %d | %d | %.0f %% |\n", noise.name, w.name, w.last, w.series, 100*called), called
}

// TestTrendWatched measures how many series without a change are called changed at least once where each new session is looked
// at: with NEUROLENS_LONG=1 for the table in VALIDATION.md. With -v it prints the table.
func TestTrendWatched(t *testing.T) {
	t.Parallel()
	long := os.Getenv("NEUROLENS_LONG") != ""
	lines := make([]string, len(sessionNoises))
	var all sync.WaitGroup
	for i, noise := range sessionNoises {
		looks := watches
		switch {
		case !long:
			looks = []watch{{"`--gate`", .05 / 365, 14, 30, 20}}
		case i == 0, noise.name == wandering(.6).name:
			looks = slices.Concat(watches, ofAYear)
		}
		all.Go(func() {
			for _, w := range looks {
				line, called := w.row(noise)
				lines[i] += line
				if slack := 3 * math.Sqrt(.05*.95/float64(w.series)); w.newest > 0 && called > .05+slack {
					t.Errorf("called changed: %s", line)
				}
			}
		})
	}
	all.Wait()
	table := "| noise | looked at by | sessions | series | called at least once |\n|---|---|---:|---:|---:|\n" + strings.Join(lines, "")
	t.Log("\n" + table)
	if long && runtime.GOARCH == "amd64" { // others round otherwise
		document := valuetest.Must(os.ReadFile("../../query/judge/VALIDATION.md"))
		valuetest.Contains(t, string(document), table, "VALIDATION.md has another table")
	}
}
