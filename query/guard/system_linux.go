package guard

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// selfPath starts this very file again, also after it was replaced or removed.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// resident is how much memory of the machine a process holds, in bytes: none once it is gone.
func resident(process string) int64 {
	sizes, _ := statm(process)
	return sizes[1]
}

// statm are the sizes of a process in bytes: all, resident, shared, text, (nothing), data.
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

// rlimitData is that of <sys/resource.h>.
const rlimitData = 2

// reserve is how much more this process may set aside than hold: the Go runtime and the C library take memory of the
// system in pieces that they fill little by little, and each thread has a stack that it hardly uses. Much too much is
// better than too little: not all of DuckDB bears to be refused.
func reserve() int64 { return 192<<20 + int64(runtime.GOMAXPROCS(0))*16<<20 }

// restrict keeps this process from taking much more memory than it may hold, faster than its parent sees it, and from
// leaving a core file.
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
