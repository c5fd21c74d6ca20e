package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// files are the operations of a file system that writing to a store needs. Names are slash-separated and relative to
// the store directory. Every one may fail; none is repeated on the same descriptor after it failed.
type files interface {
	fs.FS
	makeRoot() error                  // the store directory and its parents, durable
	makeDir(name string) error        // fs.ErrExist where it is there
	create(name string) (file, error) // a new file for writing; fs.ErrExist where it is there
	openDir(name string) (file, error)
	link(from, to string) error   // fs.ErrExist where `to` is there
	rename(from, to string) error // replaces `to`
	remove(name string) error
	writable(name string) error // whether files can be made in a directory, as far as can be told without trying
	lock(ctx context.Context) (unlock func(), err error)
}

// file is a file open for writing, or a directory to Sync.
type file interface {
	io.WriteCloser
	io.WriterAt // of what was written before
	Sync() error
}

// osFiles are the files below a directory of the operating system.
type osFiles struct {
	schema.Dir // absolute, so that a later change of the working directory does not matter
}

func newOSFiles(dir string) (osFiles, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return osFiles{}, err
	}
	return osFiles{schema.Dir(root)}, nil
}

func (f osFiles) makeRoot() error { return makeParents(string(f.Dir)) }

// makeParents is os.MkdirAll with an fsync after each directory made, so that a power cut cannot take the way to a
// run that was acknowledged.
func makeParents(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeParents(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o777)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(osFiles{schema.Dir(filepath.Dir(dir))}, ".")
}

// at does something to a name where it is, which is nowhere beyond a link.
func (f osFiles) at(name string, do func(path string) error) error {
	path, err := f.PathToChange(name)
	if err != nil {
		return err
	}
	return do(path)
}

func (f osFiles) makeDir(name string) error {
	return f.at(name, func(path string) error { return os.Mkdir(path, 0o777) })
}

func (f osFiles) create(name string) (file, error) {
	path, err := f.PathToChange(name)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return opened, nil
}

func (f osFiles) openDir(name string) (file, error) {
	opened, err := f.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return directory{opened}, nil
}

func (f osFiles) link(from, to string) error   { return f.both(from, to, os.Link) }
func (f osFiles) rename(from, to string) error { return f.both(from, to, os.Rename) }
func (f osFiles) remove(name string) error     { return f.at(name, os.Remove) }

func (f osFiles) both(from, to string, do func(from, to string) error) error {
	return f.at(from, func(from string) error {
		return f.at(to, func(to string) error { return do(from, to) })
	})
}

func (f osFiles) writable(name string) error {
	const writeAndSearch = 0o3
	dir, err := f.DirPath(name)
	if err != nil {
		return err
	}
	if err := syscall.Access(dir, writeAndSearch); err != nil {
		return &fs.PathError{Op: "writing in", Path: dir, Err: err}
	}
	return nil
}

// lock waits until nobody else holds the lock of the store, and takes it. It is that of the header file, which nobody
// writes. A process that dies has given it up. Where the file system knows no locks, nobody is kept out.
func (f osFiles) lock(ctx context.Context) (unlock func(), err error) {
	opened, err := f.OpenToLock(schema.HeaderFile)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(opened.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { _ = opened.Close() }, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), opened.Close())
		case <-time.After(lockPause):
		}
	}
}

// lockPause is how long to wait before the lock of a store is tried again.
const lockPause = 20 * time.Millisecond

// directory is an open directory.
type directory struct{ *os.File }

// Sync makes the names in the directory durable. File systems that know no such operation (some network and user
// space ones) say EINVAL or ENOTSUP; there the names are as durable as they get.
func (d directory) Sync() error {
	err := d.File.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

func syncDir(f files, name string) error {
	dir, err := f.openDir(name)
	if err != nil {
		return err
	}
	return cmp.Or(dir.Sync(), dir.Close())
}

// noLinks tells whether an error of link says that the file system has no hard links (exFAT, some network ones).
func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}
