package runtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// memoryDir is where Linux keeps files in memory, and memoryFree how many bytes must be free there.
const (
	memoryDir  = "/dev/shm"
	memoryFree = 4 << 30
	noExec     = 8 // a flag of Linux: executing files is forbidden, which tests do
)

// InMemory runs the tests of a package with their temporary directories, and the directories of the processes that they start, in
// memory: they create and remove very many files, and the time of a disk is no property of the code. With NEUROLENS_LONG=1, with TMPDIR
// set, and if there is not enough such memory, everything is on the disk.
type InMemory struct{ *testing.M }

// Run runs the tests and gives their exit code.
func (m InMemory) Run() int {
	var space syscall.Statfs_t
	if os.Getenv("NEUROLENS_LONG") == "1" || os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryDir, &space) != nil ||
		space.Bavail*uint64(space.Bsize) < memoryFree || space.Flags&noExec != 0 {
		return m.M.Run()
	}
	dir, err := os.MkdirTemp(memoryDir, "neurolens-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "temporary directories in memory:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.M.Run()
}
