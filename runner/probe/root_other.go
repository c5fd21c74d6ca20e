//go:build !linux

package probe

import (
	"errors"
	"io/fs"
)

// systemRoot returns a tree without files: only Linux describes itself in files.
func systemRoot() fs.FS { return noFiles{} }

type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
