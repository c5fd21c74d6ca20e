package task

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// floorMargin is how far, in B, a peak reported by wait4 must exceed the supervisor's own to belong to the process, because the
// kernel's counters of resident memory are approximate.
const floorMargin = 1 << 20

// command is the loop for the executor command, in the supervisor: one process per iteration.
type command struct {
	*supervisor
	path    string
	argv    []string
	samples *sampleMap
	columns [commandColumns][]int64
	counts  counting
	keeper  *keeper
	stage   schema.Stage
	// followed reports whether a process was traced already.
	followed bool
	hookEnv  *syscall.ProcAttr
	written  *os.File // receives standard output; nil: the run's own file
	exits    []int    // that were ignored, in order
	starts   []float64
}

// process is an ended process, as a failure names it.
type process struct {
	what, path string
	hook       bool // it is not measured
}

// iteration is the resource usage of one process.
type iteration struct {
	latency time.Duration
	usage   syscall.Rusage
}

// runCommand measures the command and reports how it ended.
func (s *supervisor) runCommand() {
	_ = s.worker.Close()   // an earlier run may have closed it
	debug.SetGCPercent(-1) // the loop allocates almost nothing
	c := &command{supervisor: s, argv: s.job.Command}
	defer c.close()
	var err error
	if c.samples, err = mapSamples(s.job.path(s.dir, samplesFile)); err != nil {
		s.fail(fmt.Errorf("mapping samples: %w", err))
		return
	}
	if c.keeper, err = newKeeper(s.dir, s.job); err != nil {
		s.fail(fmt.Errorf("opening the file for outputs: %w", err))
		return
	}
	for i := range c.columns {
		c.columns[i] = c.samples.column(i)
	}
	c.begin(schema.StageSetup)
	if err := c.openOutput(); err != nil {
		s.fail(err)
		return
	}
	c.hookEnv = s.hookAttr()
	s.mu.Lock()
	s.cleanup = s.job.Hooks.Cleanup // it runs whatever happens from now on
	s.mu.Unlock()
	if failed := c.hook(hookSetup, s.job.Hooks.Setup); failed != nil {
		s.sender.hold(*failed)
		return
	}
	if err := s.makeSpawner(); err == nil {
		c.samples.set(offFloor, 0)
	} else {
		s.sender.hold(event{Event: eventFact, Key: "runner.spawner_error", Value: err.Error()})
	}
	c.counts = s.count(s.spawner.parent())
	for i := range c.job.Counters {
		c.counts.rows = append(c.counts.rows, c.samples.column(commandColumns+i))
	}
	if c.path, err = LookPath(c.argv[0], s.attr.Env); err != nil {
		s.fail(fmt.Errorf("starting %q: %w", c.argv[0], err))
		return
	}
	s.sender.hold(event{Event: eventFact, Key: "command.path", Value: shellwords.ToUTF8(c.path)})
	if failed := c.measureStart(); failed != nil {
		s.sender.hold(*failed)
		return
	}
	if failed := c.run(); failed != nil {
		s.sender.hold(*failed)
		return
	}
	s.sender.hold(event{Event: eventResult, At: s.sender.now()})
}

// close frees the resources of the run. The supervisor may serve another one.
func (c *command) close() {
	if c.samples != nil {
		c.samples.close()
	}
	if c.keeper != nil {
		c.keeper.close()
	}
	_ = c.written.Close() // of nil too
	c.counts.close()
}

// run performs the warm-up and the measurement. The event is a failure.
func (c *command) run() *event {
	job := c.job
	if job.Warmup > 0 {
		c.begin(schema.StageWarmup)
	}
	for i := range job.Warmup {
		if i == job.Warmup-1 && job.Watch && c.canTrace() {
			done, failed := c.trace()
			if failed != nil {
				return failed
			}
			if done {
				break // the last warm-up iteration is done
			}
		}
		if failed := c.iterate(i, i); failed != nil {
			return failed
		}
	}
	if len(job.Profiler) > 0 {
		return c.profile()
	}
	c.begin(schema.StageMeasure)
	began := time.Now()
	since := func() time.Duration { return time.Since(began) }
	for i := range fitting(job.Iterations, job.Budget, since, func() bool { return atomic.LoadInt64(c.samples.stop()) != 0 }) {
		if failed := c.iterate(job.Warmup+i, i); failed != nil {
			return failed
		}
	}
	if failed := c.measureStart(); failed != nil {
		return failed
	}
	if job.Watch && !c.followed && c.canTrace() {
		_, failed := c.trace()
		return failed
	}
	return nil
}

// profile runs one process under the profiler.
func (c *command) profile() *event {
	c.begin(schema.StageProfile)
	c.argv = slices.Concat(c.job.Profiler, []string{c.path}, c.argv[1:])
	c.path = c.argv[0]
	c.sender.hold(event{Event: eventFact, Key: FactProfiled, Value: "1"})
	return c.iterate(c.job.Warmup, 0)
}

// canTrace reports whether a process may run under ptrace. Not with a cleanup: a run that is ended during a trace ends with its
// supervisor, and nothing could clean up after it.
func (c *command) canTrace() bool { return len(c.job.Hooks.Cleanup) == 0 }

// fitting yields the numbers of the processes in a measurement: up to limit or, with a budget, until it is spent or stop returns true.
// It yields at least one.
func fitting(limit int, budget time.Duration, since func() time.Duration, stop func() bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range limit {
			if budget > 0 && i > 0 && (since() >= budget || stop()) || !yield(i) {
				return
			}
		}
	}
}

// begin begins a stage.
func (c *command) begin(stage schema.Stage) {
	c.stage = stage
	at := c.sender.now()
	c.samples.begin(stage, at)
	c.sender.hold(event{Event: eventStage, Stage: stage, At: at})
}

// iterate runs process index of the stage and stores it in a row.
func (c *command) iterate(row, index int) *event {
	if failed := c.prepare(); failed != nil {
		return failed
	}
	measured := c.stage == schema.StageMeasure
	if measured {
		c.keeper.mark()
	}
	c.samples.begin(c.stage, c.sender.now())
	done, err := c.openStdin()
	if err != nil {
		return &event{Event: eventError, Stage: c.stage, Kind: kindStart, Message: err.Error()}
	}
	c.counts.renew(c.spawner.parent()) // they begin at 0
	it, status, err := c.time()
	c.counts.end()
	done()
	if failed := c.failure(process{fmt.Sprintf("process %d of %s", index+1, c.stage), c.path, false}, status, err); failed != nil {
		return failed
	}
	if c.spawner == nil { // wait4 reports at least the peak of this process
		if floor, ok := peakMemory("self"); ok {
			c.samples.set(offFloor, floor+floorMargin)
		}
	}
	c.columns[columnCPUUser][row] = it.usage.Utime.Nano() / int64(time.Microsecond)
	c.columns[columnCPUSystem][row] = it.usage.Stime.Nano() / int64(time.Microsecond)
	c.columns[columnPeakMemory][row] = maxRSS(&it.usage)
	c.counts.keep(row, &c.sender)
	if measured { // before the row counts, so that a row that counts is complete
		if err := c.keeper.keep(row); err != nil {
			return &event{Event: eventError, Stage: c.stage, Kind: kindMetric, Message: err.Error()}
		}
	}
	c.samples.count(row, int64(it.latency))
	return nil
}

// prepare prepares a process: it sends the held events, runs the hook and empties the output.
func (c *command) prepare() *event {
	c.sender.flush()
	if len(c.job.Hooks.Prepare) > 0 {
		c.samples.begin(c.stage, c.sender.now())
		if failed := c.hook(hookPrepare, c.job.Hooks.Prepare); failed != nil {
			return failed
		}
	}
	if c.clearOutput(); c.written != nil {
		_ = c.written.Truncate(0)
	}
	return nil
}

// time runs one process, from before the fork until it is reaped.
func (c *command) time() (it iteration, status syscall.WaitStatus, err error) {
	began := time.Now()
	pid, err := c.start(c.path, c.argv, &c.attr)
	if err != nil {
		return it, 0, err
	}
	status = c.wait(pid, &it.usage)
	it.latency = time.Since(began)
	c.reaped()
	return it, status, nil
}

// failure returns the event of a process that failed or wrote too much.
func (c *command) failure(p process, status syscall.WaitStatus, err error) *event {
	failed := event{Event: eventError, Stage: c.stage}
	failed.ExitCode, failed.Signal = endOf(status)
	what := p.what
	switch {
	case err != nil:
		if !c.started {
			failed.Stage = schema.StageSetup
		}
		failed.Kind, failed.Message = kindStart, startError(strconv.Quote(p.path), p.path, &c.attr, err).Error()
		failed.ExitCode = nil
		if p.hook {
			failed.Message = p.what + ": " + failed.Message
		}
	case !p.hook && c.stage == schema.StageProfile: // the end is the profiler's
		return nil
	case failed.Signal != "":
		failed.Kind, failed.Message = kindSignal, fmt.Sprintf("%s: killed by %s", what, failed.Signal)
	case !p.hook && status.ExitStatus() != 0 && status.ExitStatus() == c.job.SkipExit:
		failed.Event, failed.Kind, failed.Message = eventSkipped, kindSkip, fmt.Sprintf("%s: exit status %d", what, status.ExitStatus())
	case status.ExitStatus() != 0 && (p.hook || !c.ignored(status.ExitStatus())):
		failed.Kind, failed.Message = kindExit, fmt.Sprintf("%s: exit status %d", what, status.ExitStatus())
	case c.output() > c.job.OutputLimit:
		failed.Kind = kindOutputLimit
		failed.Message = fmt.Sprintf("%s: wrote %d B, more than the limit of %d B", what, c.output(), c.job.OutputLimit)
	default:
		return nil
	}
	return &failed
}

// trace runs an iteration that is not measured under ptrace, for the files of Spec.Watch. It returns whether that worked; if not, a warm-up
// iteration must be repeated. The event is a failure before the process started.
func (c *command) trace() (bool, *event) {
	c.followed = true
	if failed := c.prepare(); failed != nil {
		return false, failed
	}
	c.samples.begin(c.stage, c.sender.now())
	done, err := c.openStdin()
	if err != nil {
		return false, &event{Event: eventError, Stage: c.stage, Kind: kindStart, Message: err.Error()}
	}
	defer done()
	if err := c.traced(c.path, c.argv); err != nil {
		c.sender.send(event{Event: eventFact, Key: "runner.ptrace_error", Value: err.Error()})
		return false, nil
	}
	return true, nil
}

// LookPath finds a program as a shell does, in the PATH of an environment in which the last entry of a name counts, as it does for the
// program itself. A name with a slash is returned unchanged, relative to the working directory of the program. Relative folders in PATH
// are not used: a program found there is an error that wraps exec.ErrDot.
func LookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	list := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			list = value
		}
	}
	for _, dir := range filepath.SplitList(list) {
		path, err := exec.LookPath(cmp.Or(dir, ".") + "/" + name)
		switch {
		case err != nil:
			continue
		case !filepath.IsAbs(path):
			return "", &exec.Error{Name: name, Err: exec.ErrDot}
		}
		return filepath.Clean(path), nil
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// The number of measured starts of a shell before the processes of a run, after some starts for warm-up, and again after them: if the
// machine becomes slower meanwhile, the starts differ more.
const (
	startsWarmup = 3
	starts       = 15
)

// toDeviation makes a robust spread of a median absolute deviation.
const toDeviation = 1.4826

// start is the time that the shell of a run takes to start, in ns, and the spread of its starts.
type start struct {
	median, spread int64
}

// measureStart measures the program that starts the command, with nothing to do.
func (c *command) measureStart() *event {
	if len(c.job.Start) == 0 {
		return nil
	}
	whole, argv := c.argv, c.job.Start
	c.argv = argv
	defer func() { c.argv = whole }()
	c.sender.flush()
	for i := range startsWarmup + starts {
		c.clearOutput()
		it, status, err := c.time()
		if failed := c.failure(process{fmt.Sprintf("starting %s", c.argv[0]), c.path, true}, status, err); failed != nil {
			return failed
		}
		if i >= startsWarmup {
			c.starts = append(c.starts, float64(it.latency))
		}
	}
	summary := stat.Summarize(c.starts)
	for key, value := range map[string]int64{
		factStart: int64(*summary.P50), factStartSpread: int64(toDeviation * *summary.MAD), factStarts: int64(len(c.starts)),
	} {
		c.sender.hold(event{Event: eventFact, Key: key, Value: strconv.FormatInt(value, 10)})
	}
	return nil
}

// startOfShell returns the measured start; false: there is nothing to subtract, or the start is not known.
func (r *run) startOfShell() (s start, known bool) {
	median, err := strconv.ParseInt(r.facts[factStart], 10, 64)
	if err != nil || len(r.spec.Start) == 0 {
		return start{}, false
	}
	spread, err := strconv.ParseInt(r.facts[factStartSpread], 10, 64)
	return start{median, spread}, err == nil
}

// noiseOfStart is how many robust spreads of the start a program must take in addition to it, to have a measurable latency.
const noiseOfStart = 3

// subtract subtracts the start from wall times. If the difference is within the noise, there is no latency.
func (s start) subtract(wall []int64) ([]int64, bool) {
	if len(wall) == 0 {
		return nil, false
	}
	sorted := slices.Sorted(slices.Values(wall))
	if sorted[0] <= s.median || sorted[len(sorted)/2]-s.median <= noiseOfStart*s.spread {
		return nil, false
	}
	left := make([]int64, len(wall))
	for i, ticks := range wall {
		left[i] = ticks - s.median
	}
	return left, true
}

// withoutStart stores the wall time of each process as a separate metric, and the wall time minus the start of the shell as the latency.
// If nothing measurable is left, the run is an error, because a latency would be made up.
func (r *run) withoutStart(o *Outcome) {
	s, known := r.startOfShell()
	if len(r.spec.Start) == 0 || len(o.Metrics) == 0 {
		return
	}
	latency := o.Metrics[0]
	wall := latency
	wall.Name = wallTime
	o.Metrics[0] = wall
	left, ok := s.subtract(wall.Ticks)
	if known && ok {
		latency.Ticks, latency.WarmupTicks = left, nil
		o.Metrics = slices.Insert(o.Metrics, 0, latency)
		return
	}
	o.Missing[schema.PrimaryMetric] = "within the start of the shell"
	if len(wall.Ticks) > 0 {
		o.Fail(schema.StageValidate, kindStartNoise, fmt.Sprintf("takes less time than the start of %s varies: measure it without --shell", r.spec.Start[0]))
	}
}

// Hooks are programs with their arguments that run around the processes of a command, and are not timed.
type Hooks struct {
	Setup   []string `json:"setup,omitempty"`   // once, before all processes of the run
	Prepare []string `json:"prepare,omitempty"` // before each process, also in the warm-up
	// Cleanup runs once in the end, however the run ended, if Setup was begun or there is none. It may take as long as the
	// deadline of teardown.
	Cleanup []string `json:"cleanup,omitempty"`
}

// The names of hooks in errors.
const (
	hookSetup   = "setup"
	hookPrepare = "prepare"
	hookCleanup = "cleanup"
)

// cleanupFile holds the standard error of the cleanup. The file stderr holds the last process's.
const cleanupFile = "cleanup"

// hookAttr returns how hooks are started: as the command, but for its standard input, its output and its events.
func (s *supervisor) hookAttr() *syscall.ProcAttr {
	attr := s.attr
	attr.Env = s.environ(s.job.Env)
	attr.Files = nil
	for _, f := range s.files[:3] {
		attr.Files = append(attr.Files, f.Fd())
	}
	return &attr
}

// hook runs a program around the processes, and returns an event if it failed. Its output is discarded when the next process begins.
func (c *command) hook(name string, argv []string) *event {
	if len(argv) == 0 {
		return nil
	}
	c.sender.flush()
	c.clearOutput()
	path, err := LookPath(argv[0], c.hookEnv.Env)
	if err != nil {
		return &event{Event: eventError, Stage: c.stage, Kind: kindStart, Message: fmt.Sprintf("%s: starting %q: %v", name, argv[0], err)}
	}
	var status syscall.WaitStatus
	pid, err := c.start(path, argv, c.hookEnv)
	if err == nil {
		status = c.wait(pid, nil)
		c.reaped()
	}
	return c.failure(process{what: name, path: path, hook: true}, status, err)
}

// cleanUp runs the cleanup that is due. The caller holds mu for good, so nothing else is started any more; processes that the command
// left behind may still run, as the cleanup may be meant to end them.
func (s *supervisor) cleanUp() {
	argv := s.cleanup
	if len(argv) == 0 {
		return
	}
	s.cleanup = nil
	if s.leader.alive { // the process that the run is ended in
		_ = syscall.Kill(-s.leader.pid, syscall.SIGKILL)
		s.leader.alive = false
	}
	s.sender.send(event{Event: eventStage, Stage: schema.StageTeardown, At: s.sender.now()})
	failed := event{Event: eventError, Stage: schema.StageTeardown, Kind: kindStart}
	fail := func(format string, args ...any) {
		failed.Message = hookCleanup + ": " + fmt.Sprintf(format, args...)
		s.sender.send(failed)
		s.sender.send(event{Event: eventFact, Key: FactCleanup, Value: failed.Message}) // the run may have failed before
	}
	attr := s.hookAttr()
	printed, err := os.OpenFile(filepath.Join(s.dir, cleanupFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		fail("%v", err)
		return
	}
	defer printed.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		fail("%v", err)
		return
	}
	defer null.Close()
	attr.Files[1], attr.Files[2] = null.Fd(), printed.Fd()
	path, err := LookPath(argv[0], attr.Env)
	if err != nil {
		fail("starting %q: %v", argv[0], err)
		return
	}
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		fail("%v", startError(fmt.Sprintf("%q", path), path, attr, err))
		return
	}
	late := false
	struck := make(chan struct{})
	timer := time.AfterFunc(s.job.CleanupWait, func() {
		late = true
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		close(struck)
	})
	status := s.wait(pid, nil)
	if !timer.Stop() {
		<-struck
	}
	code, signal := endOf(status)
	switch {
	case late:
		failed.Kind = kindTimeout
		fail("took more than %s; raise timeouts.teardown", short(s.job.CleanupWait))
	case signal != "" || *code != 0:
		failed.Kind, failed.ExitCode = kindCleanup, code
		fail("%s", withErrorLine(describe(code, signal), printed, nil))
	}
}

// openStdin opens the standard input of the next process, and returns a function that closes it.
func (c *command) openStdin() (done func(), err error) {
	if c.job.Stdin == "" {
		return func() {}, nil
	}
	fd, err := syscall.Open(InDir(c.job.Dir, c.job.Stdin), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening stdin %s: %w", c.job.Stdin, err)
	}
	nothing := c.attr.Files[0]
	c.attr.Files[0] = uintptr(fd)
	return func() {
		c.attr.Files[0] = nothing // the starts of the shell read nothing, before the run and after it
		_ = syscall.Close(fd)
	}, nil
}

// InDir returns a path as a process that runs in dir sees it; dir is empty for the working directory.
func InDir(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// openOutput opens the file for the standard output of the processes, if the job names one.
func (c *command) openOutput() error {
	if c.job.Stdout == "" {
		return nil
	}
	f, err := os.OpenFile(InDir(c.job.Dir, c.job.Stdout), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("opening output: %w", err) // the error names the file
	}
	c.written = f
	c.attr.Files[1] = f.Fd()
	return nil
}

// ignored reports whether an exit status other than 0 is accepted, and records it.
func (c *command) ignored(status int) bool {
	if !c.job.AnyExit && !slices.Contains(c.job.Exits, status) {
		return false
	}
	if !slices.Contains(c.exits, status) {
		c.exits = append(c.exits, status)
		words := make([]string, len(c.exits))
		slices.Sort(c.exits)
		for i, code := range c.exits {
			words[i] = fmt.Sprint(code)
		}
		c.sender.send(event{Event: eventFact, Key: factExits, Value: strings.Join(words, ",")})
	}
	return true
}
