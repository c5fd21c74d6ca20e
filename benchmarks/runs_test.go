package benchmarks

import (
	"fmt"
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

// BenchmarkShortRuns measures a sweep of many runs of the program true, one process per run, by turns with bare starts of the same
// program. The variable NEUROLENS_OLD may name another build of NeuroLens, which is measured by turns as well.
func BenchmarkShortRuns(b *testing.B) {
	programs := []*shortSeries{{name: "this", path: program(b)}}
	if old := os.Getenv("NEUROLENS_OLD"); old != "" {
		programs = append(programs, &shortSeries{name: "old", path: old})
	}
	var bare []time.Duration
	for b.Loop() {
		for range shortRounds {
			bare = append(bare, bareStart(b))
			for _, s := range programs {
				s.add(b)
			}
		}
	}
	table := rows{{"", "ms/run", "min", "CPU ms/run", "ratio to bare", "peak MB"}}
	start := medianOf(bare)
	table = append(table, []string{"fork, exec, wait", fmt.Sprintf("%.2f", start), fmt.Sprintf("%.2f", minOf(bare)), "", "1.0", ""})
	for _, s := range programs {
		table = append(table, []string{
			s.name, fmt.Sprintf("%.2f", medianOf(s.wall)), fmt.Sprintf("%.2f", minOf(s.wall)), fmt.Sprintf("%.2f", medianOf(s.cpu)),
			fmt.Sprintf("%.1f", medianOf(s.wall)/start), fmt.Sprint(s.peak >> 20),
		})
	}
	b.ReportMetric(medianOf(programs[0].wall), "ms/run")
	b.ReportMetric(medianOf(programs[0].wall)/start, "run/start")
	fmt.Printf("\n%s: %d runs of true\n%s", b.Name(), shortRuns, table)
}

// shortSeries is what each run of a sweep takes beyond what the session takes.
type shortSeries struct {
	name, path string
	wall, cpu  []time.Duration
	peak       int64
}

// add measures one sweep of many runs and one of a single run.
func (s *shortSeries) add(tb testing.TB) {
	tb.Helper()
	many, one := sweepOf(tb, s.path, shortRuns), sweepOf(tb, s.path, shortestRuns)
	s.wall = append(s.wall, (many.Wall-one.Wall)/(shortRuns-shortestRuns))
	s.cpu = append(s.cpu, (many.CPU-one.CPU)/(shortRuns-shortestRuns))
	s.peak = max(s.peak, many.Peak)
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

// bareStart is the median time in which this process starts the program true and waits for its end.
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

// minOf is the shortest duration, in milliseconds.
func minOf(all []time.Duration) float64 { return float64(slices.Min(all)) / 1e6 }
