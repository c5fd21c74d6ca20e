//go:build !linux

package sandbox

import (
	"os"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// resident is not implemented here.
func resident(string) int64 { return 0 }

// restrict prevents this process from writing a core file.
func restrict(int64) error {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
