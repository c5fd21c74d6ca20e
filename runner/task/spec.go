package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
)

// Launch holds the settings of a run that a point of a sweep, its Spec and the job of its supervisor have in common.
type Launch struct {
	Executor schema.Executor `json:"executor"`
	Command  []string        `json:"command,omitempty"` // for executor command: the program and its arguments; no shell
	Dir      string          `json:"dir,omitempty"`     // working directory of the benchmark; empty: the runner's
	Warmup   int             `json:"warmup"`            // iterations before the measurement; with the measured ones at most maxRows
	// Iterations is exact if above 0. Otherwise the run measures until there are 100 iterations (10,000 for a command), until
	// Spec.Enough returns true, or until the budget is spent, but at least one iteration.
	Iterations int           `json:"iterations"`
	Budget     time.Duration `json:"budget,omitempty"` // of the measure stage; required without Iterations
	// SkipExit is the exit status with which a process of a command says that it cannot run here; 0: none.
	SkipExit int `json:"skip_exit,omitempty"`
	// AnyExit accepts every exit status of a command; Exits are those other than 0 that are accepted.
	AnyExit bool  `json:"any_exit,omitempty"`
	Exits   []int `json:"exits,omitempty"`
	Hooks   Hooks `json:"hooks"` // of a command
	// Start is a program with its arguments whose time is subtracted from the latency: a shell with nothing to run.
	Start []string `json:"start,omitempty"`
	// Stdin is the standard input of each process of a command, and Stdout the file for its standard output, both relative to
	// Dir. By default the input is empty, and the output is kept as long as the run needs it.
	Stdin  string `json:"stdin,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	// Counters are the events to count (see counter.Names): for each process of a command, and for the measure stage of a worker. A
	// profiler pass counts none.
	Counters []string `json:"counters,omitempty"`
}

// Spec defines what to run. Executor, Deadlines, and one of Config, Command and Program are required.
type Spec struct {
	Launch
	Config  map[string]string // for a worker, passed on unchanged
	Program *Program          // the worker; nil for builtin, whose worker is this program, and for command
	Env     []string          // KEY=VALUE, added to the runner's own environment; the last value of a key counts
	// Watch reports the files that were read (Outcome.Files). For a command, these are the files of one process and its children, which
	// run under ptrace in the warm-up, or else after the measurement; they are not reported with a cleanup, or on other systems than
	// Linux. For a Python worker, they are the files of its modules.
	Watch bool
	// Enough is called from time to time with the latencies so far, in ns, and returns whether they are enough; nil: 100
	// (10,000) are. If there are more than 4,096, it gets that many, in evenly spread sections. Then it may return false too
	// often, but not true. It does not apply if the spec or the benchmark itself sets the number of iterations.
	Enough func(latencies []int64) bool `json:"-"`
	// Profile makes the run a profiler pass: stage profile instead of measure and validate, no latencies. A command then has one process
	// after its warm-up.
	Profile bool
	// Profiler is the program that starts the worker, or the process of a command, in a pass; nil: the worker profiles itself.
	Profiler *Profiler
	// Keep are the outputs to keep, for each process of a command, and once for a worker: stdout, stderr, or the path of a file,
	// relative to Dir, that each process writes. Read gets them after the end of all processes, and returns their content.
	Keep []string
	Read func(Kept) Reading `json:"-"`
	// RunDir is the placeholder in Command, Env and Keep for the private directory of the run. The directory is empty when the
	// run begins and is removed after it. Its path is also in the variable NEUROLENS_RUN_DIR of every process.
	RunDir string
	// Leave is called with the files of the run after the end of all processes, before the files are removed.
	Leave       func(Left)   `json:"-"`
	Process     tune.Process // settings that each process of the run inherits
	Deadlines   Deadlines    // all of them
	OutputLimit int64        // B of standard output, or error, of one process; 0 is 64 MiB
}

// Profiler is a program that starts another one and records what it does. How it ends says nothing about the run, because it may pass on
// the exit status of its child, and may leave processes of its own running. Whoever reads its report judges the pass.
type Profiler struct {
	// Args returns the program (an absolute path) and its arguments; the words of the child follow. folder is for its files. It is
	// empty at first, also its TMPDIR, and is removed with the directory of the run.
	Args func(folder string) []string `json:"-"`
	Env  []string
	// Grace is how long the profiler may take to write its report when a deadline strikes: it gets SIGINT before it is killed.
	Grace time.Duration
}

// Program is a worker in another language. It is started with Args, followed by the run directory.
type Program struct {
	Path     string            // of the executable, absolute
	Args     []string          // its arguments
	Files    map[string][]byte // written into the run directory, by name
	Settings json.RawMessage   // copied into job.json
}

// Deadlines are the maximum durations of the stages, after which the run is killed. For the executor command, Warmup and Measure apply
// to each process. Profile is needed only with Spec.Profile.
type Deadlines struct {
	Setup, Warmup, Measure, Validate, Teardown, Profile time.Duration
}

// EachStage gives every stage but profile the same deadline.
func EachStage(limit time.Duration) Deadlines {
	return Deadlines{Setup: limit, Warmup: limit, Measure: limit, Validate: limit, Teardown: limit}
}

// Defaults of a Spec.
const (
	defaultOutputLimit = 64 << 20
	defaultIterations  = 100 // of a worker
	// maxIterations bounds the iterations of a run that continues until it is Enough: 8 MiB of samples. maxProcesses is the
	// same for executor command.
	maxIterations = 1 << 20
	maxProcesses  = 10_000
	// maxRows bounds warm-up and measured iterations of one run together.
	maxRows = 1 << 26
)

// of returns the deadline of a stage. A stage without its own deadline is part of the set-up.
func (d *Deadlines) of(stage schema.Stage) *time.Duration {
	switch stage {
	case schema.StageWarmup:
		return &d.Warmup
	case schema.StageMeasure:
		return &d.Measure
	case schema.StageValidate:
		return &d.Validate
	case schema.StageTeardown:
		return &d.Teardown
	case schema.StageProfile:
		return &d.Profile
	}
	return &d.Setup
}

// stageDeadlines returns the deadlines of the stages that a worker has.
func (s Spec) stageDeadlines() map[schema.Stage]time.Duration {
	stages := []schema.Stage{schema.StageSetup, schema.StageWarmup, schema.StageMeasure, schema.StageValidate, schema.StageTeardown}
	if s.Profile {
		stages = []schema.Stage{schema.StageSetup, schema.StageWarmup, schema.StageProfile}
	}
	all := map[schema.Stage]time.Duration{}
	for _, stage := range stages {
		all[stage] = *s.Deadlines.of(stage)
	}
	return all
}

// perProcess reports whether an iteration is a process.
func (s Spec) perProcess() bool { return s.Executor == schema.ExecutorCommand }

// filled returns the Spec with its defaults, or an error that names an invalid value.
func (s Spec) filled() (Spec, error) {
	switch s.Executor {
	case schema.ExecutorBuiltin:
	case schema.ExecutorCommand:
		if len(s.Command) == 0 || s.Command[0] == "" {
			return s, fmt.Errorf("command %q: want a program", s.Command)
		}
	default:
		if s.Program == nil {
			return s, fmt.Errorf("executor %q: want a program for its worker", s.Executor)
		}
	}
	if s.Warmup < 0 || s.Iterations < 0 || s.Warmup > maxRows || s.Iterations > maxRows-s.Warmup {
		return s, fmt.Errorf("warmup %d and iterations %d: want 0 to %d together", s.Warmup, s.Iterations, maxRows)
	}
	d := s.Deadlines
	if min(d.Setup, d.Warmup, d.Measure, d.Validate, d.Teardown) <= 0 || s.Profile && d.Profile <= 0 {
		return s, fmt.Errorf("deadlines %+v: want each more than 0", d)
	}
	if s.Profiler != nil && !s.Profile {
		return s, errors.New("a profiler outside of a pass")
	}
	if s.Budget < 0 || s.Budget == 0 && s.Iterations == 0 {
		return s, fmt.Errorf("budget %v and iterations %d: want one of them", s.Budget, s.Iterations)
	}
	for _, name := range s.Counters {
		if !slices.Contains(counter.Names(), name) {
			return s, fmt.Errorf("counter %q: want one of %v", name, counter.Names())
		}
	}
	if s.OutputLimit == 0 {
		s.OutputLimit = defaultOutputLimit
	}
	if s.OutputLimit < 0 {
		return s, fmt.Errorf("output limit %d B: want more than 0", s.OutputLimit)
	}
	return s, nil
}

// job is the work of supervisor and worker: the content of job.json in the run directory, or a part of the order to start. Its
// Iterations are the maximum, and without a Budget exact.
type job struct {
	Proto int `json:"proto"`
	Launch
	Config      map[string]string `json:"config,omitempty"`
	Program     []string          `json:"program,omitempty"`
	Settings    json.RawMessage   `json:"settings,omitempty"`
	Env         []string          `json:"env,omitempty"`
	Watch       bool              `json:"watch,omitempty"`
	Process     tune.Process      `json:"process,omitzero"`
	Keep        []string          `json:"keep,omitempty"`
	CleanupWait time.Duration     `json:"cleanup_wait,omitempty"`
	OutputLimit int64             `json:"output_limit"`
	KillWait    time.Duration     `json:"kill_wait"`
	// Deadlines are the deadlines of the stages, for a worker that is another program: it may shorten them.
	Deadlines map[schema.Stage]time.Duration `json:"deadlines,omitempty"`
	// Profiler are the words before the words of the worker, or of the process of a command, in the stage profile.
	Profiler []string `json:"profiler,omitempty"`
	Shared   []string `json:"shared,omitempty"` // files of the run without a name: the supervisor was given their descriptors

	given map[string]int // descriptors of the shared files in this process
}

// path returns the path by which the supervisor opens a file of the run, whose directory is dir.
func (j *job) path(dir, name string) string {
	if fd, ok := j.given[name]; ok && slices.Contains(j.Shared, name) {
		return "/proc/self/fd/" + strconv.Itoa(fd)
	}
	return filepath.Join(dir, name)
}

func (s Spec) job(killWait time.Duration) job {
	j := job{
		Proto: proto, Launch: s.Launch, Config: s.Config, Env: s.Env, Watch: s.Watch, Process: s.Process, Keep: s.Keep, CleanupWait: s.Deadlines.Teardown,
		OutputLimit: s.OutputLimit, KillWait: killWait,
	}
	if s.Profile {
		j.Counters = nil
	}
	if s.Program != nil {
		j.Program, j.Settings = append([]string{s.Program.Path}, s.Program.Args...), s.Program.Settings
		j.Deadlines = s.stageDeadlines()
	}
	if j.Iterations > 0 {
		j.Budget = 0
		return j
	}
	switch {
	case s.perProcess():
		j.Iterations = maxProcesses
	case s.Enough == nil:
		j.Iterations = defaultIterations
	default:
		j.Iterations = maxIterations
	}
	j.Iterations = min(j.Iterations, maxRows-s.Warmup)
	return j
}

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
	// Files are the files that Spec.Watch requests. Nil: unknown.
	Files []File
	// StderrTail is the end of the benchmark's standard error, at most 4 KiB of valid UTF-8; for a command, of the last process.
	StderrTail string
}

// Fail makes an outcome that is ok an error in a stage.
func (o *Outcome) Fail(stage schema.Stage, kind, text string) {
	if o.Status == schema.StatusOK {
		o.Status, o.Stage, o.ErrorKind, o.Error = schema.StatusError, stage, kind, text
	}
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

// FactProfiled is the fact with the number of iterations that a profiler saw.
const FactProfiled = "profile.iterations"

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

// Unsupported means that a combination does not exist here. It is not a failure.
type Unsupported struct {
	Kind, Reason string
}

// Error returns the reason.
func (e *Unsupported) Error() string { return e.Reason }
