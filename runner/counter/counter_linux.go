package counter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// event is what the kernel calls a counter.
type event struct {
	kind   uint32
	config uint64
	// inKernel events happen in the kernel alone: without it, the kernel counts none.
	inKernel bool
}

var events = map[string]event{
	Instructions:    {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS, false},
	Cycles:          {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, false},
	BranchMisses:    {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES, false},
	CacheMisses:     {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES, false},
	PageFaults:      {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS, false},
	ContextSwitches: {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	TaskClock:       {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK, false},
}

// attributes are the requests to the kernel.
type attributes = unix.PerfEventAttr

// attr returns the request to the kernel: a counter that all descendants of the process inherit, and that each of them enables when it
// executes a program.
func (e event) attr(userOnly bool) attributes {
	a := attributes{
		Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(attributes{})),
		Bits:        unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	if userOnly {
		a.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	return a
}

// opener is perf_event_open for a process on all processors.
type opener func(attr *attributes, pid int) (fd int, err error)

func perfEventOpen(attr *attributes, pid int) (fd int, err error) {
	return unix.PerfEventOpen(attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// Open opens counters of the next process that a process starts, and of its descendants. pid is the parent; 0 is the calling thread. The
// caller closes them.
func Open(names []string, pid int) []Counter { return open(names, pid, perfEventOpen) }

func open(names []string, pid int, do opener) []Counter {
	counters := make([]Counter, len(names))
	for i, name := range names {
		c, e := &counters[i], events[name]
		c.Name, c.attr = name, e.attr(false)
		var err error
		c.fd, err = do(&c.attr, pid)
		if errors.Is(err, unix.EACCES) && !e.inKernel {
			c.UserOnly, c.attr = true, e.attr(true)
			c.fd, err = do(&c.attr, pid)
		}
		if err != nil {
			c.fd, c.Missing = closed, reason(e, c.UserOnly, err)
		}
	}
	return counters
}

// Reopen opens counters for the next process. It allocates nothing. A counter that cannot be opened again has a negative descriptor. Each
// is opened before its predecessor is closed: the first and the last software counter in the system make the kernel patch its own code
// (static_key_slow_inc in perf_swevent_init), which made the next process 50 us slower.
func Reopen(counters []Counter, pid int) {
	for i := range counters {
		c := &counters[i]
		if c.Missing != "" {
			continue
		}
		before := c.fd
		var err error
		if c.fd, err = perfEventOpen(&c.attr, pid); err != nil {
			c.fd = closed
		}
		if before != closed {
			_ = unix.Close(before)
		}
	}
}

// Close closes counters.
func Close(counters []Counter) {
	for i := range counters {
		if c := &counters[i]; c.fd != closed {
			_ = unix.Close(c.fd)
			c.fd = closed
		}
	}
}

// reason returns why a counter cannot be opened. The kernel says EACCES where kernel.perf_event_paranoid forbids it; EPERM is the answer of
// the seccomp filters of containers; old filters give ENOSYS.
func reason(e event, userOnly bool, err error) string {
	level := 1 // from which events in the kernel are counted for everybody
	if userOnly {
		level = 2 // some distributions have levels above 2, which forbid all events
	}
	switch {
	case errors.Is(err, unix.EACCES):
		return fmt.Sprintf("permission: sudo sysctl kernel.perf_event_paranoid=%d", level)
	case errors.Is(err, unix.EPERM):
		return "permission: a container needs --cap-add PERFMON"
	case errors.Is(err, unix.ENOSYS):
		return "unsupported: the kernel has no perf events, or seccomp hides them: a container needs --cap-add PERFMON"
	case slices.Contains([]error{unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP}, err) && e.kind == unix.PERF_TYPE_HARDWARE:
		return "absent: no performance counters (PMU), as in most virtual machines"
	}
	return fmt.Sprintf("unsupported: perf_event_open: %v", err)
}

// Read reads the counter of a descriptor, by way of a buffer. A descriptor of no counter, such as that of /dev/null, is an error.
func Read(fd int, buffer *[ReadingSize]byte) (Reading, error) {
	for {
		n, err := syscall.Read(fd, buffer[:])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return Reading{}, fmt.Errorf("reading a counter: %w", err)
		case n != ReadingSize:
			return Reading{}, fmt.Errorf("reading a counter: %d B: want %d", n, ReadingSize)
		}
		word := func(i int) int64 { return int64(binary.NativeEndian.Uint64(buffer[8*i:])) }
		return Reading{Count: word(0), Enabled: word(1), Running: word(2)}, nil
	}
}
