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

// segment is the directory for the runs that this Store appends. No other process adds to it.
type segment struct {
	files disk.Files
	id    schema.ULID
	begun time.Time
	runs  int       // acknowledged
	dir   disk.File // open, so that it can be fsynced even after a rename; nil after an fsync failed
}

// errGone means that a segment was moved, as sealing does. The caller has to use a new one.
var errGone = errors.New("the segment was moved or removed")

// newSegment creates an empty segment with a durable name. hostID is the id of this machine, if it is known.
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
		_ = s.dir.Close() // nothing was written through this descriptor
		s.dir = nil
	}
}

// gone reports whether the segment is gone, and an error comes from that.
func (s *segment) gone(err error) bool {
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = fs.Stat(s.files, s.path())
	return errors.Is(err, fs.ErrNotExist)
}

// add gives the temporary file of a run its name in the segment, and makes the name durable. It fails with errGone if the
// segment was moved.
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
	if err := disk.SyncNames(s.dir); err != nil {
		// The run is not acknowledged. Removing the name makes the next add a change that the next fsync has to write.
		// That fsync uses a new descriptor, because an error is reported only once per descriptor.
		_ = s.files.Remove(name)
		s.close()
		return err
	}
	s.runs++
	return nil
}

// replace renames a temporary file over a file with the same content: one of an earlier attempt, or one whose link a
// network file system wrongly reported as failed. The bytes under a name never change.
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
