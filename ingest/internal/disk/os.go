package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// OS are the files below a directory of the operating system.
type OS struct {
	schema.Dir // absolute, so that a later change of the working directory does not matter
}

// NewOS gives the files below a directory, which need not be there yet.
func NewOS(dir string) (OS, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return OS{}, err
	}
	return OS{schema.Dir(root)}, nil
}

// MakeRoot makes the directory and its parents, durable.
func (f OS) MakeRoot() error { return makeParents(string(f.Dir)) }

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
	return SyncDir(OS{schema.Dir(filepath.Dir(dir))}, ".")
}

// at does something to a name where it is, which is nowhere beyond a link.
func (f OS) at(name string, do func(path string) error) error {
	path, err := f.PathToChange(name)
	if err != nil {
		return err
	}
	return do(path)
}

// MakeDir makes a directory in one that is there.
func (f OS) MakeDir(name string) error {
	return f.at(name, func(path string) error { return os.Mkdir(path, 0o777) })
}

// Create makes a new file for writing.
func (f OS) Create(name string) (File, error) {
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

// OpenDir opens a directory, to make the names in it durable.
func (f OS) OpenDir(name string) (File, error) {
	opened, err := f.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return directory{opened}, nil
}

// Link gives a file a second name.
func (f OS) Link(from, to string) error { return f.both(from, to, os.Link) }

// Rename gives a file or a directory another name, in the place of what has that.
func (f OS) Rename(from, to string) error { return f.both(from, to, os.Rename) }

// Remove removes a file or an empty directory.
func (f OS) Remove(name string) error { return f.at(name, os.Remove) }

func (f OS) both(from, to string, do func(from, to string) error) error {
	return f.at(from, func(from string) error {
		return f.at(to, func(to string) error { return do(from, to) })
	})
}

// Writable tells whether files can be made in a directory, as far as the rights tell.
func (f OS) Writable(name string) error {
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

// Lock waits until nobody else holds the lock of the store, and takes it. It is that of the header file, which nobody
// writes. A process that dies has given it up. Where the file system knows no locks, nobody is kept out.
func (f OS) Lock(ctx context.Context) (unlock func(), err error) {
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
