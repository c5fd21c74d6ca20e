package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// segment is the directory of the runs that this Store appends. No other process adds to it.
type segment struct {
	files disk.Files
	id    schema.ULID
	begun time.Time
	runs  int       // acknowledged
	dir   disk.File // open, to fsync it even after somebody renamed it; nil after that failed
}

// errGone says that a segment was taken away, as sealing does; the next one has to be used.
var errGone = errors.New("the segment was moved or removed")

// newSegment makes an empty segment whose name is durable. hostID is that of this machine, where it is known.
func newSegment(f disk.Files, hostID string, now time.Time) (*segment, error) {
	s := &segment{files: f, id: schema.NewULID(now), begun: now}
	err := disk.MakeDirs(f, s.path())
	if err == nil {
		err = s.begin(hostID, now)
	}
	if err != nil {
		s.close()
		_ = f.Remove(s.path()) // works only while it is empty
		return nil, err
	}
	return s, nil
}

func (s *segment) begin(hostID string, now time.Time) error {
	owner, err := sealing.Self(hostID, now).Encode()
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	return disk.Publish(s.files, path.Join(s.path(), schema.OwnerFile), owner)
}

func (s *segment) path() string { return path.Join(schema.LiveDir, s.id.String()) }

func (s *segment) open() error {
	dir, err := s.files.OpenDir(s.path())
	if err == nil {
		s.dir = dir
	}
	return err
}

func (s *segment) close() {
	if s.dir != nil {
		_ = s.dir.Close() // nothing was written through it
		s.dir = nil
	}
}

// gone tells whether an error comes from the segment not being there any more.
func (s *segment) gone(err error) bool {
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = fs.Stat(s.files, s.path())
	return errors.Is(err, fs.ErrNotExist)
}

// add gives a run's temporary file its name in the segment and makes the name durable. It fails with errGone where the
// segment is not there any more.
func (s *segment) add(temp string, run schema.ULID, content []byte) error {
	name := schema.LiveFile{Segment: s.id, Run: run}.Path()
	err := disk.Place(s.files, temp, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = s.replace(temp, name, content)
	case s.gone(err):
		return errGone
	}
	if err == nil && s.dir == nil {
		err = s.open()
	}
	if err != nil {
		return err
	}
	if err := s.dir.Sync(); err != nil {
		// Not acknowledged. Removing the name now makes adding it again a change that the next fsync has to write; that
		// one gets a new descriptor, for a failure is reported to a descriptor once.
		_ = s.files.Remove(name)
		s.close()
		return err
	}
	s.runs++
	return nil
}

// replace puts a temporary file in the place of a file with the same content: one that an earlier attempt left, or one
// of a network file system that reports a link as failed when its answer was lost. The bytes under a name never change.
func (s *segment) replace(temp, name string, content []byte) error {
	there, err := runfile.ReadRunFile(s.files, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, content) {
		return fmt.Errorf("%s contains a different run with this id", name)
	}
	return s.files.Rename(temp, name)
}
