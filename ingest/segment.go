package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// segment is the directory of the runs that this Store appends. No other process adds to it.
type segment struct {
	files files
	id    schema.ULID
	dir   file // open, to fsync it even after somebody renamed it; nil after that failed
}

// errGone says that a segment was taken away, as sealing does; the next one has to be used.
var errGone = errors.New("the segment is not there any more")

// newSegment makes an empty segment whose name is durable. hostID is that of this machine, where it is known.
func newSegment(f files, hostID string, now time.Time) (*segment, error) {
	s := &segment{files: f, id: schema.NewULID(now)}
	if err := f.makeDir(schema.LiveDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := f.makeDir(s.path()); err != nil {
		return nil, err
	}
	if err := s.begin(hostID, now); err != nil {
		s.close()
		_ = f.remove(s.path()) // works only while it is empty
		return nil, err
	}
	return s, nil
}

func (s *segment) begin(hostID string, now time.Time) error {
	// The one who made live/ may not have come to the fsync of what it stands in.
	for _, dir := range []string{".", schema.LiveDir} {
		if err := syncDir(s.files, dir); err != nil {
			return err
		}
	}
	owner, err := encodeOwner(hostID, now)
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	return publish(s.files, path.Join(s.path(), schema.OwnerFile), owner)
}

func (s *segment) path() string { return path.Join(schema.LiveDir, s.id.String()) }

func (s *segment) open() error {
	dir, err := s.files.openDir(s.path())
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
	err := place(s.files, temp, name)
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
		_ = s.files.remove(name)
		s.close()
		return err
	}
	return nil
}

// replace puts a temporary file in the place of a file with the same content: one that an earlier attempt left, or one
// of a network file system that reports a link as failed when its answer was lost. The bytes under a name never change.
func (s *segment) replace(temp, name string, content []byte) error {
	there, err := fs.ReadFile(s.files, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, content) {
		return fmt.Errorf("%s holds another run with this id", name)
	}
	return s.files.rename(temp, name)
}

// owner says which process writes a segment, so that others can tell whether it still may. Containers share a boot id,
// so a process id is one of a namespace, which is named by its inode. Facts that are not known are left out.
type owner struct {
	HostID       string    `json:"host_id,omitempty"`
	PID          int       `json:"pid"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	BootID       string    `json:"boot_id,omitempty"`
	Started      time.Time `json:"started"`
}

// encodeOwner prints the owner with the hash of its JSON text without the hash, as the header of a store has it.
func encodeOwner(hostID string, now time.Time) ([]byte, error) {
	self := owner{HostID: hostID, PID: os.Getpid(), Started: now.UTC()}
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	self.PIDNamespace = strings.Trim(namespace, "pid:[]")
	bootID, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	self.BootID = strings.TrimSpace(string(bootID))

	text, err := json.Marshal(self)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", schema.OwnerFile, err)
	}
	sum := sha256.Sum256(text)
	text, err = json.Marshal(struct {
		owner
		SHA256 string `json:"sha256"`
	}{self, hex.EncodeToString(sum[:])})
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", schema.OwnerFile, err)
	}
	return append(text, '\n'), nil
}
