package ingest

import (
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// FileReport is the result of reading a source.
type FileReport struct {
	foreign.Report
	State FileState
	Why   string // why it was not read to its end
	// Changed is the time of the last change of a file with runs that have no start; zero: unknown.
	Changed time.Time
	Named   bool // the user named it, or a named file refers to it; it was not just found in a folder
}

// FileState is how far a source was read.
type FileState string

// The states.
const (
	FileRead    FileState = "read"
	FilePartly  FileState = "partly"  // some of its records were refused
	FileSide    FileState = "side"    // it is only read together with another file
	FileUnknown FileState = "unknown" // no format recognises it
	FileIsStore FileState = "store"   // a store in a folder that was walked
	FileFailed  FileState = "failed"  // it cannot be read
)

// Known returns the number of runs that were skipped because the store has them.
func (r *Reading) Known() int {
	n := 0
	for i := range r.Reports {
		n += r.Reports[i].Known
	}
	return n
}

// Incomplete reports whether requested data was not read: refused records, a named file of an unknown format, or files and folders in
// which nothing could be read.
func (r *Reading) Incomplete() bool {
	read := 0
	for _, report := range r.Reports {
		if report.State == FileRead {
			read++
		}
	}
	for _, report := range r.Reports {
		switch report.State {
		case FilePartly, FileFailed:
			return true
		case FileUnknown, FileIsStore:
			if report.Named || read == 0 {
				return true
			}
		case FileSide:
			if read == 0 {
				return true
			}
		}
	}
	return false
}
