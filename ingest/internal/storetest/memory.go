package storetest

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
)

// Memory is a file system in memory, for tests that create a store very often. Every directory is in it by its name.
type Memory struct{ fstest.MapFS }

// Copied returns a copy of the store, made now.
func (f Memory) Copied() Memory {
	all := maps.Clone(f.MapFS)
	for name, file := range all {
		if file.Mode.IsDir() {
			all[name] = MemoryDir()
		}
	}
	return Memory{all}
}

func MemoryDir() *fstest.MapFile {
	return &fstest.MapFile{Mode: fs.ModeDir | 0o777, ModTime: time.Now()}
}

// add gives a file a new name in an existing directory.
func (f Memory) add(op, name string, file *fstest.MapFile) error {
	dir := f.MapFS[path.Dir(name)]
	switch {
	case f.MapFS[name] != nil:
		return &fs.PathError{Op: op, Path: name, Err: syscall.EEXIST}
	case path.Dir(name) != "." && (dir == nil || !dir.Mode.IsDir()):
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	case dir != nil:
		dir.ModTime = time.Now()
	}
	f.MapFS[name] = file
	return nil
}

// inside returns the names in a directory, however deep.
func (f Memory) inside(dir string) (names []string) {
	for name := range f.MapFS {
		if strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	return names
}

func (f Memory) MakeRoot() error           { return nil }
func (f Memory) MakeDir(name string) error { return f.add("mkdir", name, MemoryDir()) }

func (f Memory) Create(name string) (disk.File, error) {
	made := &fstest.MapFile{Mode: 0o666, ModTime: time.Now()}
	return &memFile{made}, f.add("create", name, made)
}

func (f Memory) OpenDir(name string) (disk.File, error) {
	_, err := fs.Stat(f.MapFS, name)
	return &memFile{}, err
}

func (f Memory) Link(from, to string) error {
	file := f.MapFS[from]
	if file == nil || file.Mode.IsDir() {
		return &fs.PathError{Op: "link", Path: from, Err: syscall.ENOENT}
	}
	return f.add("link", to, file)
}

func (f Memory) Rename(from, to string) error {
	file := f.MapFS[from]
	if file == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: syscall.ENOENT}
	}
	if there := f.MapFS[to]; there != nil && !there.Mode.IsDir() {
		delete(f.MapFS, to)
	}
	if err := f.add("rename", to, file); err != nil {
		return err
	}
	for _, name := range f.inside(from) {
		f.MapFS[to+strings.TrimPrefix(name, from)] = f.MapFS[name]
		delete(f.MapFS, name)
	}
	delete(f.MapFS, from)
	return nil
}

func (f Memory) Remove(name string) error {
	switch {
	case f.MapFS[name] == nil:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOENT}
	case len(f.inside(name)) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	delete(f.MapFS, name)
	return nil
}

func (f Memory) Writable(name string) error {
	_, err := fs.Stat(f.MapFS, name)
	return err
}

func (f Memory) Lock(context.Context) (unlock func(), err error) { return func() {}, nil }

// memFile is a file in memory that is open for writing.
type memFile struct{ file *fstest.MapFile }

func (m *memFile) Write(b []byte) (int, error) {
	m.file.Data = append(m.file.Data, b...)
	return len(b), nil
}

func (m *memFile) Sync() error  { return nil }
func (m *memFile) Close() error { return nil }
