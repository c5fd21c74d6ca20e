// Package counter counts events of the processor and of the kernel in a process and its descendants, with perf_event_open(2).
//
// A supervisor opens counters before it starts a process. They count from the moment at which that process executes its program. A holder of
// the descriptor reads it before and after the measured section: the difference is the count. A counter that the system does not have or
// permit has a reason, and never a number.
//
// Counters serve one process and its descendants. When the scheduler goes from a process to the child that it has just started, the kernel
// may exchange their counters, which are equal then (perf_event_context_sched_out). The counter that was opened is then the child's, ends
// with it, and counts no later child. So the counters of the next process are opened again.
package counter

import (
	"slices"
	"strings"
)

// The counters. TaskClock is in ns, all others are numbers of events.
const (
	Instructions    = "instructions"
	Cycles          = "cycles"
	BranchMisses    = "branch_misses"
	CacheMisses     = "cache_misses"
	PageFaults      = "page_faults"
	ContextSwitches = "context_switches"
	TaskClock       = "task_clock"
)

// Names returns the names of all counters, in a fixed order.
func Names() []string {
	return []string{Instructions, Cycles, BranchMisses, CacheMisses, PageFaults, ContextSwitches, TaskClock}
}

// Counter is an open counter, or the reason why there is none.
type Counter struct {
	Name string
	// Missing is why the counter is not open: a word (absent, permission, unsupported), a colon, and what helps. Empty: it is open.
	Missing string
	// UserOnly reports that events in the kernel are not counted, because that is not permitted.
	UserOnly bool

	fd   int // closed: it is not open
	attr attributes
}

// closed is the descriptor of a counter that is not open.
const closed = -1

// FD returns the descriptor of the counter, which is closed on exec; negative: it is not open.
func (c *Counter) FD() int { return c.fd }

// ReadingSize is the size of a reading, in B.
const ReadingSize = 24

// Reading is what one read of a counter returns: three integers of 64 bit.
type Reading struct {
	Count   int64 `json:"count"`   // events
	Enabled int64 `json:"enabled"` // ns for which the counter was enabled
	Running int64 `json:"running"` // ns of these in which the processor counted: less where counters take turns in a register
}

// Since returns the difference to an earlier reading.
func (r Reading) Since(before Reading) Reading {
	return Reading{r.Count - before.Count, r.Enabled - before.Enabled, r.Running - before.Running}
}

// Multiplexed reports whether the counter ran for a part of the time only.
func (r Reading) Multiplexed() bool { return r.Running < r.Enabled }

// Events returns the number of events of a difference. If the counter ran for a part of the time, the number is scaled to the whole of
// it, as by perf stat. known is false if it never ran, or if it counted nothing that cannot be nothing.
func (r Reading) Events(name string) (events int64, known bool) {
	switch {
	case r.Running <= 0 || r.Count < 0:
		return 0, false
	case r.Count == 0:
		return 0, !slices.Contains([]string{Instructions, Cycles, TaskClock}, name)
	case r.Multiplexed():
		return int64(float64(r.Count) * (float64(r.Enabled) / float64(r.Running))), true
	}
	return r.Count, true
}

// Gaps returns what of the counters cannot be counted for processes that this one starts: a line for each reason.
func Gaps(names []string) (lines []string) {
	counters := Open(names, 0)
	defer Close(counters)
	why := map[string][]string{}
	var reasons []string // in the order of the counters
	for _, c := range counters {
		if c.Missing == "" {
			continue
		}
		if why[c.Missing] == nil {
			reasons = append(reasons, c.Missing)
		}
		why[c.Missing] = append(why[c.Missing], c.Name)
	}
	for _, reason := range reasons {
		lines = append(lines, "counters without a value here: "+strings.Join(why[reason], ", ")+": "+reason)
	}
	return lines
}
