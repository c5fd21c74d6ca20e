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
	schema.Dir // absolute, so a later change of the working directory has no effect
}

// NewOS returns the files below a directory, which may not exist yet.
func NewOS(dir string) (OS, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return OS{}, err
	}
	return OS{schema.Dir(root)}, nil
}

// MakeRoot creates the directory and its parents, durably.
func (f OS) MakeRoot() error { return makeParents(string(f.Dir)) }

// makeParents is os.MkdirAll with an fsync after each new directory, so that a power cut cannot remove the path to an
// acknowledged run.
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

// at calls do with the path of a name. It is never a path beyond a link.
func (f OS) at(name string, do func(path string) error) error {
	path, err := f.PathToChange(name)
	if err != nil {
		return err
	}
	return do(path)
}

// MakeDir creates a directory in an existing one.
func (f OS) MakeDir(name string) error {
	return f.at(name, func(path string) error { return os.Mkdir(path, 0o777) })
}

// Create creates a new file for writing.
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
		return nil, err // not a nil *os.File in an interface
	}
	return opened, nil
}

// Link gives a file a second name.
func (f OS) Link(from, to string) error { return f.both(from, to, os.Link) }

// Rename renames a file or directory, and replaces the one that has the new name.
func (f OS) Rename(from, to string) error { return f.both(from, to, os.Rename) }

// Remove removes a file or an empty directory.
func (f OS) Remove(name string) error { return f.at(name, os.Remove) }

func (f OS) both(from, to string, do func(from, to string) error) error {
	return f.at(from, func(from string) error {
		return f.at(to, func(to string) error { return do(from, to) })
	})
}

// Writable reports whether files can be created in a directory, according to its permissions.
func (f OS) Writable(name string) error {
	const writeAndSearch = 0o3
	dir, err := f.DirPath(name)
	if err != nil {
		return err
	}
	if err := syscall.Access(dir, writeAndSearch); err != nil {
		return &fs.PathError{Op: "writing to", Path: dir, Err: err}
	}
	return nil
}

// Lock waits until no other process has the lock of the store, and takes it. It is a lock on the header file, which is never written. A
// process that dies releases it. If the file system has no locks, Lock does nothing.
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

// LockRoot takes the lock of the directory itself, which need not be a store. A process that dies releases it. If another process has
// it, LockRoot fails. If the file system has no locks, it does nothing.
func (f OS) LockRoot() (unlock func(), err error) {
	opened, err := os.Open(string(f.Dir))
	if err != nil {
		return nil, err
	}
	for {
		switch err := syscall.Flock(int(opened.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(errors.New("another process is writing this directory"), opened.Close())
		default:
			return func() { _ = opened.Close() }, nil
		}
	}
}

// lockPause is the time between two attempts to get the lock of a store.
const lockPause = 20 * time.Millisecond
