package task

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"

	"github.com/neurolens/neurolens/schema"
)

// openFiles opens the standard input, output and error of what the supervisor starts, and for a command the file that is
// its descriptor for events. It takes standard error for the messages of a crash of its own.
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

// close closes the files of a run that is over, and directs the messages of a crash to none of them.
func (s *supervisor) close() {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	for _, f := range s.files {
		_ = f.Close()
	}
}

// procAttr is how everything is started. It has only the numbers of the files, which does not keep them open: the
// collector closes a file that nothing refers to, and the next one to be opened gets its number. So s.files holds them
// for as long as the supervisor starts processes.
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

// environ is the environment of a process with the additions. PWD names the folder that the process runs in, as a shell would have it. The
// user's may name another version of the code: make takes $(PWD) from there, and would build into it.
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

// output is the size of the largest of the files of output.
func (s *supervisor) output() (size int64) {
	for _, f := range s.files[1:] {
		var st syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &st) == nil { // f.Stat would allocate, and the collector is off
			size = max(size, st.Size)
		}
	}
	return size
}
