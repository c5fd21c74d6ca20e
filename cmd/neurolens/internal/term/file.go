package term

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteNew makes a file that is complete whenever it is there, and its directory. Without force it replaces nothing,
// not even what comes to be there meanwhile.
func WriteNew(path string, content []byte, force bool) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return errExists
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return plainError(err)
	}
	temporary := filepath.Join(dir, ".neurolens-"+rand.Text())
	defer os.Remove(temporary)
	if err := writeSynced(temporary, content); err != nil {
		return plainError(err)
	}
	if force {
		return plainError(os.Rename(temporary, path))
	}
	err := os.Link(temporary, path)
	if errors.Is(err, fs.ErrExist) {
		return errExists
	}
	return plainError(err)
}

var errExists = errors.New("it exists; --force replaces it")

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// plainError returns an error of a file operation without the names, which would be those of a temporary file.
func plainError(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
