package task

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"syscall"
)

// folder is what every run has, whatever runs: the directories, and the files that are written by what runs.
type folder struct {
	dir            string
	there          bool    // make was called
	lent           *shared // whose the files are; nil: they are in the directory
	stdout, stderr *os.File
	kept           *os.File // what is kept of outputs
	events         *os.File // where the processes of a command write events; or nil
}

// newFolder is a folder that is not made yet.
func newFolder() *folder {
	return &folder{dir: filepath.Join(os.TempDir(), "neurolens-run-"+rand.Text())}
}

// make makes the directories and the files, of a command or of a worker. A supervisor that knows the directory, which is there already,
// removes it if this process ends now.
func (f *folder) make(command bool) error {
	f.there = true
	for _, dir := range []string{f.dir, filepath.Join(f.dir, ownDir)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if f.lent != nil {
		return nil
	}
	files := []runFile{{&f.stdout, stdoutFile}, {&f.stderr, stderrFile}, {&f.kept, keptFile}}
	if command {
		files = append(files, runFile{&f.events, eventsFile})
	}
	for _, file := range files {
		if err := f.create(file); err != nil {
			return err
		}
	}
	return nil
}

// runFile is a file of the run directory that the runner reads in the end.
type runFile struct {
	file **os.File
	name string
}

// create creates a file of the run directory.
func (f *folder) create(file runFile) (err error) {
	*file.file, err = os.OpenFile(filepath.Join(f.dir, file.name), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return err
}

// remove closes the files, if they are its own, and removes the directory, if it is there.
func (f *folder) remove() {
	if f.lent == nil {
		for _, file := range []*os.File{f.stdout, f.stderr, f.kept, f.events} {
			_ = file.Close() // of nil too
		}
	}
	f.removeDir()
}

// removeDir removes the directory with all that is in it. Mostly that is an empty one.
func (f *folder) removeDir() {
	_ = syscall.Rmdir(filepath.Join(f.dir, ownDir))
	if err := syscall.Rmdir(f.dir); err != nil && err != syscall.ENOENT {
		_ = os.RemoveAll(f.dir)
	}
}
