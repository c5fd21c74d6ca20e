package imports

import "github.com/neurolens/neurolens/ingest/foreign"

// Report is what came of a source.
type Report struct {
	foreign.Report
	State State
	Why   string // where it was not read to its end
	Named bool   // by the user, or by a file that was, and not found in a folder
}

// State is how far a source was read.
type State string

// The states.
const (
	Read    State = "read"
	Partly  State = "partly"  // something of it was refused
	Side    State = "side"    // it only goes with others
	Unknown State = "unknown" // nobody recognises it
	Store   State = "store"   // a store in a folder that was walked
	Failed  State = "failed"  // it cannot be read
)

// Known is the number of runs that the store has and that were passed over.
func (r *Reading) Known() int {
	n := 0
	for i := range r.Reports {
		n += r.Reports[i].Known
	}
	return n
}

// Incomplete tells whether something that was asked for is not there: records that were refused, a file that was named
// and that nobody knows, folders in which nothing could be read.
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
