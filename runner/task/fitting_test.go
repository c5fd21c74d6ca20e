package task

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFitting: a measurement of a command has as many processes as begin within its budget, at least one; without a
// budget their number is exact. The clock is that of the test.
func TestFitting(t *testing.T) {
	t.Parallel()
	const budget = 300 * time.Millisecond
	never := func(int) bool { return false }
	for name, c := range map[string]struct {
		limit  int
		budget time.Duration
		takes  time.Duration
		stop   func(done int) bool
		want   int
	}{
		"quick":        {maxProcesses, budget, time.Millisecond, never, 300},
		"very quick":   {maxProcesses, budget, 20 * time.Microsecond, never, maxProcesses},
		"a third":      {maxProcesses, budget, 100 * time.Millisecond, never, 3},
		"two and more": {maxProcesses, budget, 200 * time.Millisecond, never, 2},
		"slow":         {maxProcesses, budget, time.Minute, never, 1},
		"enough":       {maxProcesses, budget, time.Millisecond, func(done int) bool { return done >= 7 }, 7},
		"exact":        {10, 0, time.Minute, func(int) bool { return true }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var clock time.Duration
			done := 0
			for i := range fitting(c.limit, c.budget, func() time.Duration { return clock }, func() bool { return c.stop(done) }) {
				if i != done {
					t.Fatalf("process %d after %d", i, done)
				}
				done++
				clock += c.takes
			}
			valuetest.DeepEqual(t, done, c.want, c.takes)
		})
	}
}
