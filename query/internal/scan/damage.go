package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// vanished finds a file that is no longer there, and the sources that named it.
func (s *Sources) vanished() (in *Sources, gone *file, ok bool) {
	for _, files := range [][]file{s.Live, s.Read} {
		for i := range files {
			if _, err := os.Lstat(s.path(&files[i])); errors.Is(err, fs.ErrNotExist) {
				return s, &files[i], true
			}
		}
	}
	if s.beside != nil {
		return s.beside.vanished()
	}
	return nil, nil, false
}

// damaged is what is wrong with the footers of the files that were read.
func (s *Sources) damaged() error {
	err := s.footers.wait()
	if err == nil && s.beside != nil {
		err = s.beside.footers.wait()
	}
	return err
}

// blame turns an error of DuckDB that comes from a file into one that names it and wraps schema.ErrDamaged or, where
// the file cannot be read at all, the error of the file system. Other errors stay as they are. It reads every file, the
// ones that the error names first, which is slow, but happens only where a question could not be answered.
func (s *Sources) blame(ctx context.Context, cause error) error {
	if s.beside != nil {
		if err := s.beside.blame(ctx, cause); err != cause {
			return err
		}
	}
	files := slices.Concat(s.Live, s.Read, s.Beside(schema.Samples), s.Beside(schema.Ops))
	paths := s.Paths(files)
	message := cause.Error()
	for _, named := range []bool{true, false} {
		for i, f := range files {
			if strings.Contains(message, paths[i]) != named {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := s.checkFile(&files[i])
			if err == nil && strings.HasSuffix(message, damageMark+paths[i]) {
				err = fmt.Errorf("%w: it does not contain the run that its name says", schema.ErrDamaged)
			}
			if named, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, schema.ErrDamaged) {
				err = named.Err
			}
			if err != nil {
				st := s.Stores[f.store]
				return fault.Store(st.dir, fmt.Errorf("%s: %w", strings.TrimPrefix(paths[i], st.path+"/"), err))
			}
		}
	}
	return cause
}

// checkFile compares a file with its own hash, and one of one run with its name.
func (s *Sources) checkFile(of *file) (err error) {
	f, err := schema.Dir(s.Stores[of.store].path).OpenFile(s.name(of))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := schema.CheckFileHashAt(f, info.Size()); err != nil || of.zone != "" {
		return err
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return err
	}
	if !bytes.Contains(content, []byte(of.live.Run.String())) { // which is neither compressed nor encoded
		return fmt.Errorf("%w: it does not contain the run that its name says", schema.ErrDamaged)
	}
	return nil
}
