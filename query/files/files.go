// Package files writes files of results completely or not at all, so that readers never see half of one, and reads them back. It also
// makes directories for temporary files.
//
// # Scratch directories
//
// A ScratchDir is a private directory for temporary files. A process removes its own directory; directories of killed processes are
// removed by a later process.
//
// A directory is in use as long as a process holds its lock (flock). The system releases the lock with the last process that has it
// open.
package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// ErrPlace is wrapped by errors of OfPlace if another path would help.
var ErrPlace = errors.New("no file can be written there")

// placeError is an error that is an ErrPlace too.
type placeError struct{ error }

func (e placeError) Unwrap() []error { return []error{e.error, ErrPlace} }

// OfPlace returns an error of Replace or Write about a path that a user has named. It wraps ErrPlace if the folder does not exist or is
// no folder, or the path is a folder or too long.
func OfPlace(err error) error {
	for _, cause := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG} {
		if errors.Is(err, cause) {
			return placeError{err}
		}
	}
	return err
}

// of wraps an error of writing a file. It leaves out the path of the temporary file, which means nothing to a user.
func of(path, temp string, cause error) error {
	if at, ok := errors.AsType[*fs.PathError](cause); ok && at.Path == temp {
		cause = at.Err
	} else if at, ok := errors.AsType[*os.LinkError](cause); ok && at.Old == temp {
		cause = at.Err
	}
	return fmt.Errorf("writing %s: %w", path, cause)
}

// JSON prints a value with an indent of 2 and a final newline. Members of structs are in the order of their fields. < and & in texts are
// not escaped.
func JSON(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// Replace replaces a file as a whole, durably. If it fails, the old file is unchanged.
func Replace(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Write replaces a file, as Replace does, by content that write produces, which need not fit into memory. A path that is not a regular
// file, such as /dev/stdout or a pipe, is written to instead of replaced.
func Write(path string, write func(w io.Writer) error) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return of(path, "", syscall.EISDIR)
	case err == nil && !info.Mode().IsRegular():
		return into(path, write)
	}
	dir, name := filepath.Split(path)
	temp := filepath.Join(dir, "."+name+"."+schema.NewULID(time.Now()).String()+".part")
	err := fill(temp, write)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return of(path, temp, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return of(path, temp, err)
	}
	return nil
}

// into writes to an existing path.
func into(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return of(path, path, err)
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return of(path, path, err)
	}
	return nil
}

// fill makes a new file, and calls fsync.
func fill(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// syncDir makes the names in a directory durable, if its file system supports that.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if closed := dir.Close(); err == nil {
		err = closed
	}
	return err
}

// maxRead bounds the size of a file that Read reads.
const maxRead = 64 << 20

// Read reads a regular file of at most 64 MiB from a folder in which other programs write too. Another kind of file, or a larger one, is
// an fs.ErrInvalid; links are not followed.
func Read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	return os.ReadFile(path)
}

// Optional returns a pointer to a text for a member that is null if the text is unknown.
func Optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
