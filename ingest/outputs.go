package ingest

import (
	"io"
	"io/fs"
	"time"
)

// Outputs is a file system with the files of one folder that a process wrote, by their names, and nothing else.
type Outputs map[string]*io.SectionReader

// Open opens a file for reading from its beginning.
func (o Outputs) Open(name string) (fs.File, error) {
	content, ok := o[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return output{io.NewSectionReader(content, 0, content.Size()), name}, nil
}

// output is an open file of Outputs, and its own description.
type output struct {
	*io.SectionReader
	name string
}

func (o output) Stat() (fs.FileInfo, error) { return o, nil }
func (o output) Close() error               { return nil }
func (o output) Name() string               { return o.name }
func (o output) Mode() fs.FileMode          { return 0o444 }
func (o output) ModTime() time.Time         { return time.Time{} }
func (o output) IsDir() bool                { return false }
func (o output) Sys() any                   { return nil }
