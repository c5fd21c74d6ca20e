package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"syscall"
)

// SyncDir makes the names in a directory durable.
func SyncDir(f Files, name string) error {
	dir, err := f.OpenDir(name)
	if err != nil {
		return err
	}
	return cmp.Or(SyncNames(dir), dir.Close())
}

// SyncNames makes the names in an open directory durable. File systems without this operation (some network and user space ones) return
// EINVAL or ENOTSUP; there, names are as durable as they can be.
func SyncNames(dir File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// MakeDirs creates a directory and its parents, durably: it also fsyncs directories that another process created, which may have died
// before its fsync. Nothing is put into a directory before that, so a directory that is not empty is durable.
func MakeDirs(f Files, dir string) error {
	if isOccupied(f, dir) {
		return nil
	}
	parent := path.Dir(dir)
	if parent != "." {
		if err := MakeDirs(f, parent); err != nil {
			return err
		}
	}
	if err := f.MakeDir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(f, parent)
}

// isOccupied reports whether a directory exists and is not empty.
func isOccupied(f fs.FS, dir string) bool {
	opened, err := f.Open(dir)
	if err != nil {
		return false
	}
	defer opened.Close()
	d, ok := opened.(fs.ReadDirFile)
	if !ok {
		return false
	}
	entries, err := d.ReadDir(1)
	return err == nil && len(entries) > 0
}

// RemoveTree removes a file, or a directory with its content. It is no error if another process removes some of it at the
// same time.
func RemoveTree(f Files, name string, isDir bool) error {
	if isDir {
		entries, err := fs.ReadDir(f, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if err := RemoveTree(f, path.Join(name, e.Name()), e.IsDir()); err != nil {
				return err
			}
		}
	}
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
