package runfile

import (
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// LiveRuns reads live files, ascending by run.
type LiveRuns struct {
	FS    fs.FS
	Files []schema.LiveFile
}

// From returns the id of the next run.
func (l *LiveRuns) From() string {
	if len(l.Files) == 0 {
		return ""
	}
	return l.Files[0].Run.String()
}

// Next reads the next file.
func (l *LiveRuns) Next() (*table.Live, error) {
	if len(l.Files) == 0 {
		return nil, io.EOF
	}
	f := l.Files[0]
	l.Files = l.Files[1:]
	return ReadLiveFile(l.FS, f)
}

// Close does nothing: no file is open between two runs.
func (l *LiveRuns) Close() {}

// ReadLiveFile reads the file of one run. It must match its hash, its digest and its name.
func ReadLiveFile(f fs.FS, name schema.LiveFile) (*table.Live, error) {
	content, err := ReadRunFile(f, name.Path())
	if err != nil {
		return nil, err
	}
	live, err := table.ReadLive(content)
	if err != nil {
		return nil, InFile(name.Path(), err)
	}
	if live.RunID != name.Run.String() {
		return nil, Damagedf(name.Path(), "it contains run %q, but its name says otherwise", live.RunID)
	}
	return live, nil
}

// largeRun is the size up to which the file of a run is read into memory before its hash is checked.
const largeRun = 64 << 20

// ReadRunFile reads the file of a run. The hash of a large one is checked first, which takes no memory: otherwise a huge
// file that is not a run could use up all memory.
func ReadRunFile(f fs.FS, name string) ([]byte, error) {
	file, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > largeRun {
		if err := schema.CheckFileHashAt(content, size); err != nil {
			return nil, InFile(name, err)
		}
	}
	all := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(content, 0, size), all)
	return all, err
}
