//go:build !linux

package task

import (
	"errors"
	"syscall"
)

// spawner starts processes from a copy of this process, on Linux.
type spawner struct{}

func newSpawner() (*spawner, error) { return nil, errors.ErrUnsupported }

func (s *spawner) start(string, []string, *syscall.ProcAttr) (int, error) {
	return 0, errors.ErrUnsupported
}

func (s *spawner) close() {}

// restoreOpenFiles does nothing: the runtime restores the limit in what it starts.
func restoreOpenFiles() {}
