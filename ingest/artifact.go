package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// artifactFresh is the age up to which a stored artifact may be relied on. An older one is stored again, so that its time records when
// it was last needed. PruneArtifacts removes no artifact that is younger than artifactYoung, so it keeps the artifacts of runs that are
// about to be appended.
const (
	artifactFresh = 12 * time.Hour
	artifactYoung = 24 * time.Hour
)

// KeepArtifact stores the content of a file that a run produced, compressed. It returns the SHA-256 of the stored bytes
// and the size of the content in bytes. Equal content is stored once. When it returns without error, the file and its
// name are fsynced, so append the run that names it afterwards. When it returns an error, either nothing or the complete
// file is stored.
func (s *Store) KeepArtifact(content io.Reader) (hash string, size int64, err error) {
	if hash, size, err = s.keepArtifact(content); err != nil {
		return "", 0, fmt.Errorf("keeping an artifact in store %s: %w", s.dir, err)
	}
	return hash, size, nil
}

func (s *Store) keepArtifact(content io.Reader) (hash string, size int64, err error) {
	t, err := disk.CreateTemp(s.files)
	if err != nil {
		return "", 0, err
	}
	defer t.Remove()
	err = t.FillWith(func(w io.Writer) error {
		hash, size, err = compress(w, content)
		return err
	})
	if err != nil {
		return "", 0, err
	}
	name := schema.ArtifactPath(hash)
	fresh, err := s.isFresh(t.Name, name)
	if err != nil {
		return "", 0, err
	}
	if !fresh {
		if err := disk.MakeDirs(s.files, path.Dir(name)); err != nil {
			return "", 0, err
		}
		if err := s.files.Rename(t.Name, name); err != nil { // it replaces the same bytes, if they exist
			return "", 0, err
		}
	}
	return hash, size, disk.SyncDir(s.files, path.Dir(name)) // even if it existed: its writer may have died before this
}

// compress writes content as a zstd frame and returns the hash of the frame. It uses one goroutine, so that equal content
// gives equal frames.
func compress(w io.Writer, content io.Reader) (hash string, size int64, err error) {
	sum := sha256.New()
	z, err := zstd.NewWriter(io.MultiWriter(w, sum), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", 0, err
	}
	size, err = io.Copy(z, content)
	if closeErr := z.Close(); err == nil {
		err = closeErr
	}
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// isFresh reports whether a file of the same size as a temporary one has a name, and got it a short while ago.
func (s *Store) isFresh(temp, name string) (bool, error) {
	there, err := fs.Stat(s.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	made, err := fs.Stat(s.files, temp)
	if err != nil {
		return false, err
	}
	age := made.ModTime().Sub(there.ModTime()) // both by the clock of the file system
	return there.Mode().IsRegular() && there.Size() == made.Size() && age < artifactFresh, nil
}
