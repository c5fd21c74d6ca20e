package task

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Spec says what to run. Executor, Config or Command, and Deadlines are required.
type Spec struct {
	Executor schema.Executor   // builtin or command
	Config   map[string]string // builtin: handed to the WorkerFunc as it is
	Command  []string          // command: the program and its arguments; no shell
	Env      []string          // KEY=VALUE, added to the runner's own environment; the last one of a key wins
	Dir      string            // working directory of the benchmark; empty is the runner's

	Warmup int // warm-up iterations
	// Iterations is exact if above 0. Otherwise the run takes iterations until DefaultIterations or until the
	// budget is spent, at least one.
	Iterations int
	Budget     time.Duration // of the measure stage; required without Iterations

	Deadlines   Deadlines // all of them
	OutputLimit int64     // B of standard output, or error, of one process; 0 is DefaultOutputLimit
}

// Deadlines are how long a stage may take before the run is killed. For executor command, Warmup and Measure are
// those of one process.
type Deadlines struct {
	Setup, Warmup, Measure, Validate, Teardown time.Duration
}

// What applies where a Spec does not say.
const (
	DefaultOutputLimit = 64 << 20
	// MaxRows bounds warm-up and measured iterations of one run together.
	MaxRows = 1 << 26
)

// DefaultIterations is the most iterations that a run takes if their number is not given.
func DefaultIterations(executor schema.Executor) int {
	if executor == schema.ExecutorCommand {
		return 10
	}
	return 100
}

// of is the deadline of a stage; what has no deadline of its own is part of the set-up.
func (d Deadlines) of(stage schema.Stage) time.Duration {
	switch stage {
	case schema.StageWarmup:
		return d.Warmup
	case schema.StageMeasure:
		return d.Measure
	case schema.StageValidate:
		return d.Validate
	case schema.StageTeardown:
		return d.Teardown
	}
	return d.Setup
}

// perProcess tells whether an iteration is a process.
func (s Spec) perProcess() bool { return s.Executor == schema.ExecutorCommand }

// level is what one latency is a measurement of.
func (s Spec) level() schema.Level {
	if s.perProcess() {
		return schema.LevelProcess
	}
	return schema.LevelIteration
}

// filled is the Spec with its defaults, or an error that says what makes no sense in it.
func (s Spec) filled() (Spec, error) {
	switch s.Executor {
	case schema.ExecutorBuiltin:
	case schema.ExecutorCommand:
		if len(s.Command) == 0 || s.Command[0] == "" {
			return s, fmt.Errorf("command %q: want a program", s.Command)
		}
	default:
		return s, fmt.Errorf("executor %q: want builtin or command", s.Executor)
	}
	if s.Warmup < 0 || s.Iterations < 0 || s.Warmup > MaxRows || s.Iterations > MaxRows-s.Warmup {
		return s, fmt.Errorf("warmup %d and iterations %d: want 0 to %d together", s.Warmup, s.Iterations, MaxRows)
	}
	d := s.Deadlines
	if min(d.Setup, d.Warmup, d.Measure, d.Validate, d.Teardown) <= 0 {
		return s, fmt.Errorf("deadlines %+v: want each more than 0", d)
	}
	if s.Budget < 0 || s.Budget == 0 && s.Iterations == 0 {
		return s, fmt.Errorf("budget %v and iterations %d: want one of them", s.Budget, s.Iterations)
	}
	if s.OutputLimit == 0 {
		s.OutputLimit = DefaultOutputLimit
	}
	if s.OutputLimit < 0 {
		return s, fmt.Errorf("output limit %d B: want more than 0", s.OutputLimit)
	}
	return s, nil
}

// job is what supervisor and worker read from job.json in the run directory.
type job struct {
	Proto       int               `json:"proto"`
	Executor    schema.Executor   `json:"executor"`
	Config      map[string]string `json:"config,omitempty"`
	Command     []string          `json:"command,omitempty"`
	Env         []string          `json:"env,omitempty"`
	Dir         string            `json:"dir,omitempty"`
	Warmup      int               `json:"warmup"`
	Iterations  int               `json:"iterations"`       // at most
	Budget      time.Duration     `json:"budget,omitempty"` // 0: iterations are exact
	OutputLimit int64             `json:"output_limit"`
	KillWait    time.Duration     `json:"kill_wait"`
}

func (s Spec) job(killWait time.Duration) job {
	j := job{
		Proto: proto, Executor: s.Executor, Config: s.Config, Command: s.Command, Env: s.Env, Dir: s.Dir,
		Warmup: s.Warmup, Iterations: s.Iterations, OutputLimit: s.OutputLimit, KillWait: killWait,
	}
	if j.Iterations == 0 {
		j.Iterations, j.Budget = min(DefaultIterations(s.Executor), MaxRows-s.Warmup), s.Budget
	}
	return j
}
