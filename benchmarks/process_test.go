package benchmarks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// measureRole is the variable that makes the test binary start the command of its arguments and report about it. A
// process inherits the peak memory of the one that starts it, so this has to be a small one.
const measureRole = "NEUROLENS_SCALE_MEASURE"

// measured is what is known of a process that has ended.
type measured struct {
	Wall   time.Duration
	CPU    time.Duration // of all threads
	Peak   int64         // resident memory in bytes
	Stdout []byte
}

// measure runs a command and prints what it measured.
func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return fmt.Errorf("%v: %w: %s", command, err, errs.Bytes())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell the peak memory of a process")
	}
	m := measured{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss << 10, out.Bytes()}
	if len(m.Stdout) > 1<<20 {
		m.Stdout = nil
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// start runs a command in a process of its own, with the environment of this one and more.
func start(tb testing.TB, env string, command ...string) measured {
	tb.Helper()
	self, err := os.Executable()
	must(tb, err)
	cmd := exec.Command(self, command...)
	cmd.Env = append(os.Environ(), measureRole+"=1", env)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%v: %s", err, errs.Bytes())
	}
	var m measured
	must(tb, json.Unmarshal(out.Bytes(), &m))
	return m
}

// bareName is what bareProcess is called in the table.
const bareName = "a process that opens DuckDB"

// bareProcess returns the process that ratios are to: it opens the engine and asks it for 1.
func bareProcess(tb testing.TB) measured {
	tb.Helper()
	return askDuckDB(tb, "SELECT 1")
}

// askDuckDB returns a process that asks DuckDB for a number.
func askDuckDB(tb testing.TB, query string) measured {
	tb.Helper()
	self, err := os.Executable()
	must(tb, err)
	return start(tb, bareRole+"=1", self, query)
}

// program builds NeuroLens.
func program(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "neurolens")
	build := exec.Command("go", "build", "-o", name, "./cmd/neurolens")
	build.Dir = ".." // the module of the program, which has what it is built of
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return name
}

// series are the measurements of one command.
type series struct {
	walls []time.Duration
	cpus  []time.Duration
	peak  int64
	out   []byte
}

func (s *series) add(m measured) {
	s.walls, s.cpus, s.peak, s.out = append(s.walls, m.Wall), append(s.cpus, m.CPU), max(s.peak, m.Peak), m.Stdout
}

// later returns the same times with so much more in each.
func (s *series) later(by time.Duration) series {
	var late series
	for _, w := range s.walls {
		late.walls = append(late.walls, w+by)
	}
	late.cpus, late.peak, late.out = s.cpus, s.peak, s.out
	return late
}

// median is that of the durations, in milliseconds.
func (s *series) median() float64 { return medianOf(s.walls) }

// cpu returns the median of what all threads took, in milliseconds: on a busy machine it tells more.
func (s *series) cpu() float64 { return medianOf(s.cpus) }

func medianOf(all []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return float64(sorted[len(sorted)/2]) / 1e6
}

// total returns how long all took.
func (s *series) total() (sum time.Duration) {
	for _, w := range s.walls {
		sum += w
	}
	return sum
}
