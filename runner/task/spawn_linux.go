package task

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A spawner starts the processes of a command from a copy of this process that has given its memory back.
//
// wait4 reports, as the peak memory of a process, at least the memory of the process that it was forked from: execve counts the memory
// of its caller (setmax_mm_hiwater_rss in exec_mmap of the kernel). This program uses some 50 MB, which is more than most small
// programs. The copy uses about half a megabyte, so that wait4 reports the peak of any program, and of each process below it.
//
// The copy shares the table of open files with this process, and the processes that it starts are children of this process
// (CLONE_PARENT). Other inherited state is the state of this process when the copy was made. As in syscall.ForkExec, no code of the
// runtime runs in the copy: only functions that do not split their stack, and system calls.
type spawner struct {
	area    *spawnArea
	memory  []byte
	asks    *os.File    // a byte begins a start
	answers *os.File    // a byte ends it
	ends    [2]*os.File // of the copy
	pid     int         // 0: there is no copy
}

const (
	spawnSpace = 8 << 20 // for the texts of a start; the kernel accepts 6 MiB
	spawnFiles = 16
	spawnDrops = 2048
)

// spawnArea is memory that both processes share. It is at the same address in both.
type spawnArea struct {
	// Constant for all starts.
	ask, answer uintptr // files
	parent      uintptr
	mask        uint64                                 // of the signals that a started process blocks
	stack       uintptr                                // a position on the stack, which the copy keeps around it
	drops       [spawnDrops]struct{ at, size uintptr } // memory that the copy gives back, up to the first that is empty

	// A start.
	path, argv, envv, dir uintptr // C strings, and null-terminated lists of them; dir may be 0
	files                 [spawnFiles]uintptr
	count                 uintptr // of files
	moved                 [spawnFiles]uintptr

	// The result of a start.
	pid    uintptr
	failed uintptr // errno of clone
	errno  uintptr // of the started process, before its program began

	signal [8]byte
	space  [spawnSpace]byte
}

// newSpawner makes the copy, and tries it. The calling thread is locked to its goroutine, and lives as long as the copy.
func newSpawner() (*spawner, error) {
	s := &spawner{}
	if err := s.begin(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *spawner) begin() (err error) {
	if s.memory, err = unix.Mmap(-1, 0, int(unsafe.Sizeof(spawnArea{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON); err != nil {
		return fmt.Errorf("mapping memory: %w", err)
	}
	s.area = (*spawnArea)(unsafe.Pointer(&s.memory[0]))
	if s.ends[0], s.asks, err = os.Pipe(); err != nil {
		return err
	}
	if s.answers, s.ends[1], err = os.Pipe(); err != nil {
		return err
	}
	a := s.area
	a.ask, a.answer, a.parent = s.ends[0].Fd(), s.ends[1].Fd(), uintptr(os.Getpid())
	if err := a.findDrops(); err != nil {
		return err
	}
	syscall.ForkLock.Lock()
	pid, errno := a.copy()
	syscall.ForkLock.Unlock()
	if errno != 0 {
		return fmt.Errorf("copying the supervisor: %w", errno)
	}
	s.pid = int(pid)
	// A start that fails at its last step shows that the copy can do all of them, and that it has given its memory back.
	if _, err := s.start("", nil, &syscall.ProcAttr{}); err != syscall.ENOENT {
		return fmt.Errorf("trying the copy of the supervisor: %w", cmp.Or(err, error(syscall.EPROTO)))
	}
	return nil
}

// close ends the copy, if there is one. The processes that it started go on.
func (s *spawner) close() {
	if s == nil {
		return
	}
	if s.pid != 0 {
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
		for {
			if _, err := syscall.Wait4(s.pid, nil, 0, nil); err != syscall.EINTR {
				break
			}
		}
		s.pid = 0
	}
	for _, f := range []*os.File{s.asks, s.answers, s.ends[0], s.ends[1]} {
		_ = f.Close() // of nil too
	}
	if s.memory != nil {
		_ = unix.Munmap(s.memory)
		s.area, s.memory = nil, nil
	}
}

// parent returns the process from which processes inherit counters; 0: the calling thread.
func (s *spawner) parent() int {
	if s == nil {
		return 0
	}
	return s.pid
}

// start starts a process as syscall.ForkExec does. Of attr.Sys it supports only Setpgid, which must be set.
func (s *spawner) start(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	a := s.area
	if err := a.fill(path, argv, attr); err != nil {
		return 0, err
	}
	syscall.ForkLock.Lock() // no file without close-on-exec is open
	defer syscall.ForkLock.Unlock()
	if err := s.exchange(); err != nil {
		return 0, err
	}
	switch {
	case a.failed != 0:
		return 0, syscall.Errno(a.failed)
	case a.errno != 0:
		for {
			if _, err := syscall.Wait4(int(a.pid), nil, 0, nil); err != syscall.EINTR {
				return 0, syscall.Errno(a.errno)
			}
		}
	}
	return int(a.pid), nil
}

// exchange sends a request to the copy and waits for its answer, for as long as the copy lives: the end of its pipe is open in this
// process, too.
func (s *spawner) exchange() error {
	if s.pid == 0 {
		return errors.New("the copy of the supervisor has ended")
	}
	if _, err := s.asks.Write(s.area.signal[:1]); err != nil {
		return err
	}
	waits := []unix.PollFd{{Fd: int32(s.answers.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(waits, int(lifeSign/time.Millisecond))
		if n > 0 {
			_, err := s.answers.Read(s.area.signal[1:2])
			return err
		}
		var status syscall.WaitStatus
		if pid, _ := syscall.Wait4(s.pid, &status, syscall.WNOHANG, nil); pid == s.pid {
			s.pid = 0
			return fmt.Errorf("the copy of the supervisor ended: %s", describe(endOf(status)))
		}
		if err != nil && err != unix.EINTR {
			return err
		}
	}
}

// lifeSign is how often a start looks whether the copy still lives.
const lifeSign = 200 * time.Millisecond

// fill writes the arguments of a start.
func (a *spawnArea) fill(path string, argv []string, attr *syscall.ProcAttr) error {
	if len(attr.Files) > spawnFiles {
		return syscall.EMFILE
	}
	w := spawnWriter{area: a}
	a.path, a.argv, a.envv, a.dir = w.text(path), w.list(argv), w.list(attr.Env), 0
	if attr.Dir != "" {
		a.dir = w.text(attr.Dir)
	}
	if w.err != nil {
		return w.err
	}
	a.count = uintptr(len(attr.Files))
	copy(a.files[:], attr.Files)
	a.pid, a.failed, a.errno = 0, 0, 0
	return nil
}

// spawnWriter writes C strings and lists of them.
type spawnWriter struct {
	area *spawnArea
	used int
	err  error
}

// take takes bytes of the space.
func (w *spawnWriter) take(size int) (at uintptr, space []byte) {
	const word = int(unsafe.Sizeof(uintptr(0)))
	w.used = (w.used + word - 1) / word * word
	if w.err == nil && size > len(w.area.space)-w.used {
		w.err = syscall.E2BIG
	}
	if w.err != nil {
		return 0, nil
	}
	space = w.area.space[w.used : w.used+size]
	w.used += size
	return uintptr(unsafe.Pointer(unsafe.SliceData(space))), space
}

func (w *spawnWriter) text(text string) uintptr {
	if strings.IndexByte(text, 0) >= 0 {
		w.err = syscall.EINVAL
	}
	at, space := w.take(len(text) + 1)
	if space != nil {
		space[copy(space, text)] = 0
	}
	return at
}

func (w *spawnWriter) list(texts []string) uintptr {
	at, space := w.take((len(texts) + 1) * int(unsafe.Sizeof(uintptr(0))))
	if space == nil {
		return 0
	}
	places := unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(space))), len(texts)+1)
	for i, text := range texts {
		places[i] = w.text(text)
	}
	places[len(texts)] = 0
	return at
}

// stackKept is how much memory around a variable on the stack the copy keeps: it needs a few hundred bytes.
const stackKept = 32 << 10

// findDrops finds the memory that the copy gives back: all writable memory, except the area and the stack. The rest is file mappings,
// which do not count in a copy until it reads them. The memory stays mapped: the kernel writes to the restartable sequences of the C
// library (rseq), and kills a process in which it cannot.
func (a *spawnArea) findDrops() error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	var here byte
	stack := uintptr(unsafe.Pointer(&here))
	a.stack = stack
	page := uintptr(os.Getpagesize())
	kept := [2]uintptr{(stack - stackKept) &^ (page - 1), (stack + stackKept) &^ (page - 1)}
	area := [2]uintptr{uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(a)) + unsafe.Sizeof(*a)}
	n := 0
	add := func(from, to uintptr) {
		if from < to {
			if n < len(a.drops)-1 { // the last one is empty
				a.drops[n].at, a.drops[n].size = from, to-from
			}
			n++
		}
	}
	for line := range bytes.Lines(maps) {
		fields := bytes.Fields(line)
		first, last, _ := strings.Cut(string(fields[0]), "-")
		from, err := strconv.ParseUint(first, 16, 64)
		if err != nil {
			return fmt.Errorf("reading the mappings of this process: %w", err)
		}
		to, err := strconv.ParseUint(last, 16, 64)
		if err != nil {
			return fmt.Errorf("reading the mappings of this process: %w", err)
		}
		if start, end := uintptr(from), uintptr(to); fields[1][1] == 'w' && (end <= area[0] || start >= area[1]) {
			add(start, min(end, max(start, kept[0])))
			add(max(start, min(end, kept[1])), end)
		}
	}
	if n > len(a.drops)-1 {
		return fmt.Errorf("this process has %d mappings: want at most %d", n, len(a.drops)-1)
	}
	a.drops[n].size = 0
	return nil
}

// copy makes the copy of this process. All signals are blocked in it: their handlers are of the runtime.
//
//go:norace
//go:nosplit
//go:noinline
func (a *spawnArea) copy() (pid uintptr, errno syscall.Errno) {
	all := ^uint64(0)
	if at := uintptr(unsafe.Pointer(&all)); at-a.stack+stackKept/2 > stackKept { // the stack has moved since findDrops
		return 0, syscall.EAGAIN
	}
	const size = 8 // of the mask of the kernel
	_, _, errno = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&a.mask)), size, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_FILES|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		a.serve()
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&a.mask)), 0, size, 0, 0)
	return pid, errno
}

// serve is the copy. It ends with this process.
//
//go:norace
//go:nosplit
//go:noinline
func (a *spawnArea) serve() {
	for i := range a.drops {
		d := &a.drops[i]
		if d.size == 0 {
			break
		}
		_, _, _ = syscall.RawSyscall(unix.SYS_MADVISE, d.at, d.size, unix.MADV_DONTNEED)
	}
	for signal := uintptr(1); signal <= 64; signal++ { // as syscall.ForkExec does; ignored signals stay ignored
		var action [4]uintptr // of the kernel; the first word is the handler
		const size = 8
		_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, signal, 0, uintptr(unsafe.Pointer(&action)), size, 0, 0)
		if errno == 0 && action[0] > 1 {
			action = [4]uintptr{}
			_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&action)), 0, size, 0, 0)
		}
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if parent, _, _ := syscall.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); parent != a.parent {
		exitCopy()
	}
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, a.ask, uintptr(unsafe.Pointer(&a.signal[2])), 1)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || n != 1 {
			exitCopy()
		}
		pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_VFORK|unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid == 0 {
			a.errno = uintptr(a.become())
			exitCopy()
		}
		a.pid, a.failed = pid, uintptr(errno)
		_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, a.answer, uintptr(unsafe.Pointer(&a.signal[3])), 1)
	}
}

// become makes a process of the copy the program that is started.
//
//go:norace
//go:nosplit
//go:noinline
func (a *spawnArea) become() syscall.Errno {
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETPGID, 0, 0, 0); errno != 0 {
		return errno
	}
	if a.dir != 0 {
		if _, _, errno := syscall.RawSyscall(unix.SYS_CHDIR, a.dir, 0, 0); errno != 0 {
			return errno
		}
	}
	for i := range a.moved { // out of the way of the numbers that files get
		if uintptr(i) < a.count {
			fd, _, errno := syscall.RawSyscall(unix.SYS_FCNTL, a.files[i], unix.F_DUPFD_CLOEXEC, spawnFiles)
			if errno != 0 {
				return errno
			}
			a.moved[i] = fd
		}
	}
	for i := range a.moved {
		if uintptr(i) < a.count {
			if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, a.moved[i], uintptr(i), 0); errno != 0 {
				return errno
			}
		}
	}
	const size = 8
	if _, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&a.mask)), 0, size, 0, 0); errno != 0 {
		return errno
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_EXECVE, a.path, a.argv, a.envv)
	return errno
}

// exitCopy ends the copy, or a process that did not become its program.
//
//go:norace
//go:nosplit
//go:noinline
func exitCopy() {
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 253, 0, 0)
	}
}

// restoreOpenFiles restores the limit of open files with which this process was started, and which its children inherit. The runtime of
// Go has raised it. syscall.Exec restores it before it executes a program, and here there is none to execute.
func restoreOpenFiles() { _ = syscall.Exec("", nil, nil) }
