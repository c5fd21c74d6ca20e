package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// vanished finds a listed file that no longer exists, and the sources that have it.
func (s *Sources) vanished() (in *Sources, gone *file, ok bool) {
	files := s.opened()
	for i := range files {
		if _, err := os.Lstat(s.path(&files[i])); errors.Is(err, fs.ErrNotExist) {
			return s, &files[i], true
		}
	}
	if s.beside != nil {
		return s.beside.vanished()
	}
	return nil, nil, false
}

// opened are the files of runs that the question may have opened: those of the sources, and sealed ones that were read in place of packs.
func (s *Sources) opened() []file {
	files := slices.Concat(s.Live, s.Read)
	if s.footers == nil {
		return files
	}
	s.footers.mu.Lock()
	defer s.footers.mu.Unlock()
	listed := make(map[string]bool, len(s.Read))
	for i := range s.Read {
		listed[s.path(&s.Read[i])] = true
	}
	for _, f := range s.sealed {
		if path := s.path(&f); s.footers.seen[path] && !listed[path] {
			files = append(files, f)
		}
	}
	return files
}

// damaged is the error of the footers of the files that were read.
func (s *Sources) damaged() error {
	err := s.footers.wait()
	if err == nil && s.beside != nil {
		err = s.beside.footers.wait()
	}
	return err
}

// blame turns an error of DuckDB that comes from a file into an error that names the file and wraps schema.ErrDamaged or the error of the
// file system. Other errors are returned unchanged. It reads every file, those in the message first. That is slow, but only happens if
// a question failed.
func (s *Sources) blame(ctx context.Context, cause error) error {
	if s.beside != nil {
		if err := s.beside.blame(ctx, cause); err != cause {
			return err
		}
	}
	files := slices.Concat(s.opened(), s.Beside(schema.Samples), s.Beside(schema.Ops))
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
				return answer.StoreError(st.dir, fmt.Errorf("%s: %w", strings.TrimPrefix(paths[i], st.path+"/"), err))
			}
		}
	}
	return cause
}

// checkFile checks the content of a file.
func (s *Sources) checkFile(of *file) error {
	run := &of.live.Run
	if of.zone != "" {
		run = nil
	}
	return CheckContent(schema.Dir(s.Stores[of.store].path), s.name(of), run)
}
