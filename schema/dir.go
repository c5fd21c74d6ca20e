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

// Dir is the directory of a store, as a file system of which nothing but files and directories is opened. The store
// itself may be named by a link; inside it there are none, and none is followed: whoever unpacks the store of another
// is not led out of it. A name that stands for something else (a link, a pipe, a device) is an error that wraps
// ErrDamaged and says so at once, whatever it leads to.
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

// Stat describes what has a name, a link as the link that it is.
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

// DirPath is where a directory is that others read. The error wraps fs.ErrNotExist, or ErrDamaged where it is no directory.
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

// PathToChange is where something is to be made, replaced or removed: all that it stands in are directories of the store.
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

// OpenToLock opens a file to lock it, for writing where that is allowed: some network file systems ask for that.
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

// path is where a name is, if all that it stands in are directories.
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

// open opens what is there without waiting for anybody: a pipe that nobody writes would be waited for for ever.
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

// checkPlain refuses what is not a file, or not a directory where that is wanted.
func checkPlain(name string, mode fs.FileMode, dir bool) error {
	if dir && mode.IsDir() || !dir && mode.IsRegular() {
		return nil
	}
	return notPlain(name, mode, dir)
}

// notPlain is the error of something that is not opened.
func notPlain(name string, mode fs.FileMode, dir bool) error {
	wanted := "a file"
	if dir {
		wanted = "a directory"
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: it is %s, but must be %s", ErrDamaged, kindOf(mode), wanted)}
}

// kindOf says what something is in a file system.
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

// How long the files of JSON may be. What is longer was not written by this program, and is not read.
const (
	maxSmall = 64 << 10 // a header, an owner
	maxNames = 64 << 20 // an event, a plan: they name runs, of which there may be a million
)

// ReadSmall reads a file of JSON that names no runs: a header, an owner. The error wraps ErrDamaged where it is too long.
func ReadSmall(store fs.FS, name string) ([]byte, error) { return readAtMost(store, name, maxSmall) }

// ReadNames reads a file of JSON that names runs: an event, a plan. The error wraps ErrDamaged where it is too long.
func ReadNames(store fs.FS, name string) ([]byte, error) { return readAtMost(store, name, maxNames) }

func readAtMost(store fs.FS, name string, most int64) ([]byte, error) {
	file, err := store.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, tooLong(name, most)
	}
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(file, most+1))
	if err == nil && int64(content.Len()) > most {
		err = tooLong(name, most)
	}
	return content.Bytes(), err
}

func tooLong(name string, most int64) error {
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: it is larger than %d bytes", ErrDamaged, most)}
}

// ReadPackedEvents hands over the lines of packed events, one after the other; a line is only valid during the call. The
// error is one of do, of the file system, or wraps ErrDamaged where a line is too long.
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

// wholeLines splits a text into lines with their ends, which are signed too.
func wholeLines(data []byte, atEnd bool) (advance int, line []byte, err error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at+1], nil
	}
	if atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
