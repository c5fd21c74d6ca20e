package task

import "os"

// shared are files without a name, which the runner passes to a supervisor of commands. They serve all of its runs, one after the other.
// A process can only open them if the runner or the supervisor passes them on.
type shared struct {
	samples                *os.File // memory, for samples of at most maxSharedSamples
	stdout, stderr, events *os.File // written by processes
	kept                   *os.File
	before                 [written]condition // of stdout, stderr and events
}

// written is the number of files that processes of a command write.
const written = 3

// maxSharedSamples is the size, in B, up to which samples are in memory. Larger ones are a file of the run directory, which the kernel
// can write to the disk if memory is scarce.
const maxSharedSamples = 1 << 20

// sharedNames are the names that the files have in the directory of a run without shared ones.
var sharedNames = [...]string{samplesFile, stdoutFile, stderrFile, eventsFile, keptFile}

// all lists the files in the order of sharedNames.
func (s *shared) all() []*os.File {
	if s == nil {
		return nil
	}
	return []*os.File{s.samples, s.stdout, s.stderr, s.events, s.kept}
}

// assign gives a folder the files.
func (s *shared) assign(f *folder) {
	if s != nil {
		f.reused, f.stdout, f.stderr, f.events, f.kept = s, s.stdout, s.stderr, s.events, s.kept
	}
}

func (s *shared) close() {
	for _, f := range s.all() {
		_ = f.Close() // of nil too
	}
}
