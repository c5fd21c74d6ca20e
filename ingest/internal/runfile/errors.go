package runfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// FileError is an error about the content of a file of a store.
type FileError struct {
	Path string
	Err  error
}

// Error names the file and its problem.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the error without the name of the file.
func (e *FileError) Unwrap() error { return e.Err }

// InFile adds the path of the file to an error.
func InFile(path string, err error) error {
	if _, known := errors.AsType[*FileError](err); err == nil || known {
		return err
	}
	return &FileError{path, err}
}

// Damagedf returns an error about damaged content of a file.
func Damagedf(path, format string, args ...any) error {
	return &FileError{path, fmt.Errorf("%w: "+format, append([]any{schema.ErrDamaged}, args...)...)}
}

// AboutContent reports whether an error is about the content of a file, not about reading it.
func AboutContent(err error) bool {
	return errors.Is(err, schema.ErrDamaged) || errors.Is(err, table.ErrNewer)
}

// ProblemText returns the text of an error without the words of schema.ErrDamaged.
func ProblemText(err error) string {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // the finding has its path
	}
	return strings.TrimPrefix(err.Error(), schema.ErrDamaged.Error()+": ")
}

// ErrMoved means that a live run was moved after it was listed: into a claim, or into a sealed file.
var ErrMoved = errors.New("the store kept changing while it was read, because its runs are being sealed; try again")

// MaxMoves limits how often reading starts again because of ErrMoved.
const MaxMoves = 20

// Moved turns the error of a file that is gone into ErrMoved.
func Moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMoved
	}
	return err
}
