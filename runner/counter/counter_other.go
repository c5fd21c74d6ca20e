//go:build !linux

package counter

import "errors"

type attributes struct{}

// Open opens nothing: only Linux has these counters.
func Open(names []string, _ int) []Counter {
	counters := make([]Counter, len(names))
	for i, name := range names {
		counters[i] = Counter{Name: name, fd: closed, Missing: "unsupported: only Linux has these counters"}
	}
	return counters
}

// Reopen opens nothing.
func Reopen([]Counter, int) {}

// Close closes nothing.
func Close([]Counter) {}

// Read is not to be had here.
func Read(int, *[ReadingSize]byte) (Reading, error) { return Reading{}, errors.ErrUnsupported }
