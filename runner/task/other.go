//go:build !linux

package task

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// selfPath returns the file to start again.
func selfPath() (string, error) { return os.Executable() }

// becomeSubreaper does nothing: only Linux has subreapers, and elsewhere a process that leaves its group survives.
func becomeSubreaper() error { return nil }

// killBelow kills the process group of the process that was started last, and reaps that process.
func killBelow(leader leader, _ time.Duration, before func()) (killed, left int) {
	before()
	if leader.pid == 0 || syscall.Kill(-leader.pid, syscall.SIGKILL) != nil {
		return 0, 0
	}
	if leader.alive {
		_, _ = syscall.Wait4(leader.pid, nil, 0, nil)
	}
	return 1, 0
}

// sweepOrphans returns 0: orphans go to process 1 here.
func sweepOrphans(map[int]bool, time.Duration) (left int) { return 0 }

// peakMemory is known only for this process, from getrusage.
func peakMemory(process string) (int64, bool) {
	var usage syscall.Rusage
	if process != "self" || syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, false
	}
	return usage.Maxrss, true
}

// maxRSS returns the peak that wait4 reports, in B.
func maxRSS(usage *syscall.Rusage) int64 { return usage.Maxrss }

// inherited is not to be had here, so no supervisor serves a second run: a process that left its group might survive the first one.
type inherited struct{}

func readInherited(int) (now inherited, ok bool) { return now, false }

// condition is not to be had here, where no supervisor serves a second run.
type condition struct{}

func newShared() *shared { return nil }

func (s *shared) renew() error { return nil }

// newOrders makes the channel for orders.
func newOrders() (read, write *os.File, err error) { return os.Pipe() }

func (s *shared) send(*os.File) error { return nil }

func receiveShared(int) map[string]int { return nil }

// spawner starts processes from a copy of this process on Linux; here it is unused.
type spawner struct{}

func newSpawner() (*spawner, error) { return nil, errors.ErrUnsupported }

func (s *spawner) start(string, []string, *syscall.ProcAttr) (int, error) {
	return 0, errors.ErrUnsupported
}

func (s *spawner) close() {}

func (s *spawner) parent() int { return 0 }

// restoreOpenFiles does nothing: the runtime restores the limit in the processes that it starts.
func restoreOpenFiles() {}

func underPtrace(*syscall.ProcAttr) bool { return false }

// traced fails: only Linux can report the files that a process reads.
func (s *supervisor) traced(string, []string) error { return errors.ErrUnsupported }

// CanWatch reports whether this system can report the files that a process reads.
const CanWatch = false
