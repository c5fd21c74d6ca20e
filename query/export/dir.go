package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/neurolens/neurolens/query/answer"
)

// toDirectory writes all tables into a temporary directory inside the destination, and renames them when all are complete and no file
// is in the way.
func (x *exporter) toDirectory(ctx context.Context) (done []File, err error) {
	tables := x.tables()
	if err := os.MkdirAll(x.req.Dest, 0o777); err != nil {
		return nil, destError(x.req.Dest, err)
	}
	if err := x.checkNames(tables); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(x.req.Dest, ".export-")
	if err != nil {
		return nil, destError(x.req.Dest, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files := make([]File, len(tables))
	for i, table := range tables {
		files[i] = File{Path: x.path(table), Table: table}
		if files[i].Rows, err = x.copyTo(ctx, table, filepath.Join(dir, table)); err != nil {
			return nil, err
		}
	}
	if err := x.checkNames(tables); err != nil { // again, because writing took time
		return nil, err
	}
	for _, f := range files {
		if f.Rows == 0 && f.Table == "ops" && len(x.req.Tables) == 0 {
			err = removeStale(f.Path)
		} else {
			err = os.Rename(filepath.Join(dir, f.Table), f.Path)
			done = append(done, f)
		}
		if err != nil {
			return nil, destError(f.Path, err)
		}
	}
	return done, nil
}

func (x *exporter) path(table string) string {
	return filepath.Join(x.req.Dest, table+"."+string(x.req.Format))
}

// checkNames rejects existing files that cannot or must not be replaced.
func (x *exporter) checkNames(tables []string) error {
	for _, table := range tables {
		path := x.path(table)
		switch info, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return destError(path, err)
		case info.IsDir():
			return answer.InputError("export: %s is a directory", path)
		case !x.req.Overwrite:
			return answer.InputError("export: %s already exists; --overwrite replaces it", path)
		}
	}
	return nil
}

// removeStale removes the file of an earlier export, if there is one, because it would not match the other files.
func removeStale(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refusals are the errors of the file system that no other name would avoid, for example that it is full or read-only.
var refusals = []syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EMFILE, syscall.ENFILE,
}

// NotTheName reports whether an error of writing comes from the machine, and not from the given name.
func NotTheName(err error) bool {
	return slices.ContainsFunc(refusals, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// destError returns the error of the file system about a destination. It is an ErrInput if another name would help.
func destError(path string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // the rest of the message is about the temporary file or a part of the path
	}
	if NotTheName(err) {
		return errors.New(answer.Printable(fmt.Sprintf("export: %s: %v", path, err)))
	}
	return answer.InputError("export: %s: %v", path, err)
}
