package task

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// selfPath starts this very file again, also after it was replaced or removed.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// becomeSubreaper makes orphans below this process its children.
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a subreaper: %w", err)
	}
	return nil
}

// children returns the children of all threads of this process, zombies included. The kernel's list may miss one while others end;
// callers that need certainty repeat the call.
func children() []int {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread ended
		}
		for _, field := range bytes.Fields(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// pause is the time between two looks at processes that are being killed.
const pause = 200 * time.Microsecond

// killBelow kills and reaps everything below this process, which must be a subreaper and must not start anything any more. leader is the
// process that it started last. killed counts the processes that were still running, left the processes that still exist after wait.
// before is called if there is anything to kill, which may take long.
func killBelow(leader leader, wait time.Duration, before func()) (killed, left int) {
	deadline := time.Now().Add(wait)
	if !reapAny() { // processes that ended by themselves do not count as killed
		return 0, 0
	}
	before()
	if leader.alive { // else its number may be another's by now
		_ = syscall.Kill(-leader.pid, syscall.SIGKILL)
	}
	seen := map[int]bool{}
	for {
		pids := children()
		for _, pid := range pids {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				seen[pid] = true
			}
		}
		if !reapAny() {
			return len(seen), 0
		}
		if time.Now().After(deadline) {
			return len(seen), max(len(pids), 1)
		}
		time.Sleep(pause)
	}
}

// reapAny reaps ended processes and reports whether there are children left.
func reapAny() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG|unix.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return false
		case pid == 0:
			return true
		}
	}
}

// sweepOrphans kills and reaps the processes that were reparented to this process, a subreaper, from below a supervisor that died, each
// by its own pid. It spares the known processes, and all processes of this process's own session: a supervisor leads a session of its
// own, and no process below it can come back into ours.
func sweepOrphans(known map[int]bool, wait time.Duration) (left int) {
	session, _ := unix.Getsid(0)
	deadline := time.Now().Add(wait)
	for empty := 0; empty < 2; {
		left = 0
		for _, pid := range children() {
			if known[pid] {
				continue
			}
			if sid, err := unix.Getsid(pid); err != nil || sid == session {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG|unix.WALL, nil)
		}
		if left > 0 {
			empty = 0
			if time.Now().After(deadline) {
				return left
			}
		} else {
			empty++
		}
		time.Sleep(pause)
	}
	return 0
}

// peakMemory returns the largest resident memory, in B, that a process (self, or a pid) has had since its last exec. wait4 and getrusage
// do not report it: their peak includes the memory of the parent at the time of the fork.
func peakMemory(process string) (int64, bool) {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0, false
	}
	return parsePeak(text)
}

// parsePeak finds the line `VmHWM:   1176 kB`.
func parsePeak(status []byte) (int64, bool) {
	_, after, ok := bytes.Cut(status, []byte("\nVmHWM:"))
	if !ok {
		return 0, false
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	number, ok := bytes.CutSuffix(bytes.TrimSpace(line), []byte(" kB"))
	if !ok {
		return 0, false
	}
	kib, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || kib < 0 || kib > 1<<50 {
		return 0, false
	}
	return kib << 10, true
}

// maxRSS returns the peak that wait4 reports, in B.
func maxRSS(usage *syscall.Rusage) int64 { return usage.Maxrss << 10 }

// inherited is the state that a child of this process inherits and that another process can change, for comparisons.
type inherited struct {
	self, thread scheduling // of the whole process, or its first thread, and of the thread that starts children
	limits       [unix.RLIMIT_RTTIME + 1]unix.Rlimit
	files        string // contents of inheritedFiles
}

// scheduling is how a thread gets processors and the disk.
type scheduling struct {
	processors unix.CPUSet
	attr       unix.SchedAttr
	disk       uintptr
}

// inheritedFiles are the files in /proc with further inherited state of a process. A kernel need not have all of them.
var inheritedFiles = []string{"cgroup", "oom_score_adj", "coredump_filter", "timerslack_ns", "autogroup"}

// readInherited reads the inherited state of a thread of this process; 0 is the calling one. ok is false if something cannot be read.
func readInherited(thread int) (now inherited, ok bool) {
	var err error
	if now.self, err = readScheduling(os.Getpid()); err != nil {
		return now, false
	}
	if now.thread, err = readScheduling(thread); err != nil {
		return now, false
	}
	for resource := range now.limits {
		if err := unix.Prlimit(0, resource, nil, &now.limits[resource]); err != nil {
			return now, false
		}
	}
	var files strings.Builder
	buffer := make([]byte, 4096)
	for _, name := range inheritedFiles {
		fd, err := unix.Open("/proc/self/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		n, _ := unix.Read(fd, buffer)
		_ = unix.Close(fd)
		files.WriteString(name)
		files.Write(buffer[:max(n, 0)])
	}
	now.files = files.String()
	return now, true
}

func readScheduling(thread int) (s scheduling, err error) {
	if err = unix.SchedGetaffinity(thread, &s.processors); err != nil {
		return s, err
	}
	attr, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		return s, err
	}
	s.attr = *attr
	const ofThread = 1
	s.disk, _, _ = syscall.Syscall(unix.SYS_IOPRIO_GET, ofThread, uintptr(thread), 0) // an error is compared as a number as well
	return s, nil
}
