package disk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Files are the operations of a file system that writing to a store needs. Names are slash-separated and relative to
// the store directory. Every one may fail; none is repeated on the same descriptor after it failed.
type Files interface {
	fs.FS
	MakeRoot() error                  // the store directory and its parents, durable
	MakeDir(name string) error        // fs.ErrExist where it is there
	Create(name string) (File, error) // a new file for writing; fs.ErrExist where it is there
	OpenDir(name string) (File, error)
	Link(from, to string) error   // fs.ErrExist where `to` is there
	Rename(from, to string) error // replaces `to`
	Remove(name string) error
	Writable(name string) error // whether files can be made in a directory, as far as can be told without trying
	Lock(ctx context.Context) (unlock func(), err error)
}

// File is a file open for writing, or a directory to Sync.
type File interface {
	io.WriteCloser
	io.WriterAt // of what was written before
	Sync() error
}

// NoLinks tells whether an error of link says that the file system has no hard links (exFAT, some network ones).
func NoLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// OpenAt opens a file for reading in any order.
func OpenAt(f fs.FS, name string) (file fs.File, at io.ReaderAt, size int64, err error) {
	file, err = f.Open(name)
	if err != nil {
		return nil, nil, 0, err
	}
	info, err := file.Stat()
	at, ok := file.(io.ReaderAt)
	if err == nil && !ok {
		err = &fs.PathError{Op: "readat", Path: name, Err: errors.ErrUnsupported}
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, 0, err
	}
	return file, at, info.Size(), nil
}

// Exists tells whether a name is there, or why that cannot be told.
func Exists(f fs.FS, name string) (bool, error) {
	_, err := fs.Stat(f, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsThere tells whether a name is there; where that cannot be told, it is taken to be.
func IsThere(f fs.FS, name string) bool {
	_, err := fs.Stat(f, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// SameFile tells whether two names are there and are of one file.
func SameFile(f Files, a, b string) bool {
	x, errX := fs.Stat(f, a)
	y, errY := fs.Stat(f, b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
