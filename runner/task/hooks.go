package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Hooks are programs with their arguments that run around the processes of a command, and are not timed.
type Hooks struct {
	Setup   []string `json:"setup,omitempty"`   // once, before all processes of the run
	Prepare []string `json:"prepare,omitempty"` // before each process, those of the warm-up too
	// Cleanup runs once in the end, however the run ended, if Setup was begun or there is none. It may take as long as the
	// deadline of teardown.
	Cleanup []string `json:"cleanup,omitempty"`
}

// The names of hooks, as errors have them.
const (
	hookSetup   = "setup"
	hookPrepare = "prepare"
	hookCleanup = "cleanup"
)

// cleanupFile has the standard error of the cleanup: stderr is that of the last process.
const cleanupFile = "cleanup"

// hookAttr is how hooks are started: as the command, but for its standard input, its output and its events.
func (s *supervisor) hookAttr() *syscall.ProcAttr {
	attr := s.attr
	attr.Env = s.environ(s.job.Env)
	attr.Files = nil
	for _, f := range s.files[:3] {
		attr.Files = append(attr.Files, f.Fd())
	}
	return &attr
}

// hook runs a program around the processes, and gives the event of one that did not end well. What it writes is gone when
// the next process begins.
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

// dueCleanup notes that the cleanup is to run, whatever happens from now on.
func (s *supervisor) dueCleanup() {
	s.mu.Lock()
	s.cleanup = s.job.Hooks.Cleanup
	s.mu.Unlock()
}

// cleanUp runs the cleanup that is due. The caller holds mu for good, so nothing else is started any more; what the command has left
// behind may still run, as the cleanup may want to end it.
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
	said, err := os.OpenFile(filepath.Join(s.dir, cleanupFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		fail("%v", err)
		return
	}
	defer said.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		fail("%v", err)
		return
	}
	defer null.Close()
	attr.Files[1], attr.Files[2] = null.Fd(), said.Fd()
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
		fail("%s", withTellingLine(describe(code, signal), said))
	}
}

// openStdin opens the file that the next process reads, from its first byte on, and gives how to close it.
func (c *command) openStdin() (done func(), err error) {
	if c.job.Stdin == "" {
		return func() {}, nil
	}
	fd, err := syscall.Open(inFolder(c.job.Dir, c.job.Stdin), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening stdin %s: %w", c.job.Stdin, err)
	}
	nothing := c.attr.Files[0]
	c.attr.Files[0] = uintptr(fd)
	return func() {
		c.attr.Files[0] = nothing // starts of the shell read nothing, before the run and after it
		_ = syscall.Close(fd)
	}, nil
}

// inFolder is a path from a folder; empty: the working directory.
func inFolder(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// openOutput opens the file that takes the standard output of the processes, in place of the one that the run has for that.
func (c *command) openOutput() error {
	if c.job.Stdout == "" {
		return nil
	}
	f, err := os.OpenFile(inFolder(c.job.Dir, c.job.Stdout), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("opening output: %w", err) // which names the file
	}
	c.written = f
	c.attr.Files[1] = f.Fd()
	return nil
}

// ignored reports whether an exit status other than 0 is no failure, and notes it.
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
