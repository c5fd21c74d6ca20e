package benchmarks

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The number of runs of a sweep of short runs, how often it is measured, and how many runs the shortest sweep has, which takes what every
// session takes.
const (
	shortRuns    = 300
	shortestRuns = 1
	shortRounds  = 3
)

// shortGoal is the most that a run may take, as a ratio to a bare start of its program.
const shortGoal = 4

// BenchmarkShortRuns measures a sweep of many runs of the program true, one process per run, by turns with bare starts of the same
// program. What the session takes, which a sweep of one run tells, is left out.
func BenchmarkShortRuns(b *testing.B) {
	neurolens := program(b)
	var ours, bare series
	for range shortRounds {
		bare.add(measured{Wall: bareStart(b)})
		many, one := sweepOf(b, neurolens, shortRuns), sweepOf(b, neurolens, shortestRuns)
		const more = shortRuns - shortestRuns
		ours.add(measured{Wall: (many.Wall - one.Wall) / more, CPU: (many.CPU - one.CPU) / more, Peak: many.Peak})
	}
	report(b, "fork, exec and wait", turns("a run of true", &ours, &bare).within(shortGoal, commandMegabytes))
}

// sweepOf measures a session of so many runs into a store of its own.
func sweepOf(tb testing.TB, program string, runs int) measured {
	tb.Helper()
	dir := tb.TempDir()
	file := filepath.Join(dir, "short.yaml")
	text := "suite: short\ncommand: \"true\"\nwarmup: 0\niterations: 1\nrepeats: " + strconv.Itoa(runs) + "\n"
	must(tb, os.WriteFile(file, []byte(text), 0o600))
	return start(tb, "NEUROLENS_LOCKS="+dir, program, "--store", filepath.Join(dir, "runs_store"), "bench", file)
}

// bareStart returns the median time in which this process starts the program true and waits for its end.
func bareStart(tb testing.TB) time.Duration {
	tb.Helper()
	path, err := exec.LookPath("true")
	must(tb, err)
	var all []time.Duration
	for range shortRuns {
		began := time.Now()
		process, err := os.StartProcess(path, []string{"true"}, &os.ProcAttr{Env: os.Environ()})
		must(tb, err)
		_, err = process.Wait()
		must(tb, err)
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
