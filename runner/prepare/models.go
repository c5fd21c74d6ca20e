package prepare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/onnx"
)

// models is the folder of converted models in the user's cache, which sessions share. A file name consists of conversion.key and the
// SHA-256 of the file, so that a file of another session, or after a crash, is known to be complete before it is used. The folder may be
// removed at any time.
type models struct{ dir string }

// forgotten is the age from which a draft of a killed session is removed.
const forgotten = 24 * time.Hour

// draftPrefix begins the names of files that are being written.
const draftPrefix = ".draft-"

// openModels makes the folder, and removes what killed sessions have left in it.
func openModels() (models, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return models{}, fmt.Errorf("finding a folder for it: %w", err)
	}
	m := models{filepath.Join(cache, "neurolens", "models")}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return models{}, fmt.Errorf("making a folder for it: %w; XDG_CACHE_HOME sets another", err)
	}
	drafts, _ := filepath.Glob(filepath.Join(m.dir, draftPrefix+"*"))
	for _, draft := range drafts {
		if info := infoOf(draft); info != nil && time.Since(info.ModTime()) > forgotten {
			_ = os.Remove(draft)
		}
	}
	return m, nil
}

// find returns a file by its key, with its hash; empty: there is none. A file whose content does not match its name is removed.
func (m models) find(key string) (path, hash string) {
	paths, _ := filepath.Glob(filepath.Join(m.dir, key+".*.onnx"))
	for _, path := range slices.Sorted(slices.Values(paths)) {
		named := strings.Split(filepath.Base(path), ".")[1]
		if hash, err := hashFile(path); err == nil && hash == named {
			return path, hash
		}
		_ = os.Remove(path)
	}
	return "", ""
}

// draft makes an empty file for a converter to write.
func (m models) draft() (path string, err error) {
	file, err := os.CreateTemp(m.dir, draftPrefix+"*.onnx")
	if err != nil {
		return "", fmt.Errorf("making a file for it: %w", err)
	}
	return file.Name(), file.Close()
}

// keep renames a draft once it is on the disk.
func (m models) keep(draft, key string) (path, hash string, err error) {
	file, err := os.Open(draft)
	if err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	if d, described := onnx.Describe(file); described != nil || d.Precision == "" {
		err = errors.New("its precision is not known")
	} else {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		hash, err = hashFile(draft)
	}
	if err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	path = filepath.Join(m.dir, key+"."+hash+".onnx")
	if err := os.Rename(draft, path); err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	return path, hash, nil
}
