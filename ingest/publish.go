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
	t, err := createTemp(f)
	if err != nil {
		return err
	}
	defer t.remove()
	if err := t.fill(content); err != nil {
		return err
	}
	err = place(f, t.name, name)
	if errors.Is(err, fs.ErrExist) && sameFile(f, t.name, name) { // a network file system lost the answer
		return nil
	}
	return err
}

// temp is a temporary file, open for writing until it is filled.
type temp struct {
	files files
	name  string
	file  file
}

// createTemp makes an empty temporary file. Its name is its own for every attempt: what an earlier one or another
// process left can be in nobody's way.
func createTemp(f files) (*temp, error) {
	name := path.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+tempSuffix)
	opened, err := f.create(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.makeDir(schema.TmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		opened, err = f.create(name)
	}
	if err != nil {
		return nil, err
	}
	return &temp{f, name, opened}, nil
}

// remove closes and removes the file. By then it has another name, or will not get one; where removing fails, the next
// writer does it after a day.
func (t *temp) remove() {
	if t.file != nil {
		_ = t.file.Close()
	}
	_ = t.files.remove(t.name)
}

// fill writes, fsyncs and closes the file. After a failed fsync the kernel may have dropped the data and call the next
// fsync of the file a success, so there is no next one.
func (t *temp) fill(content []byte) error {
	_, err := t.file.Write(content)
	if err == nil {
		err = t.file.Sync()
	}
	if closeErr := t.file.Close(); err == nil {
		err = closeErr
	}
	t.file = nil
	return err
}

// place gives a temporary file its name. It fails with fs.ErrExist where the name is taken.
func place(f files, temp, name string) error {
	err := f.link(temp, name)
	if err == nil || !noLinks(err) {
		return err
	}
	// Without hard links a rename has to do. It would replace what is there: names with a ULID do not collide, and of two
	// processes that make one store at the same instant, before it holds any run, the later header stays.
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
