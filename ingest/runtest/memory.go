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
	noExec     = 8 // a flag of Linux: nothing there may be run, which tests do
)

// InMemory are the tests of a package, of which the usual ones have their temporary directories, and those of the
// processes that they start, in memory: they make and remove very many files, and what a disk takes for that says nothing
// about the code. With NEUROLENS_LONG, with a TMPDIR, and where there is not enough such memory, all is on the disk.
type InMemory struct{ *testing.M }

// Run gives the exit code of the tests.
func (m InMemory) Run() int {
	var space syscall.Statfs_t
	if os.Getenv("NEUROLENS_LONG") != "" || os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryDir, &space) != nil ||
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
