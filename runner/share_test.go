//go:build linux

package runner

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestRunnerLeavesTheMachineAlone: while a benchmark measures, the runner takes less than 1 % of a core, of its own
// CPU time. The measurement goes on until it is precise enough, which the runner has to find out.
func TestRunnerLeavesTheMachineAlone(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	s, err := sweep.Read("x.yaml", strings.NewReader("backend: builtin\nmodel: builtin:tiny_linear\ngrid: {batch_size: 1, dim: 256}\nrel_error: 0.0001%\nmax_repeats: 1\nbudget: 2s\n"), sweep.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after time.Duration
	var began, ended time.Time
	_, err = Run(t.Context(), s, Options{Locks: t.TempDir(), Observe: func(e Event) {
		if e.Progress != nil && e.Progress.Stage == schema.StageMeasure {
			after, ended = ownTime(), time.Now()
			if before == 0 {
				before, began = after, ended
			}
		}
	}}, func(r schema.Run) error {
		if n := len(r.Metric("latency").Ticks); r.Status != schema.StatusOK || n < 100 {
			t.Errorf("%s: %s, %d samples", r.Status, r.Error, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	share := float64(after-before) / float64(ended.Sub(began))
	t.Logf("%.2f %% of a core over %s", 100*share, ended.Sub(began))
	if before == 0 || ended.Sub(began) < time.Second || share > 0.01 {
		t.Errorf("the runner took %.2f %% of a core while the benchmark measured", 100*share)
	}
}

// ownTime is the CPU time of this process, without its children.
func ownTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
