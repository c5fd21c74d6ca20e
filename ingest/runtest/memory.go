package runtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// memoryDir is where Linux keeps files in memory, and memoryFree how many bytes have to be free there.
const (
	memoryDir  = "/dev/shm"
	memoryFree = 4 << 30
)

// InMemory are the tests of a package, of which the usual ones have their temporary directories, and those of the
// processes that they start, in memory: they make and remove very many files, and what a disk takes for that says nothing
// about the code. With NEUROLENS_LONG, and where there is not enough such memory, all is on the disk.
type InMemory struct{ *testing.M }

// Run gives the exit code of the tests.
func (m InMemory) Run() int {
	var space syscall.Statfs_t
	if os.Getenv("NEUROLENS_LONG") != "" || syscall.Statfs(memoryDir, &space) != nil ||
		space.Bavail*uint64(space.Bsize) < memoryFree {
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
