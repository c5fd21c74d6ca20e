package disk

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TempSuffix is the suffix of files that are being written. It must differ from the suffix of finished files, because one incomplete
// file makes the glob of a reader fail as a whole.
const TempSuffix = ".part"

// TempAge is the age of a temporary file from which on its writer is considered dead.
const TempAge = 24 * time.Hour

// Publish creates a file that is complete from the moment it has its name. It fails with fs.ErrExist if the name exists.
// Its content is durable when it returns; the name is after an fsync of its directory.
func Publish(f Files, name string, content []byte) error {
	return WithTemp(f, content, func(temp string) error { return Place(f, temp, name) })
}

// WithTemp calls place with the name of a temporary file that has a content, which is durable.
func WithTemp(f Files, content []byte, place func(temp string) error) error {
	t, err := CreateTemp(f)
	if err != nil {
		return err
	}
	defer t.Remove()
	if err := t.Fill(content); err != nil {
		return err
	}
	return place(t.Name)
}

// Temp is a temporary file, open for writing until it is filled.
type Temp struct {
	files Files
	Name  string
	file  File
}

// CreateTemp creates an empty temporary file. Its name is new for every attempt, so leftovers and other processes do not
// get in the way.
func CreateTemp(f Files) (*Temp, error) {
	name := TempName()
	opened, err := f.Create(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.MakeDir(schema.TmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		opened, err = f.Create(name)
	}
	if err != nil {
		return nil, err
	}
	return &Temp{f, name, opened}, nil
}

// Remove closes and removes the file. By then it has another name, or will not get one. If removing fails, the next
// writer does it after a day.
func (t *Temp) Remove() {
	if t.file != nil {
		_ = t.file.Close()
	}
	_ = t.files.Remove(t.Name)
}

// Fill writes, fsyncs and closes the file. After a failed fsync the kernel may have dropped the data and report success
// for the next fsync of the file, so there is no next one.
func (t *Temp) Fill(content []byte) error {
	return t.FillWith(func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// FillWith is Fill for content that a function writes.
func (t *Temp) FillWith(write func(io.Writer) error) error {
	err := write(t.file)
	if err == nil {
		err = t.file.Sync()
	}
	if closeErr := t.file.Close(); err == nil {
		err = closeErr
	}
	t.file = nil
	return err
}

// Place renames a temporary file to its final name. It fails with fs.ErrExist if the name exists.
func Place(f Files, temp, name string) error {
	err := f.Link(temp, name)
	if errors.Is(err, fs.ErrExist) && SameFile(f, temp, name) { // a network file system lost the answer to the link
		return nil
	}
	if err == nil || !NoLinks(err) {
		return err
	}
	// Without hard links, it uses a rename, which would replace an existing file. Names with a ULID do not collide, and in a claim only
	// one process works. If two processes create a store at the same instant, before it has any run, the later header stays.
	switch _, err := fs.Stat(f, name); {
	case err == nil:
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return f.Rename(temp, name)
}

// RemoveOldTemps removes temporary files of dead writers. If that fails, runs can be appended anyway.
func RemoveOldTemps(f Files, now time.Time) {
	entries, err := fs.ReadDir(f, schema.TmpDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), TempSuffix)
		if _, err := schema.ParseULID(id); err != nil || !ours {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > TempAge {
			_ = RemoveTree(f, path.Join(schema.TmpDir, e.Name()), e.IsDir())
		}
	}
}

// PlaceDurably renames a finished temporary file to a unique name, creates the folder for it, and makes the name durable.
func PlaceDurably(f Files, temp, name string) error {
	if err := MakeDirs(f, path.Dir(name)); err != nil {
		return err
	}
	if err := Place(f, temp, name); err != nil {
		return err
	}
	return SyncDir(f, path.Dir(name))
}

// TempName returns a new name for a file that is being written.
func TempName() string {
	return path.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+TempSuffix)
}
