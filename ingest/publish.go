package ingest

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// tempSuffix ends the names of files being written. It must not be that of finished files: a glob of a reader fails as
// a whole on one torn file.
const tempSuffix = ".part"

// tempAge is the age from which a temporary file is one of a writer that died.
const tempAge = 24 * time.Hour

// publish makes a file that is whole from the moment it has its name. It fails with fs.ErrExist where the name is
// taken. The name is durable after an fsync of the directory it stands in, the content is so before.
func publish(f files, name string, content []byte) error {
	temp, err := writeTemp(f, content)
	if err != nil {
		return err
	}
	err = place(f, temp, name)
	_ = f.remove(temp)
	return err
}

// writeTemp writes and fsyncs a temporary file and gives its name. Nothing is left where it fails, as far as removing
// works.
func writeTemp(f files, content []byte) (string, error) {
	// A name of its own for every attempt: what an earlier one or another process left can be in nobody's way.
	name := path.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+tempSuffix)
	opened, err := f.create(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.makeDir(schema.TmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		opened, err = f.create(name)
	}
	if err != nil {
		return "", err
	}
	if err := fill(opened, content); err != nil {
		_ = f.remove(name)
		return "", err
	}
	return name, nil
}

// fill writes, fsyncs and closes a file. After a failed fsync the kernel may have dropped the data and call the next
// fsync of the file a success, so there is no next one.
func fill(opened file, content []byte) error {
	_, err := opened.Write(content)
	if err == nil {
		err = opened.Sync()
	}
	if closeErr := opened.Close(); err == nil {
		err = closeErr
	}
	return err
}

// place gives a temporary file its name. It fails with fs.ErrExist where the name is taken.
func place(f files, temp, name string) error {
	err := f.link(temp, name)
	if err == nil || !noLinks(err) {
		return err
	}
	// Without hard links a rename has to do. It would replace what is there, but names with a ULID do not collide.
	switch _, err := fs.Stat(f, name); {
	case err == nil:
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return f.rename(temp, name)
}

// removeOldTemps removes what writers that died left behind. It is no reason not to append if that fails.
func removeOldTemps(f files, now time.Time) {
	entries, err := fs.ReadDir(f, schema.TmpDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), tempSuffix)
		if _, err := schema.ParseULID(id); err != nil || !ours {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > tempAge {
			_ = f.remove(path.Join(schema.TmpDir, e.Name()))
		}
	}
}
