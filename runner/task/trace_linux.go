package task

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// traceOptions make every process and thread below the first one traced too, stop each where it ends, and kill
// all if the tracer ends.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

// underPtrace reports whether a process begins under ptrace: then its parent starts it.
func underPtrace(attr *syscall.ProcAttr) bool { return attr.Sys.Ptrace }

// traced runs one process under ptrace, and reports the files that it and the processes below it read. The caller is locked to its thread.
func (s *supervisor) traced(path string, argv []string) error {
	attr, sys := s.attr, *s.attr.Sys
	sys.Ptrace = true
	attr.Sys = &sys
	s.tracing.Store(true)
	defer s.tracing.Store(false)
	pid, err := s.start(path, argv, &attr)
	if err != nil {
		return fmt.Errorf("starting under ptrace: %w", err)
	}
	t := &tracer{pid: pid, live: map[int]bool{pid: true}, early: map[int]bool{}, watch: newWatch()}
	err = t.attach()
	if err != nil && t.live[pid] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	t.follow()
	s.reaped()
	t.watch.report(&s.sender) // also for a process that failed, which may have read files
	switch {
	case err != nil:
		return fmt.Errorf("tracing: %w", err)
	case t.status != 0:
		return fmt.Errorf("under ptrace: %s", describe(endOf(t.status)))
	case t.left:
		return errors.New("left processes behind under ptrace")
	}
	return nil
}

// tracer follows the tree below one process.
type tracer struct {
	pid    int
	live   map[int]bool // threads that are traced; true: the stop in which another one started it was seen
	early  map[int]bool // threads that ended before that stop was seen
	status syscall.WaitStatus
	left   bool // something was running when the first process had ended
	watch  *watch
}

// attach takes the stop of the first exec.
func (t *tracer) attach() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, 0, nil); err != nil {
		return err
	}
	if !status.Stopped() {
		delete(t.live, t.pid)
		return fmt.Errorf("not stopped at exec: status %#x", uint32(status))
	}
	if err := syscall.PtraceSetOptions(t.pid, traceOptions); err != nil {
		return err
	}
	t.watch.executed(t.pid)
	return t.resume(t.pid, 0)
}

// resume lets a stopped thread go on.
func (t *tracer) resume(pid, signal int) error {
	if t.watch.calls() {
		return syscall.PtraceSyscall(pid, signal)
	}
	return syscall.PtraceCont(pid, signal)
}

// follow handles stops until nothing is traced any more. It kills processes that are left when the first process ends.
func (t *tracer) follow() {
	for len(t.live) > 0 {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return
		case status.Stopped():
			t.stopped(pid, status)
		default:
			t.ended(pid)
			if pid == t.pid {
				t.status, t.left = status, len(t.live) > 0
			}
		}
		if t.left {
			for pid := range t.live {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// began notes a thread that another one started. It may stop for the first time only after the other one ended. It may also have ended
// already: stops of different threads come in any order.
func (t *tracer) began(pid int) {
	if t.early[pid] {
		delete(t.early, pid)
	} else {
		t.live[pid] = true
	}
}

// seen notes that a thread stopped.
func (t *tracer) seen(pid int) {
	if _, known := t.live[pid]; !known {
		t.live[pid] = false
	}
}

// ended notes the end of a thread.
func (t *tracer) ended(pid int) {
	if !t.live[pid] {
		t.early[pid] = true
	}
	delete(t.live, pid)
}

// stopped records the information of a stop and lets the thread go on, with its signal if it is one of the program's own.
func (t *tracer) stopped(pid int, status syscall.WaitStatus) {
	t.seen(pid)
	signal := 0
	switch cause := status.TrapCause(); cause {
	case unix.PTRACE_EVENT_EXIT:
		t.watch.mapped(pid)
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE, unix.PTRACE_EVENT_EXEC:
		other, err := syscall.PtraceGetEventMsg(pid)
		switch {
		case err != nil:
		case cause != unix.PTRACE_EVENT_EXEC:
			t.began(int(other))
		case int(other) != pid:
			delete(t.live, int(other)) // a thread took over the number of its process
		}
		if cause == unix.PTRACE_EVENT_EXEC {
			t.watch.executed(pid)
		}
	default:
		if status.StopSignal() == syscallStop {
			t.watch.call(pid)
			break
		}
		// SIGSTOP is how a new thread begins to be traced
		if stop := status.StopSignal(); stop != syscall.SIGTRAP && stop != syscall.SIGSTOP {
			signal = int(stop)
		}
	}
	_ = t.resume(pid, signal)
}

// CanWatch reports whether this system can report the files that a process reads.
const CanWatch = true

// syscallStop is the signal of a stop at the beginning or at the end of a system call.
const syscallStop = syscall.SIGTRAP | 0x80

// Limits of a watch. Programs load their code when they begin, so that the rest hardly matters.
const (
	maxCalls   = 200_000 // stops at system calls, at about 5 us each
	quickCalls = 20_000  // the same, once the process has had the time to load its code
	loading    = 300 * time.Millisecond
	maxFiles   = 10_000
)

// watch collects the files that the threads of a trace open for reading, and the files from which they execute code.
type watch struct {
	files   map[string]bool // true: code in it is executed
	opening map[int]bool    // threads inside a system call that opens a file
	left    int             // remaining number of system calls to inspect
	began   time.Time
}

func newWatch() *watch {
	return &watch{files: map[string]bool{}, opening: map[int]bool{}, left: maxCalls, began: time.Now()}
}

// calls reports whether system calls are inspected.
func (w *watch) calls() bool { return w.left > 0 }

// add notes a file.
func (w *watch) add(path string, executed bool) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/proc/") || len(w.files) >= maxFiles {
		return
	}
	w.files[path] = executed || w.files[path]
}

// executed notes the program that a process has just become.
func (w *watch) executed(pid int) {
	if path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
		w.add(path, true)
	}
}

// mapped records the files whose code is in the memory of a process that is about to end.
func (w *watch) mapped(pid int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		// 7f0c1a000000-7f0c1a022000 r-xp 00000000 08:01 131 /usr/lib/libc.so.6
		_, rest, _ := bytes.Cut(line, []byte(" "))
		at := bytes.IndexByte(rest, '/')
		if at < 0 || len(rest) < 3 || rest[2] != 'x' {
			continue
		}
		path := bytes.TrimSuffix(rest[at:], []byte("\n"))
		if !w.files[string(path)] {
			w.add(string(path), true)
		}
	}
}

// callInfo is the struct ptrace_syscall_info of the kernel.
type callInfo struct {
	op     uint8
	_      [3]uint8
	arch   uint32
	ip, sp uint64
	data   [8]uint64 // at the beginning: the number of the call; at the end: its result, and whether that is an error
}

// call looks at a system call, at its beginning or at its end.
func (w *watch) call(tid int) {
	w.left--
	if maxCalls-w.left > quickCalls && time.Since(w.began) > loading {
		w.left = 0
		return
	}
	var info callInfo
	_, _, failed := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case failed != 0:
		w.left = 0 // a kernel before 5.3
	case info.op == unix.PTRACE_SYSCALL_INFO_ENTRY:
		if opens(info.data[0]) {
			w.opening[tid] = true
		}
	case info.op == unix.PTRACE_SYSCALL_INFO_EXIT && w.opening[tid]:
		delete(w.opening, tid)
		if info.data[1]&0xff == 0 {
			w.opened(tid, info.data[0])
		}
	}
}

// opens reports whether a system call opens a file.
func opens(number uint64) bool {
	const open = 2 // architectures younger than openat lack this call
	return number == unix.SYS_OPENAT || number == unix.SYS_OPENAT2 || runtime.GOARCH == "amd64" && number == open
}

// opened records a file that was opened only for reading.
func (w *watch) opened(tid int, fd uint64) {
	link := "/proc/" + strconv.Itoa(tid) + "/fd/" + strconv.FormatUint(fd, 10)
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&0o222 != 0 {
		return
	}
	if path, err := os.Readlink(link); err == nil {
		w.add(path, false)
	}
}

// report sends the collected files.
func (w *watch) report(s *sender) {
	for path, executed := range w.files {
		e := event{Event: eventRead, Value: path}
		if executed {
			e.Event = eventExecuted
		}
		s.hold(e)
	}
}
