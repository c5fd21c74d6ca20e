package disk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Files are the file operations that writing a store needs. Names are relative to the store directory, with slashes.
// Every operation may fail; none is repeated on the same descriptor after it failed.
type Files interface {
	fs.FS
	MakeRoot() error                  // the store directory and its parents, durable
	MakeDir(name string) error        // fs.ErrExist if it exists
	Create(name string) (File, error) // a new file for writing; fs.ErrExist if it exists
	OpenDir(name string) (File, error)
	Link(from, to string) error   // fs.ErrExist if `to` exists
	Rename(from, to string) error // replaces `to`
	Remove(name string) error
	Writable(name string) error // whether files can be created in a directory, as far as is known without trying
	Lock(ctx context.Context) (unlock func(), err error)
}

// File is a file open for writing, or a directory to Sync.
type File interface {
	io.WriteCloser
	Sync() error
}

// NoLinks reports whether an error of Link means that the file system has no hard links (exFAT, some network file
// systems).
func NoLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// Exists reports whether a name exists. It returns an error if that is unknown.
func Exists(f fs.FS, name string) (bool, error) {
	_, err := fs.Stat(f, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsThere reports whether a name exists, or whether that is not known.
func IsThere(f fs.FS, name string) bool {
	_, err := fs.Stat(f, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// SameFile reports whether two names exist and are links to the same file.
func SameFile(f Files, a, b string) bool {
	x, errX := fs.Stat(f, a)
	y, errY := fs.Stat(f, b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
