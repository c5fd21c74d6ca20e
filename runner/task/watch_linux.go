package task

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// CanWatch reports whether this system can tell which files a process reads.
const CanWatch = true

// syscallStop is the signal of a stop at the beginning or at the end of a system call.
const syscallStop = syscall.SIGTRAP | 0x80

// Bounds of what a watch looks at. Programs load their code when they begin, so that the rest hardly matters.
const (
	maxCalls   = 200_000 // stops at system calls, at about 5 us each
	quickCalls = 20_000  // the same, once the process has had the time to load its code
	loading    = 300 * time.Millisecond
	maxFiles   = 10_000
)

// watch collects the files that the threads of a trace open for reading, and those from which they execute code.
type watch struct {
	files   map[string]bool // true: code in it is executed
	opening map[int]bool    // threads inside a system call that opens a file
	left    int             // stops at system calls that are still looked at
	began   time.Time
}

func newWatch() *watch {
	return &watch{files: map[string]bool{}, opening: map[int]bool{}, left: maxCalls, began: time.Now()}
}

// calls reports whether system calls are looked at.
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

// mapped notes the files whose code is in the memory of a process that is about to end.
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
	const open = 2 // architectures that are younger than openat have none
	return number == unix.SYS_OPENAT || number == unix.SYS_OPENAT2 || runtime.GOARCH == "amd64" && number == open
}

// opened notes a file that was opened for reading alone.
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

// report sends what was collected.
func (w *watch) report(s *sender) {
	for path, executed := range w.files {
		e := event{Event: eventRead, Value: path}
		if executed {
			e.Event = eventExecuted
		}
		s.hold(e)
	}
}
