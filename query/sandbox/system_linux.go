package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// selfPath returns the path of the running program. It works even if the file was replaced or removed.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// resident returns the resident memory of a process in bytes; 0 if it is gone.
func resident(process string) int64 {
	sizes, _ := statm(process)
	return sizes[1]
}

// statm returns the sizes of a process in bytes: all, resident, shared, text, (nothing), data.
func statm(process string) (sizes [6]int64, err error) {
	text, err := os.ReadFile("/proc/" + process + "/statm")
	if err != nil {
		return sizes, err
	}
	for i, field := range bytes.Fields(text) {
		if i == len(sizes) {
			break
		}
		pages, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return sizes, err
		}
		sizes[i] = pages * int64(os.Getpagesize())
	}
	return sizes, nil
}

// rlimitData is RLIMIT_DATA of <sys/resource.h>.
const rlimitData = 2

// reserve returns how much more memory this process may allocate than use: the Go runtime and the C library allocate large pieces and fill
// them slowly, and each thread has a stack that it hardly uses. It is generous, because DuckDB does not handle every failed allocation.
func reserve() int64 { return 192<<20 + int64(runtime.GOMAXPROCS(0))*16<<20 }

// restrict prevents this process from allocating much more than its limit before its parent notices, and from writing a core file.
func restrict(memory int64) error {
	sizes, err := statm("self")
	if err != nil {
		return fmt.Errorf("limiting the memory of a process: %w", err)
	}
	data := uint64(sizes[5] + memory + reserve())
	for resource, limit := range map[int]uint64{rlimitData: data, syscall.RLIMIT_CORE: 0} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("limiting the memory of a process: %w", err)
		}
		now.Cur = min(limit, now.Max)
		if err := syscall.Setrlimit(resource, &now); err != nil {
			return fmt.Errorf("limiting the memory of a process: %w", err)
		}
	}
	return nil
}
