package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// vanished finds a file that is no longer there.
func vanished(files []file) (file, bool) {
	for _, f := range files {
		if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
			return f, true
		}
	}
	return file{}, false
}

// blame turns an error of DuckDB that comes from a file into one that names it and wraps schema.ErrDamaged or, where
// the file cannot be read at all, the error of the file system. Other errors stay as they are. It reads every file,
// which is slow, but happens only where a question could not be answered.
func (db *DB) blame(ctx context.Context, cause error, files []file) error {
	for _, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := checkFile(f.path)
		if err == nil && strings.HasSuffix(cause.Error(), damageMark+f.path) {
			err = fmt.Errorf("%w: it does not hold the one run that its name says", schema.ErrDamaged)
		}
		if err != nil {
			s := db.stores[f.store]
			return storeError(s.dir, fmt.Errorf("%s: %w", strings.TrimPrefix(f.path, s.path+"/"), err))
		}
	}
	return cause
}

// checkFile compares a file with its own hash.
func checkFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return schema.CheckFileHash(content)
}
