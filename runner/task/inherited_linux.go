package task

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inheritedFiles are what the kernel says in /proc about other things that a child inherits and that another process can change.
var inheritedFiles = []string{"cgroup", "oom_score_adj", "coredump_filter", "timerslack_ns", "autogroup"}

// inherited describes what a child of this process inherits and another process can change, for comparisons: priorities and processors of
// threads, limits, cgroups. A thread of 0 is the calling one. ok is false if something cannot be read.
func inherited(threads ...int) (description string, ok bool) {
	var all strings.Builder
	for _, thread := range threads {
		var processors unix.CPUSet
		if err := unix.SchedGetaffinity(thread, &processors); err != nil {
			return "", false
		}
		scheduling, err := unix.SchedGetAttr(thread, 0)
		if err != nil {
			return "", false
		}
		disk, _, _ := syscall.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(thread), 0) // 1: of a thread; an error is a number as well
		fmt.Fprintln(&all, processors, *scheduling, disk)
	}
	for resource := range unix.RLIMIT_RTTIME + 1 {
		var limit unix.Rlimit
		if err := unix.Prlimit(0, resource, nil, &limit); err != nil {
			return "", false
		}
		fmt.Fprintln(&all, limit)
	}
	for _, name := range inheritedFiles {
		text, _ := os.ReadFile("/proc/self/" + name) // a kernel need not have all of them
		all.Write(text)
	}
	return all.String(), true
}
