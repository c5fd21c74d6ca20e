package runner

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// factProcessStart is the fact with the time to start a process that does nothing and to wait for its end, in ns: the median of
// several starts.
const factProcessStart = "timer.process_start_ns"

// How often an empty program is started to find out what a start takes, and how long one may take.
const (
	emptyWarmup  = 3
	emptyStarts  = 30
	emptyPatient = 10 * time.Second
)

// emptyProgram does nothing.
const emptyProgram = "true"

// measureStart measures how long it takes to start a process, in the same way as commands, if there are commands among the
// launches. If that fails, the time stays unknown.
func (s *session) measureStart(ctx context.Context, launches []sweep.Launch) {
	command := func(l sweep.Launch) bool { return l.Point.Executor == schema.ExecutorCommand && l.Point.Skip == nil }
	if !slices.ContainsFunc(launches, command) {
		return
	}
	if _, err := task.LookPath(emptyProgram, os.Environ()); err != nil {
		return
	}
	outcome, err := s.launcher.pool.Run(ctx, task.Spec{
		Executor: schema.ExecutorCommand, Command: []string{emptyProgram}, Warmup: emptyWarmup, Iterations: emptyStarts,
		Deadlines: task.Deadlines{
			Setup: emptyPatient, Warmup: emptyPatient, Measure: emptyPatient, Validate: emptyPatient, Teardown: emptyPatient,
		},
	}, nil)
	if err != nil || outcome.Status != schema.StatusOK {
		return
	}
	for i := range outcome.Metrics {
		if m := &outcome.Metrics[i]; m.Name == schema.PrimaryMetric && len(m.Ticks) > 0 {
			ticks := slices.Sorted(slices.Values(m.Ticks))
			s.result.ProcessStart = time.Duration(ticks[len(ticks)/2])
			s.assembler.processStart = strconv.FormatInt(int64(s.result.ProcessStart), 10)
		}
	}
}
