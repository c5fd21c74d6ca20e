//go:build !linux

package task

import (
	"os"
	"syscall"
	"time"
)

// selfPath is the file to start again.
func selfPath() (string, error) { return os.Executable() }

// becomeSubreaper: there is none here; a process that leaves its group survives.
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

// sweepOrphans finds none: orphans go to process 1 here.
func sweepOrphans(map[int]bool, time.Duration) (left int) { return 0 }

// peakMemory of another process is not to be had; that of this one is getrusage's.
func peakMemory(process string) (int64, bool) {
	var usage syscall.Rusage
	if process != "self" || syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, false
	}
	return usage.Maxrss, true
}

// maxRSS is what wait4 says about the peak, in B.
func maxRSS(usage *syscall.Rusage) int64 { return usage.Maxrss }
