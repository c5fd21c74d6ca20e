//go:build !linux

package guard

import (
	"os"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// resident is not known here.
func resident(string) int64 { return 0 }

// restrict keeps this process from leaving a core file.
func restrict(int64) error {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
