package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
)

// The orders that a supervisor reads.
const (
	orderNext  = "next"  // with the quoted path of a run directory, which will be made for another run
	orderStart = "start" // the run is prepared; with its job, unless that is a file of the run directory
	orderDump  = "dump"  // the worker shall write down its stack
	orderKill  = "kill"
	// orderInterrupt is for a profiler, which shall end its child and write its report.
	orderInterrupt = "interrupt"
)

// exitKilled is the exit status of a shell whose command was killed by SIGKILL, and of a supervisor that had to leave
// the reaping to the runner.
const exitKilled = 137

// supervisor owns every process of one run.
type supervisor struct {
	dir   string
	order string         // the job; empty: it is in the directory
	given map[string]int // see service
	// inherited is what processes inherit; see service.
	inherited *inherited
	job       *job // nil until it is read
	sender    sender
	files     []*os.File       // standard input, output and error of its processes; for a command also the file for events
	attr      syscall.ProcAttr // of its processes
	// spawner starts the processes of a command; nil: the runtime does.
	spawner *spawner
	worker  *os.File // events of the worker, to be passed on

	// mu is held to note the job and to start a process, and taken for good to end the run: after that nothing is started.
	mu      sync.Mutex
	leader  leader
	cleanup []string    // that is due when the run ends
	started bool        // at least one process was started
	tracing atomic.Bool // a thread of this process traces; no other thread may wait
	once    sync.Once   // the end
}

// newSupervisor begins a run in the directory that a service has taken.
func newSupervisor(s *service, order string) *supervisor {
	return &supervisor{dir: s.dir, order: order, given: s.given, inherited: &s.inherited, sender: sender{w: s.events, began: time.Now()}, worker: s.worker}
}

// leader is the process that a supervisor started last. It leads a process group.
type leader struct {
	pid   int
	alive bool // not reaped
}

// serve performs the run and reports its end. The error is the reason why it could not begin.
func (s *supervisor) serve() error {
	if err := becomeSubreaper(); err != nil {
		return err
	}
	s.sender.hold(event{Event: eventHello, Proto: proto, At: s.sender.now()})
	job, err := s.readJob()
	if err != nil {
		return err
	}
	s.mu.Lock() // a run that was ended before stays without a job
	s.job = job
	s.mu.Unlock()
	if err = s.openFiles(); err != nil {
		return err
	}
	s.tune()
	s.attr = s.procAttr()
	if s.job.Executor == schema.ExecutorCommand {
		s.runCommand()
	} else {
		s.runWorker()
	}
	s.finish()
	return nil
}

// tune gives this thread the settings that the processes of the run inherit, and reports them.
func (s *supervisor) tune() {
	if s.job.Process.None() {
		return
	}
	for _, r := range s.job.Process.Apply() {
		s.sender.hold(event{Event: eventFact, Key: tune.Fact + r.Name, Value: r.Value, Missing: r.Missing})
	}
	*s.inherited, _ = readInherited(0)
}

// readJob reads the job, from the order or from the run directory.
func (s *supervisor) readJob() (j *job, err error) {
	if s.order == "" {
		j, err = loadJob(s.dir)
	} else {
		j, err = parseJob([]byte(s.order))
	}
	if err == nil {
		j.given = s.given
	}
	return j, err
}

// refuse ends a supervisor that cannot begin.
func (s *supervisor) refuse(err error) int {
	_ = os.RemoveAll(s.dir)
	s.sender.send(event{Event: eventError, Kind: kindStart, Message: fmt.Sprintf("starting the supervisor: %v", err)})
	s.sender.send(event{Event: eventDone})
	return 1
}

// dump requests a stack dump from the worker, which has announced that it can write one.
func (s *supervisor) dump() { s.signal(syscall.SIGUSR1) }

// interrupt requests the report of a profiler.
func (s *supervisor) interrupt() { s.signal(syscall.SIGINT) }

// signal sends a signal to the process that was started last. If the run ends already, it does nothing.
func (s *supervisor) signal(number syscall.Signal) {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if s.leader.alive {
		_ = syscall.Kill(s.leader.pid, number)
	}
}

// finish kills the remaining processes, once, and reports it.
func (s *supervisor) finish() {
	s.once.Do(func() {
		killed, left := s.killAll()
		s.sender.send(event{Event: eventDone, Killed: killed, Left: left})
	})
}

// killAll runs the cleanup if it is due, kills everything below and prevents further starts. During a trace it cannot reap, as that
// would take the stops that the tracing thread waits for: then it ends this process, with which all traced processes die
// (PTRACE_O_EXITKILL), and the runner reaps.
func (s *supervisor) killAll() (killed, left int) {
	s.mu.Lock() // for good
	if s.job == nil {
		return 0, 0
	}
	if s.tracing.Load() {
		_ = os.RemoveAll(s.dir) // the runner holds its files open
		s.sender.flush()
		os.Exit(exitKilled)
	}
	s.cleanUp()
	s.spawner.close()
	return killBelow(s.leader, s.job.KillWait, s.sender.flush)
}

// start starts one process, unless the run ends: then it never returns.
func (s *supervisor) start(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fork := syscall.ForkExec
	if s.spawner != nil && !underPtrace(attr) {
		fork = s.spawner.start
	}
	if pid, err = fork(path, argv, attr); err == nil {
		s.leader = leader{pid: pid, alive: true}
		s.started = true
	}
	return pid, err
}

// makeSpawner makes the spawner of a command, after its setup, which may change inherited state. As for a start, it is never made once
// the run is ending.
func (s *supervisor) makeSpawner() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spawner, err = newSpawner()
	return err
}

// wait waits for a process. The caller reads the clock and then calls reaped.
func (s *supervisor) wait(pid int, usage *syscall.Rusage) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, usage); err != syscall.EINTR {
			return status
		}
	}
}

// reaped notes that the process that was started last is reaped. If the run ends, it never returns: somebody else
// may have reaped it and then its status is not known.
func (s *supervisor) reaped() {
	s.mu.Lock()
	s.leader.alive = false
	s.mu.Unlock()
}

// runWorker starts the worker and reports how it ended.
func (s *supervisor) runWorker() {
	path, argv, err := s.workerProgram()
	if err != nil {
		s.fail(fmt.Errorf("starting the worker: %w", err))
		return
	}
	s.attr.Files = append(s.attr.Files, s.worker.Fd())
	counts := s.count(0)
	defer counts.close()
	for i, fd := range counts.fds {
		if counts.lost[i] {
			fd = int(s.files[0].Fd()) // the null device: nothing can be read from it
		}
		s.attr.Files = append(s.attr.Files, uintptr(fd))
	}
	s.sender.flush()
	pid, err := s.start(path, append(argv, s.dir), &s.attr)
	if err != nil {
		s.fail(startError("the worker", path, &s.attr, err))
		return
	}
	_ = s.worker.Close() // now its end is the worker's end
	status := s.wait(pid, nil)
	s.reaped()
	ended := event{Event: eventExit}
	ended.ExitCode, ended.Signal = endOf(status)
	s.sender.send(ended)
}

// workerProgram returns the program of the worker, and its arguments without the run directory. A profiler starts the worker by its first
// word.
func (s *supervisor) workerProgram() (path string, argv []string, err error) {
	argv = s.job.Program
	if len(argv) > 0 {
		path = argv[0]
	} else {
		path, err = selfPath()
		argv = []string{os.Args[0], roleWorker}
	}
	if len(s.job.Profiler) == 0 {
		return path, argv, err
	}
	if len(s.job.Program) == 0 { // /proc/self would be the profiler
		argv = []string{fmt.Sprintf("/proc/%d/exe", os.Getpid()), roleWorker}
	}
	return s.job.Profiler[0], slices.Concat(s.job.Profiler, argv), err
}

// startError explains why a program could not be started. The kernel gives one error for a missing program, for its missing
// interpreter and for a missing working directory.
func startError(what, path string, attr *syscall.ProcAttr, err error) error {
	dir := attr.Dir
	if dir != "" {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("starting %s: working directory %w", what, missing)
		}
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("starting %s: %w: it is neither a program for this machine nor a script with a first line like #!/bin/sh", what, err)
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EACCES) {
		if missing := CheckInterpreter(path, dir, attr.Env); missing != nil {
			return fmt.Errorf("starting %s: %w", what, missing)
		}
	}
	return fmt.Errorf("starting %s: %w", what, err)
}

// fail reports a start that failed.
func (s *supervisor) fail(err error) {
	s.sender.send(event{Event: eventError, Kind: kindStart, Message: err.Error()})
}

// endOf returns the exit code, or the name of the signal, of a process that ended.
func endOf(status syscall.WaitStatus) (code *int64, name string) {
	if status.Signaled() {
		return nil, unix.SignalName(status.Signal())
	}
	return new(int64(status.ExitStatus())), ""
}

// The first arguments that make this program a supervisor or a worker; the second one is the run directory.
const (
	roleSupervise = "__supervise"
	roleWorker    = "__worker"
)

// The files of a run directory.
const (
	jobFile     = "job.json"
	samplesFile = "samples"
	stdoutFile  = "stdout"
	stderrFile  = "stderr"
	stackFile   = "stack"
	eventsFile  = "events"
	keptFile    = "kept"
)

// The descriptors that the roles begin with.
const (
	fdWorkerEvents     = 3 // of the worker
	fdWorkerCounters   = 4 // of the worker: the first of the counters of the job
	fdOrders           = 3 // of the supervisor
	fdSupervisorEvents = 4
	fdPassedEvents     = 5
	fdCommandEvents    = 3 // of each process of a command
)

// eventsVariable is the variable of the environment in which a process of a command finds the number of its descriptor for
// events.
const eventsVariable = "NEUROLENS_EVENTS"

// Main performs an internal role if argv (the program first) names one; handled is false if it does not. A program must call it before
// anything else, because it is started once or twice for each run. code is the exit status.
func Main(argv []string, registry WorkerFunc) (code int, handled bool) {
	if len(argv) != 3 {
		return 0, false
	}
	switch argv[1] {
	case roleSupervise:
		return supervise(argv[2]), true
	case roleWorker:
		return work(argv[2], registry), true
	}
	return 0, false
}

// loadJob reads the job of a run directory.
func loadJob(dir string) (*job, error) {
	text, err := os.ReadFile(filepath.Join(dir, jobFile))
	if err != nil {
		return nil, err
	}
	return parseJob(text)
}

func parseJob(text []byte) (*job, error) {
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("reading %s: %w", jobFile, err)
	}
	if j.Proto != proto {
		return nil, fmt.Errorf("protocol %d: want %d", j.Proto, proto)
	}
	j = j.mapped(shellwords.FromUTF8)
	return &j, nil
}

// environ returns the environment that base and the additions make. The last value of a key wins; a program would take
// the first of two.
func environ(base, additions []string) []string {
	at := map[string]int{}
	var merged []string
	for _, list := range [][]string{base, additions} {
		for _, entry := range list {
			key, _, _ := strings.Cut(entry, "=")
			if i, ok := at[key]; ok {
				merged[i] = entry
				continue
			}
			at[key] = len(merged)
			merged = append(merged, entry)
		}
	}
	return merged
}

// openFiles opens the standard input, output and error of the processes of the supervisor, and for a command the file that is its
// descriptor for events. It also directs the messages of its own crash to standard error.
func (s *supervisor) openFiles() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	s.files = []*os.File{null}
	names := []string{stdoutFile, stderrFile}
	if s.job.Executor == schema.ExecutorCommand {
		names = append(names, eventsFile)
	}
	for _, name := range names {
		f, err := os.OpenFile(s.job.path(s.dir, name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		s.files = append(s.files, f)
	}
	if err := debug.SetCrashOutput(s.files[2], debug.CrashOptions{}); err != nil {
		return fmt.Errorf("directing the messages of a crash to %s: %w", stderrFile, err)
	}
	return nil
}

// close closes the files of a run that is over, and directs the messages of a crash elsewhere.
func (s *supervisor) close() {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	for _, f := range s.files {
		_ = f.Close()
	}
}

// procAttr returns the attributes of all started processes. It contains only the numbers of the files, which does not keep them open:
// the garbage collector closes an unreferenced file, and the next opened file gets its number. So s.files references them for as long as
// the supervisor starts processes.
func (s *supervisor) procAttr() syscall.ProcAttr {
	env := s.job.Env
	if s.job.Executor == schema.ExecutorCommand {
		env = append(slices.Clone(env), eventsVariable+"="+strconv.Itoa(fdCommandEvents))
	}
	attr := syscall.ProcAttr{
		Dir: s.job.Dir, Env: s.environ(env), Sys: &syscall.SysProcAttr{Setpgid: true},
	}
	for _, f := range s.files {
		attr.Files = append(attr.Files, f.Fd())
	}
	return attr
}

// environ returns the environment of a process with the additions. PWD names the folder that the process runs in, as a shell would set
// it. The inherited PWD may name another version of the code: make reads $(PWD), and would build into it.
func (s *supervisor) environ(additions []string) []string {
	base := os.Environ()
	if s.job.Dir != "" {
		if dir, err := filepath.Abs(s.job.Dir); err == nil {
			base = append(base, "PWD="+dir)
		}
	}
	return environ(base, additions)
}

// clearOutput empties the files of output, so that each process has the whole limit.
func (s *supervisor) clearOutput() {
	for _, f := range s.files[1:] {
		_ = f.Truncate(0)
	}
}

// output returns the size of the largest of the files of output.
func (s *supervisor) output() (size int64) {
	for _, f := range s.files[1:] {
		var st syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &st) == nil { // f.Stat would allocate, and the collector is off
			size = max(size, st.Size)
		}
	}
	return size
}
