package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// WithDeleted returns the files of a working directory together with the files below it that a commit has and the working tree does not.
// Their content is read when they are opened. It is nil if there are none, also if the commit or the repository does not exist: creating
// the side of the commit reports that error.
func WithDeleted(ctx context.Context, dir, ref string, files fs.FS) (fs.FS, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, inside, err := find(ctx, dir)
	if err != nil {
		return nil, ctx.Err()
	}
	code, err := against(ctx, r, ref)
	if err != nil {
		return nil, ctx.Err()
	}
	says, err := call{dir: dir}.run(ctx, "diff", "--no-renames", "--no-ext-diff", "--ignore-submodules", "--diff-filter=D", "--name-only", "--relative", "-z", code.Commit, "--")
	if err != nil {
		return nil, fmt.Errorf("listing the files deleted since %q: %w", ref, err)
	}
	if says == "" {
		return nil, nil
	}
	content := func(name string) ([]byte, error) {
		text, err := r.git(ctx, "cat-file", "--filters", code.Commit+":"+path.Join(filepath.ToSlash(inside), name))
		return []byte(text), err
	}
	d := withDeleted{FS: files, folders: map[string][]fs.DirEntry{}, content: content}
	for name := range strings.SplitSeq(strings.TrimSuffix(says, "\x00"), "\x00") {
		d.add(name)
	}
	return d, nil
}

// withDeleted adds deleted files to a file system.
type withDeleted struct {
	fs.FS
	folders map[string][]fs.DirEntry // the deleted files and the folders around them, by folder
	content func(name string) ([]byte, error)
}

// add adds a file, and the folders around it.
func (d *withDeleted) add(name string) {
	for entry := (deletedEntry{name: path.Base(name)}); name != "."; entry = (deletedEntry{path.Base(name), fs.ModeDir}) {
		dir := path.Dir(name)
		same := func(other fs.DirEntry) bool { return other.Name() == entry.name }
		if slices.ContainsFunc(d.folders[dir], same) {
			return
		}
		d.folders[dir] = append(d.folders[dir], entry)
		name = dir
	}
}

// Open opens a file of the working directory, or else a deleted one.
func (d withDeleted) Open(name string) (fs.File, error) {
	file, err := d.FS.Open(name)
	if err != nil && !absent(err) {
		return nil, err
	}
	if _, folder := d.folders[name]; folder {
		if err == nil {
			if info, err := file.Stat(); err != nil || !info.IsDir() { // a file has the name of a folder that is gone
				return file, err
			}
		} else {
			file = deletedFile{deletedEntry{path.Base(name), fs.ModeDir}, bytes.NewReader(nil)}
		}
		entries, err := d.ReadDir(name)
		if err != nil {
			_ = file.Close()
			return nil, err
		}
		return &mergedFolder{file, entries}, nil
	}
	if err == nil {
		return file, nil
	}
	at := slices.IndexFunc(d.folders[path.Dir(name)], func(e fs.DirEntry) bool { return e.Name() == path.Base(name) })
	if at < 0 {
		return nil, err
	}
	entry := d.folders[path.Dir(name)][at].(deletedEntry)
	content, err := d.content(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return deletedFile{entry, bytes.NewReader(content)}, nil
}

// absent reports whether the working directory has no file of a name, also because a folder on its path is a file now.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// ReadDir lists the entries of both, by name.
func (d withDeleted) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.FS, name)
	deleted, has := d.folders[name]
	if err != nil && !(has && absent(err)) {
		return entries, err
	}
	for _, entry := range deleted {
		if !slices.ContainsFunc(entries, func(other fs.DirEntry) bool { return other.Name() == entry.Name() }) {
			entries = append(entries, entry)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// deletedEntry is a deleted file, or a folder around one.
type deletedEntry struct {
	name string
	mode fs.FileMode
}

func (e deletedEntry) Name() string               { return e.name }
func (e deletedEntry) IsDir() bool                { return e.mode.IsDir() }
func (e deletedEntry) Type() fs.FileMode          { return e.mode.Type() }
func (e deletedEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e deletedEntry) Size() int64                { return 0 }
func (e deletedEntry) Mode() fs.FileMode          { return e.mode }
func (e deletedEntry) ModTime() time.Time         { return time.Time{} }
func (e deletedEntry) Sys() any                   { return nil }

// deletedFile is an open one.
type deletedFile struct {
	deletedEntry
	io.Reader
}

// mergedFolder is an open folder with deleted entries.
type mergedFolder struct {
	fs.File               // of the working directory, if it has the folder
	entries []fs.DirEntry // that were not read yet
}

// ReadDir reads the next n entries; with n <= 0 all that are left.
func (f *mergedFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.entries) {
		n = len(f.entries)
	}
	entries := f.entries[:n]
	f.entries = f.entries[n:]
	return entries, nil
}

func (f deletedFile) Stat() (fs.FileInfo, error) { return f.deletedEntry, nil }
func (f deletedFile) Close() error               { return nil }
