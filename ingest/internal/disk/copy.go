package disk

import (
	"errors"
	"io"
	"io/fs"
)

// CopyFile copies a file of a store to another one under its name, whole and fsynced before it has the name, which is
// durable after an fsync of its directory. A name that is there already is that file.
func CopyFile(from fs.FS, into Files, name string) error { return CopyAs(from, name, into, name) }

// CopyAs is CopyFile to another name.
func CopyAs(from fs.FS, name string, into Files, to string) error {
	source, err := from.Open(name)
	if err != nil {
		return err
	}
	defer source.Close()
	t, err := CreateTemp(into)
	if err != nil {
		return err
	}
	defer t.Remove()
	err = t.FillWith(func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
	if err != nil {
		return err
	}
	if err := Place(into, t.Name, to); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
