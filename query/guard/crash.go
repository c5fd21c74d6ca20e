package guard

import (
	"os"
	"regexp"
	"strings"
	"syscall"
)

var (
	// noMemory matches what the Go runtime and the C++ library say when the system gives no more.
	noMemory = regexp.MustCompile(`out of memory|cannot allocate memory|bad_alloc|failed to create new OS thread`)
	// faults matches the name of the signal in a report of the Go runtime, which is told of those outside of Go too.
	faults = regexp.MustCompile(`\bSIG(SEGV|ABRT|BUS|ILL|FPE|TRAP|SYS)\b`)
)

// crashOf says how a process ended that gave no answer.
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
	return &Crash{Says: first}
}
