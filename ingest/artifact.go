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

// artifactFresh is the age up to which an artifact that is there may be relied on: one that is older is put there again,
// so that its time says when it was kept last. PruneArtifacts removes none that is younger than artifactYoung, so none on
// which a run that is about to be appended relies.
const (
	artifactFresh = 12 * time.Hour
	artifactYoung = 24 * time.Hour
)

// KeepArtifact stores the content of a file that a run left, compressed, and gives the SHA-256 of what is stored and the
// bytes of the content. What is there already is stored once. When it returns nil, the file and its name have been fsynced:
// so a run that names it is to be appended after that. When it returns an error, nothing or the whole file is there.
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
		if err := s.files.Rename(t.Name, name); err != nil { // over the same bytes, if there are any
			return "", 0, err
		}
	}
	return hash, size, disk.SyncDir(s.files, path.Dir(name)) // whoever put it there may not have come to this
}

// compress writes content as a zstd frame, and gives the hash of that. One goroutine does it, so that equal contents are
// equal frames.
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

// isFresh tells whether a name has a file as long as a temporary one, and was given it a short while ago.
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
