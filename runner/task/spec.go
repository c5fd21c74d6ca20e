package task

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Spec defines what to run. Executor, Deadlines, and one of Config, Command and Program are required.
type Spec struct {
	Executor schema.Executor
	Config   map[string]string // of a worker: handed to it as it is
	Command  []string          // command: the program and its arguments; no shell
	Program  *Program          // what the worker is; nil for builtin, whose worker is this program, and for command
	Env      []string          // KEY=VALUE, added to the runner's own environment; the last one of a key wins
	Dir      string            // working directory of the benchmark; empty is the runner's

	Warmup int // warm-up iterations; at maxIterations 2^26 together with the measured ones
	// TracePeak runs one more process of a quick command without warm-up, after the measurement, where that alone tells
	// its peak of memory.
	TracePeak bool
	// Iterations is exact if above 0. Otherwise the run takes iterations until there are 100 (of a command 10,000), or until
	// Enough says so, or until the budget is spent, at least one.
	Iterations int
	Budget     time.Duration // of the measure stage; required without Iterations
	// Enough is asked now and then whether the latencies so far, in ns, will do; nil: 100 (10,000) will do. Of more than
	// 4,096 it sees as many, in stretches that are evenly spread: it may say no too often, not yes. It does not cut
	// iterations whose number the spec or the benchmark itself gives.
	Enough func(latencies []int64) bool `json:"-"`
	// Profile makes the run a pass of a profiler: stage profile instead of measure and validate, no latencies.
	Profile bool

	// Keep are the outputs that are kept of each process of a command, and of a worker once: stdout, stderr, or the path of a
	// file, relative to Dir, that each process writes anew. Read is given them when everything has ended, and says what is
	// in them.
	Keep []string
	Read func(Kept) Reading `json:"-"`

	// RunDir is a text that stands in Command, Env and Keep for a directory of the run's own: empty when it begins, and gone
	// after it. Every process of the benchmark finds it in the variable NEUROLENS_RUN_DIR too.
	RunDir string
	// Leave is told what the run has left, when nothing of it runs any more and before that is removed.
	Leave func(Left) `json:"-"`

	// SkipExit is the exit status by which a process of a command says that it cannot run here; 0: there is none.
	SkipExit int
	// AnyExit has every exit status of a command count as well; Exits are those that do.
	AnyExit bool
	Exits   []int

	Hooks Hooks // of a command
	// Start is a program with its arguments whose own time is no part of the latency: a shell that has nothing to run.
	Start []string
	// Stdin is the file that each process of a command reads, and Stdout the one that it writes, both relative to Dir. Without
	// them nothing is there to be read, and standard output is kept as long as the run needs it.
	Stdin, Stdout string

	Deadlines   Deadlines // all of them
	OutputLimit int64     // B of standard output, or error, of one process; 0 is 64 MiB
}

// Program is a worker in another language. It is started with Args, followed by the run directory.
type Program struct {
	Path     string            // of the executable, absolute
	Args     []string          // its arguments
	Files    map[string][]byte // put into the run directory, by name
	Settings json.RawMessage   // in job.json as it is
}

// Deadlines are how long a stage may take before the run is killed. For the executor command, Warmup and Measure apply to each process.
// Profile is needed only with Spec.Profile.
type Deadlines struct {
	Setup, Warmup, Measure, Validate, Teardown, Profile time.Duration
}

// What applies where a Spec does not say.
const (
	defaultOutputLimit = 64 << 20
	// maxIterations bounds the iterations of a run that continues until it is Enough: 8 MiB of samples. maxProcesses is the
	// same for executor command.
	maxIterations = 1 << 20
	maxProcesses  = 10_000
	// quick is the latency up to which TracePeak runs another process.
	quick = 30 * time.Millisecond
	// maxRows bounds warm-up and measured iterations of one run together.
	maxRows = 1 << 26
)

// defaultIterations is the most iterations that a run takes if their number is not given.
func defaultIterations(executor schema.Executor) int {
	if executor == schema.ExecutorCommand {
		return maxProcesses
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
	case schema.StageProfile:
		return d.Profile
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
	if s.Budget < 0 || s.Budget == 0 && s.Iterations == 0 {
		return s, fmt.Errorf("budget %v and iterations %d: want one of them", s.Budget, s.Iterations)
	}
	if s.OutputLimit == 0 {
		s.OutputLimit = defaultOutputLimit
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
	Program     []string          `json:"program,omitempty"`
	Settings    json.RawMessage   `json:"settings,omitempty"`
	Env         []string          `json:"env,omitempty"`
	Dir         string            `json:"dir,omitempty"`
	Warmup      int               `json:"warmup"`
	Iterations  int               `json:"iterations"`       // at maxIterations
	Budget      time.Duration     `json:"budget,omitempty"` // 0: iterations are exact
	TracePeak   bool              `json:"trace_peak,omitempty"`
	Keep        []string          `json:"keep,omitempty"`
	SkipExit    int               `json:"skip_exit,omitempty"`
	AnyExit     bool              `json:"any_exit,omitempty"`
	Exits       []int             `json:"exits,omitempty"`
	Hooks       Hooks             `json:"hooks"`
	CleanupWait time.Duration     `json:"cleanup_wait,omitempty"`
	Start       []string          `json:"start,omitempty"`
	Stdin       string            `json:"stdin,omitempty"`
	Stdout      string            `json:"stdout,omitempty"`
	OutputLimit int64             `json:"output_limit"`
	KillWait    time.Duration     `json:"kill_wait"`
}

func (s Spec) job(killWait time.Duration) job {
	j := job{
		Proto: proto, Executor: s.Executor, Config: s.Config, Command: s.Command, Env: s.Env, Dir: s.Dir,
		Warmup: s.Warmup, Iterations: s.Iterations, TracePeak: s.TracePeak, Keep: s.Keep, SkipExit: s.SkipExit,
		AnyExit: s.AnyExit, Exits: s.Exits, Hooks: s.Hooks, CleanupWait: s.Deadlines.Teardown, Start: s.Start, Stdin: s.Stdin, Stdout: s.Stdout,
		OutputLimit: s.OutputLimit, KillWait: killWait,
	}
	if s.Program != nil {
		j.Program, j.Settings = append([]string{s.Program.Path}, s.Program.Args...), s.Program.Settings
	}
	if j.Iterations == 0 {
		j.Iterations, j.Budget = min(s.atMost(), maxRows-s.Warmup), s.Budget
	}
	return j
}

// atMost bounds the iterations whose number is not given.
func (s Spec) atMost() int {
	switch {
	case s.Enough == nil:
		return defaultIterations(s.Executor)
	case s.perProcess():
		return maxProcesses
	}
	return maxIterations
}
