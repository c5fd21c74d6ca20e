package task

import (
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Outcome is the result of a run. Nil and empty mean not known, as in schema.Run.
type Outcome struct {
	Status    schema.Status
	Stage     schema.Stage // where the run ended, unless ok
	ErrorKind string       // unless ok; the word of the status where there is nothing finer
	Error     string
	ExitCode  *int64
	Signal    string // SIGSEGV

	StartedAt time.Time // UTC
	Stages    schema.Stages
	Metrics   []schema.Metric
	Ops       []schema.Op       // of a pass of a profiler
	Applied   map[string]string // the configuration read back
	// BackendVersion is of what computed, where the worker says so.
	BackendVersion string
	Facts          map[string]string
	Missing        map[string]string // why a fact or a metric is not there: a word
	Work           schema.Work
	Warnings       []string // words
	// StderrTail is the end of what the benchmark wrote on standard error, at most 4 KiB of valid UTF-8. Of a
	// command it is that of the last process.
	StderrTail string
}

// The words of warning of this package.
const (
	// WarnLeftRunning: the benchmark ended well and left processes running, which were killed. The fact
	// runner.left_running says how many.
	WarnLeftRunning = "left_running"
	// WarnAppliedUnknown: the benchmark closed a descriptor of its worker, so that what was applied is not known.
	WarnAppliedUnknown = "applied_unknown"
)

// FactTimerFloor is the fact with the resolution of the measuring clock, in ns.
const FactTimerFloor = "timer.floor_ns"

// The facts about the start of the shell that runs a command: its median and its robust spread (1.4826 MAD), in ns, and of how many
// starts they are.
const (
	factStart       = "timer.shell_start_ns"
	factStartSpread = "timer.shell_start_spread_ns"
	factStarts      = "timer.shell_starts"
)

// factExits is the fact with the exit statuses of a command that are not 0 and count as well.
const factExits = "runner.exits"

// FactCleanup is the fact with the reason why the cleanup of a run failed.
const FactCleanup = "runner.cleanup_error"

// FactStack is the fact with the stack of a benchmark when it failed.
const FactStack = "runner.stack"

// Progress is the progress of a run. Total is the maximum number of iterations of the stage; 0 for a stage without iterations.
type Progress struct {
	Stage       schema.Stage
	Done, Total int
}

// Work is one point that a WorkerFunc prepared.
type Work struct {
	Iterate  func()            // one iteration; what is measured
	Applied  map[string]string // the configuration read back
	Work     schema.Work       // what one iteration processes
	Validate func() error      // checks the result after the measurement; nil where there is nothing to check
}

// WorkerFunc prepares the point that config describes. An *Unsupported in the error makes the run unsupported;
// any other error makes it an error of kind setup. It runs in the worker process.
type WorkerFunc func(config map[string]string) (*Work, error)

// Unsupported says that a combination does not exist here. It is not a failure.
type Unsupported struct {
	Kind, Reason string
}

// Error returns the reason.
func (e *Unsupported) Error() string { return e.Reason }
