package task

import (
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Outcome is the result of a run. Nil and empty mean not known, as in schema.Run.
type Outcome struct {
	Status    schema.Status
	Stage     schema.Stage // the stage in which the run ended, unless ok
	ErrorKind string       // unless ok; the word of the status if there is no more specific kind
	Error     string
	ExitCode  *int64
	Signal    string // SIGSEGV

	StartedAt time.Time // UTC
	Stages    schema.Stages
	Metrics   []schema.Metric
	Ops       []schema.Op       // of a profiler pass
	Applied   map[string]string // the configuration read back
	// BackendVersion is the version of the backend, if the worker reports it.
	BackendVersion string
	Facts          map[string]string
	Missing        map[string]string // why a fact or a metric is missing: a word
	Work           schema.Work
	Warnings       []string // words
	// Files are what Spec.Watch asks for. Nil: they are not known.
	Files []File
	// StderrTail is the end of the benchmark's standard error, at most 4 KiB of valid UTF-8. For a command it is that of the
	// last process.
	StderrTail string
}

// File is a file or a folder that was opened for reading, or a file from which code was executed: a program or a shared library. Path is
// absolute and without symbolic links.
type File struct {
	Path     string
	Executed bool
}

// The warnings of this package.
const (
	// WarnLeftRunning: the benchmark ended well and left processes running, which were killed. The fact runner.left_running is
	// their number.
	WarnLeftRunning = "left_running"
	// WarnAppliedUnknown: the benchmark closed a descriptor of its worker, so the applied settings are not known.
	WarnAppliedUnknown = "applied_unknown"
)

// FactTimerFloor is the fact with the resolution of the measuring clock, in ns.
const FactTimerFloor = "timer.floor_ns"

// The facts about the start of the shell that runs a command: its median and robust spread (1.4826 MAD), in ns, and the number of
// starts.
const (
	factStart       = "timer.shell_start_ns"
	factStartSpread = "timer.shell_start_spread_ns"
	factStarts      = "timer.shell_starts"
)

// factExits is the fact with accepted exit statuses of a command other than 0.
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
	Iterate  func()            // one iteration, which is measured
	Applied  map[string]string // the configuration read back
	Work     schema.Work       // the work of one iteration
	Validate func() error      // checks the result after the measurement; nil: nothing to check
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
