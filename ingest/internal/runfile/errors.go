package runfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// FileError is an error that comes from what is in a file of a store.
type FileError struct {
	Path string
	Err  error
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap is the error without the name of the file.
func (e *FileError) Unwrap() error { return e.Err }

// InFile says which file an error comes from.
func InFile(path string, err error) error {
	if _, known := errors.AsType[*FileError](err); err == nil || known {
		return err
	}
	return &FileError{path, err}
}

// Damagedf is an error of a file whose content is wrong.
func Damagedf(path, format string, args ...any) error {
	return &FileError{path, fmt.Errorf("%w: "+format, append([]any{schema.ErrDamaged}, args...)...)}
}

// AboutContent tells whether an error is about what a file holds, not about reading it.
func AboutContent(err error) bool {
	return errors.Is(err, schema.ErrDamaged) || errors.Is(err, table.ErrNewer)
}

// ProblemText is an error without the words that say that there is damage.
func ProblemText(err error) string {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // its path is that of the finding
	}
	return strings.TrimPrefix(err.Error(), schema.ErrDamaged.Error()+": ")
}

// ErrMoved says that a live run went elsewhere after it was listed: into a claim, or a sealed file.
var ErrMoved = errors.New("the store kept changing while it was read, because its runs are being sealed; try again")

// MaxMoves bounds how often reading begins anew because of that.
const MaxMoves = 20

// Moved turns the error of a file that is not there any more into ErrMoved.
func Moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMoved
	}
	return err
}
