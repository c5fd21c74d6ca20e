package sandbox

import (
	"os"
	"strings"
	"syscall"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var (
	// noMemory matches messages of the Go runtime and the C++ library when memory cannot be allocated.
	noMemory = regexp.MustCompile(`out of memory|cannot allocate memory|bad_alloc|failed to create new OS thread`)
	// faults matches the name of a signal in a crash report of the Go runtime, which also reports signals in C code.
	faults = regexp.MustCompile(`\bSIG(SEGV|ABRT|BUS|ILL|FPE|TRAP|SYS)\b`)
)

// crashOf returns the error for a process that ended without an answer.
func crashOf(state *os.ProcessState, stderr []byte) error {
	if noMemory.Match(stderr) {
		return ErrMemory
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		if name := signals[status.Signal()]; name != "" {
			return &Crash{Signal: name}
		}
		return &Crash{Signal: status.Signal().String()}
	}
	if name := faults.Find(stderr); name != nil {
		return &Crash{Signal: string(name)}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
	return &Crash{Stderr: first}
}
