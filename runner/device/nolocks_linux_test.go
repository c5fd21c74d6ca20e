package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// withoutLocks does something on a thread of its own whose flocks fail as those of a file system without locks.
func withoutLocks(t *testing.T, cause unix.Errno, do func()) {
	t.Helper()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_FLOCK},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(cause)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
			err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no system call can be made to fail here: %v", err)
	}
}

// TestNoLocks: a file system without locks is refused with a way out, as a directory that is not writable is.
func TestNoLocks(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, dir string, cause error) {
		t.Helper()
		held, err := Lock(context.Background(), dir, []string{"cpu"}, nil)
		if held != nil || !errors.Is(err, cause) || !strings.HasSuffix(err.Error(), "; NEUROLENS_LOCKS sets another directory") {
			t.Errorf("%v: got %v", cause, err)
		}
	}
	for _, cause := range []unix.Errno{unix.ENOLCK, unix.EOPNOTSUPP} {
		dir := t.TempDir()
		withoutLocks(t, cause, func() { refused(t, dir, cause) })
	}
	file := filepath.Join(t.TempDir(), "file")
	valuetest.OK(t, os.WriteFile(file, nil, 0o666))
	refused(t, file, unix.ENOTDIR)
}
