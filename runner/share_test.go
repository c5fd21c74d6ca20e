//go:build linux

package runner

import (
	"os"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRunnerLeavesTheMachineAlone: while a benchmark measures, the runner wakes up at a fixed rate and allocates little,
// however many samples are taken. The measurement goes on until it is precise enough, which the runner has to find out.
// How much of a core that takes depends on the machine and its load, and is a benchmark's to say.
func TestRunnerLeavesTheMachineAlone(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	used, took, samples := useWhileMeasuring(t)
	seconds := 1 + took.Seconds() // one more, for what is done once
	t.Logf("%d samples, %d wakeups and %d allocations in %s", samples, used.wakeups, used.allocations, took)
	if wakeups := float64(used.wakeups) / seconds; wakeups > 300 {
		t.Errorf("the runner woke up %.0f times a second while the benchmark measured", wakeups)
	}
	if allocations := float64(used.allocations) / seconds; allocations > 2000 && used.allocations > uint64(samples)/4 {
		t.Errorf("the runner allocated %.0f times a second while the benchmark measured, %d for %d samples", allocations, used.allocations, samples)
	}
}

// BenchmarkRunnerShare is the CPU time of the runner while a benchmark measures, as a share of one core.
func BenchmarkRunnerShare(b *testing.B) {
	var cpu, took time.Duration
	for b.Loop() {
		used, span, _ := useWhileMeasuring(b)
		cpu, took = cpu+used.cpu, took+span
	}
	b.ReportMetric(float64(cpu)/float64(took), "share")
	b.ReportMetric(0, "ns/op") // a budget, which says nothing
}

// use is what this process has used, without its children.
type use struct {
	cpu         time.Duration
	wakeups     int64 // voluntary context switches
	allocations uint64
}

// useSoFar returns what this process has used since it began.
func useSoFar(tb testing.TB) use {
	var usage syscall.Rusage
	valuetest.OK(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(allocated)
	return use{cpu: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), wakeups: usage.Nvcsw, allocations: allocated[0].Value.Uint64()}
}

// useWhileMeasuring runs a benchmark for two seconds and tells what this process used between the first and the last
// sign of it that it measured, how long that was, and how many samples were taken.
func useWhileMeasuring(tb testing.TB) (used use, took time.Duration, samples int) {
	s := valuetest.Must(sweep.Read("x.yaml", strings.NewReader("backend: builtin\nmodel: builtin:tiny_linear\ngrid: {batch_size: 1, dim: 256}\nrel_error: 0.0001%\nmax_repeats: 1\nbudget: 2s\n"), sweep.Overrides{}))
	var first, last use
	var began, ended time.Time
	valuetest.Must(Run(tb.Context(), s, Options{Locks: tb.TempDir(), Observe: func(e Event) {
		if e.Progress != nil && e.Progress.Stage == schema.StageMeasure {
			last, ended = useSoFar(tb), time.Now()
			if began.IsZero() {
				first, began = last, ended
			}
		}
	}}, func(r schema.Run) error {
		if samples = len(r.Metric("latency").Ticks); r.Status != schema.StatusOK || samples < 100 {
			tb.Errorf("%s: %s, %d samples", r.Status, r.Error, samples)
		}
		return nil
	}))
	return use{cpu: last.cpu - first.cpu, wakeups: last.wakeups - first.wakeups, allocations: last.allocations - first.allocations}, ended.Sub(began), samples
}
