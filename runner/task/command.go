package task

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// floorMargin is how far, in B, a peak reported by wait4 must be above that of the supervisor to belong to the process, because the
// kernel's counters of resident memory are approximate.
const floorMargin = 1 << 20

// command is the loop for the executor command, in the supervisor: one process per iteration.
type command struct {
	*supervisor
	path    string
	argv    []string
	samples *sampleMap
	columns [commandColumns][]int64
	keeper  *keeper
	stage   schema.Stage
	// followed reports whether a process was traced already.
	followed bool
	hookEnv  *syscall.ProcAttr
	written  *os.File // that takes standard output; nil: the run's own
	exits    []int    // that were ignored, in order
	starts   []float64
}

// process is an ended process, as a failure names it.
type process struct {
	what, path string
	hook       bool // it is none of those that are measured
}

// iteration is what one process took.
type iteration struct {
	latency time.Duration
	usage   syscall.Rusage
}

// runCommand measures the command and reports how it ended.
func (s *supervisor) runCommand() {
	_ = s.worker.Close()   // which an earlier run may have done
	debug.SetGCPercent(-1) // the loop allocates next to nothing
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
	s.dueCleanup()
	if failed := c.hook(hookSetup, s.job.Hooks.Setup); failed != nil {
		s.sender.hold(*failed)
		return
	}
	if err := s.makeSpawner(); err == nil {
		c.samples.set(offFloor, 0)
	} else {
		s.sender.hold(event{Event: eventFact, Key: "runner.spawner_error", Value: err.Error()})
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

// close lets go of what only the run of a command needs. A supervisor may go on to another run.
func (c *command) close() {
	if c.samples != nil {
		c.samples.close()
	}
	if c.keeper != nil {
		c.keeper.close()
	}
	_ = c.written.Close() // of nil too
}

// run performs the warm-up and the measurement. The event is a failure.
func (c *command) run() *event {
	job := c.job
	if job.Warmup > 0 {
		c.begin(schema.StageWarmup)
	}
	for i := range job.Warmup {
		if i == job.Warmup-1 && job.Watch && c.traces() {
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
	if job.Watch && !c.followed && c.traces() {
		_, failed := c.trace()
		return failed
	}
	return nil
}

// traces reports whether a process may run under ptrace. While one does, a run that is ended ends with its supervisor, and nothing
// could clean up after it.
func (c *command) traces() bool { return len(c.job.Hooks.Cleanup) == 0 }

// fitting are the numbers of the processes in a measurement: up to limit or, with a budget, until the clock says that it is spent, or stop
// returns true. There is at least one.
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
	it, status, err := c.time()
	done()
	if failed := c.failure(process{fmt.Sprintf("process %d of %s", index+1, c.stage), c.path, false}, status, err); failed != nil {
		return failed
	}
	if c.spawner == nil { // wait4 tells at least the peak of this process
		if floor, ok := peakMemory("self"); ok {
			c.samples.set(offFloor, floor+floorMargin)
		}
	}
	c.columns[columnCPUUser][row] = it.usage.Utime.Nano() / int64(time.Microsecond)
	c.columns[columnCPUSystem][row] = it.usage.Stime.Nano() / int64(time.Microsecond)
	c.columns[columnPeakMemory][row] = maxRSS(&it.usage)
	if measured { // before the row counts: what counts has all that belongs to it
		if err := c.keeper.keep(row); err != nil {
			return &event{Event: eventError, Stage: c.stage, Kind: kindMetric, Message: err.Error()}
		}
	}
	c.samples.count(row, int64(it.latency))
	return nil
}

// prepare prepares a process: it says what is to be said before, runs the hook and empties the output.
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

// failure is the event of a process that failed or wrote too much.
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
// iteration must be repeated. The event is of a failure before it.
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
// program itself. A name with a slash is returned as it is, relative to the working directory of the program. Relative folders in PATH are
// not used: a program found there is an error that wraps exec.ErrDot.
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
