package task

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherited is what a child of this process inherits and another process can change, for comparisons.
type inherited struct {
	self, thread scheduling // of the whole process, or its first thread, and of the thread that starts children
	limits       [unix.RLIMIT_RTTIME + 1]unix.Rlimit
	files        string // what inheritedFiles say
}

// scheduling is how a thread gets processors and the disk.
type scheduling struct {
	processors unix.CPUSet
	attr       unix.SchedAttr
	disk       uintptr
}

// inheritedFiles say in /proc what else of a process is inherited. A kernel need not have all of them.
var inheritedFiles = []string{"cgroup", "oom_score_adj", "coredump_filter", "timerslack_ns", "autogroup"}

// readInherited reads it for a thread of this process; 0 is the calling one. ok is false if something cannot be read.
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
	s.disk, _, _ = syscall.Syscall(unix.SYS_IOPRIO_GET, ofThread, uintptr(thread), 0) // an error is a number as well
	return s, nil
}
