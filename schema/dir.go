package schema

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is the directory of a store, as a file system in which only regular files and directories can be opened. The path of the store
// itself may be a link. Inside the store no link is followed, so a store from an untrusted source cannot lead a reader out of it. If a
// name is a link, a pipe or a device, the error wraps ErrDamaged and is returned without blocking.
type Dir string

// Open opens a file or a directory for reading.
func (d Dir) Open(name string) (fs.File, error) {
	where, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	opened, err := d.open(where, name, os.O_RDONLY)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return opened, nil
}

// Stat describes a file or directory. A link is described as a link and is not followed.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	where, err := d.path("stat", name)
	if err != nil {
		return nil, err
	}
	if name == "." {
		return os.Stat(where)
	}
	return os.Lstat(where)
}

// DirPath returns the path of a directory, for programs that open it themselves. The error wraps fs.ErrNotExist, or ErrDamaged
// if it is not a directory.
func (d Dir) DirPath(name string) (string, error) {
	where, err := d.path("open", name)
	if err != nil {
		return "", err
	}
	info, err := d.Stat(name)
	if err != nil {
		return "", err
	}
	return where, checkPlain(name, info.Mode(), true)
}

// PathToChange returns the path of something that is to be created, replaced or removed. The error wraps ErrDamaged unless all
// its parents are directories of the store.
func (d Dir) PathToChange(name string) (string, error) { return d.path("write", name) }

// OpenFile opens a file for reading.
func (d Dir) OpenFile(name string) (*os.File, error) {
	where, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	opened, err := d.open(where, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil {
		err = checkPlain(name, info.Mode(), false)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// OpenDir opens a directory.
func (d Dir) OpenDir(name string) (*os.File, error) {
	where, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	return d.open(where, name, os.O_RDONLY|syscall.O_DIRECTORY)
}

// OpenToLock opens a file in order to lock it: for writing if that is allowed, because some network file systems require it.
func (d Dir) OpenToLock(name string) (*os.File, error) {
	where, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	opened, err := d.open(where, name, os.O_RDWR)
	if err != nil && !errors.Is(err, ErrDamaged) {
		opened, err = d.open(where, name, os.O_RDONLY)
	}
	return opened, err
}

// path returns the path of a name. All its parents must be directories.
func (d Dir) path(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	where := filepath.Join(string(d), filepath.FromSlash(name))
	for at, c := range name {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(string(d), filepath.FromSlash(name[:at])))
		if err != nil {
			return "", err
		}
		if !info.IsDir() {
			return "", notPlain(name[:at], info.Mode(), true)
		}
	}
	return where, nil
}

// open opens a name without blocking: opening a pipe without a writer would otherwise never return.
func (d Dir) open(where, name string, flags int) (*os.File, error) {
	flags |= syscall.O_NONBLOCK | syscall.O_NOCTTY
	if name != "." {
		flags |= syscall.O_NOFOLLOW
	}
	wantDir := flags&syscall.O_DIRECTORY != 0
	opened, err := os.OpenFile(where, flags, 0)
	if err != nil {
		info, cause := os.Lstat(where)
		if cause == nil && name != "." && (wantDir || !info.IsDir()) {
			cause = checkPlain(name, info.Mode(), wantDir)
		}
		if errors.Is(cause, ErrDamaged) {
			return nil, cause
		}
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil {
		err = checkPlain(name, info.Mode(), info.IsDir())
	}
	if err != nil {
		_ = opened.Close()
		return nil, err
	}
	return opened, nil
}

// checkPlain returns an error unless mode is the mode of a regular file or, if dir is set, of a directory.
func checkPlain(name string, mode fs.FileMode, dir bool) error {
	if dir && mode.IsDir() || !dir && mode.IsRegular() {
		return nil
	}
	return notPlain(name, mode, dir)
}

// notPlain returns the error for a name whose file has the wrong type.
func notPlain(name string, mode fs.FileMode, dir bool) error {
	wanted := "a file"
	if dir {
		wanted = "a directory"
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: it is %s, but must be %s", ErrDamaged, kindOf(mode), wanted)}
}

// kindOf names the kind of a directory entry.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
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

// Limits for the size of JSON files. This program writes no larger files, so larger ones are not read.
const (
	maxSmall = 64 << 10 // a header, an owner
	maxNames = 64 << 20 // an event, a plan: they may name a million runs
)

// ReadSmall reads a JSON file that does not list runs: a header or an owner, of at limit 64 KiB. The error wraps
// ErrDamaged if it is larger.
func ReadSmall(store fs.FS, name string) ([]byte, error) { return readAtMost(store, name, maxSmall) }

// ReadNames reads a JSON file that lists runs: an event or a plan, of at limit 64 MiB. The error wraps ErrDamaged if it is
// larger.
func ReadNames(store fs.FS, name string) ([]byte, error) { return readAtMost(store, name, maxNames) }

func readAtMost(store fs.FS, name string, limit int64) ([]byte, error) {
	file, err := store.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLong(name, limit)
	}
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(file, limit+1))
	if err == nil && int64(content.Len()) > limit {
		err = tooLong(name, limit)
	}
	return content.Bytes(), err
}

func tooLong(name string, limit int64) error {
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: it is larger than %d bytes", ErrDamaged, limit)}
}

// ReadPackedEvents calls do for each line of a file of packed events. A line is only valid during the call. The error comes from do or
// from the file system, or wraps ErrDamaged if a line is too long.
func ReadPackedEvents(store fs.FS, name string, do func(line []byte) error) error {
	file, err := store.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, maxSmall), maxNames)
	lines.Split(wholeLines)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return tooLong(name, maxNames)
	}
	return lines.Err()
}

// wholeLines splits a text into lines, including their line breaks, which the hash of a line covers.
func wholeLines(data []byte, atEnd bool) (advance int, line []byte, err error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at+1], nil
	}
	if atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
