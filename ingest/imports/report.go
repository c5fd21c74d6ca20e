package imports

import "github.com/neurolens/neurolens/ingest/foreign"

// Report is the result of reading a source.
type Report struct {
	foreign.Report
	State State
	Why   string // why it was not read to its end
	Named bool   // the user named it, or a named file refers to it; it was not just found in a folder
}

// State is how far a source was read.
type State string

// The states.
const (
	Read    State = "read"
	Partly  State = "partly"  // some of its records were refused
	Side    State = "side"    // it is only read together with another file
	Unknown State = "unknown" // no format recognises it
	Store   State = "store"   // a store in a folder that was walked
	Failed  State = "failed"  // it cannot be read
)

// Known is the number of runs that were skipped because the store has them.
func (r *Reading) Known() int {
	n := 0
	for i := range r.Reports {
		n += r.Reports[i].Known
	}
	return n
}

// Incomplete reports whether the user asked for something that was not read: refused records, a named file of an unknown
// format, or folders in which nothing could be read.
func (r *Reading) Incomplete() bool {
	read := 0
	for _, report := range r.Reports {
		if report.State == Read {
			read++
		}
	}
	for _, report := range r.Reports {
		switch report.State {
		case Partly, Failed:
			return true
		case Unknown, Store:
			if report.Named || read == 0 {
				return true
			}
		}
	}
	return false
}
