package disk

import (
	"errors"
	"io"
	"io/fs"
)

// CopyFile copies a file of a store to another store, under the same name. The copy is complete and fsynced before it has the name; the
// caller has to fsync the directory. If the name exists, it is already that file.
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
