package runfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Reader gives complete runs in ascending order of their ids, and io.EOF after the last.
type Reader interface {
	Next() (*table.Live, error)
	From() string // a lower bound of all ids, before the first call of Next; it may be the beginning of an id
	Close()
}

// SealedRuns reads a sealed file: its runs with their rows from the files of the same name. The files match their hashes.
// The runs match their digests, except for those that an event records as having lost rows.
type SealedRuns struct {
	fsys   fs.FS
	sealed schema.SealedFile
	name   func(t *schema.Table) string // path of the file of a table
	Lost   Lost                         // runs that are recorded as having lost rows; nil if all must be complete
	open   map[*schema.Table]*TableRows // open files; nil before the first run
	Lacks  bool                         // the last run has lost rows
}

// ReadSealed reads a sealed file of a store.
func ReadSealed(f fs.FS, sealed schema.SealedFile) *SealedRuns {
	return &SealedRuns{fsys: f, sealed: sealed, name: zoneName(sealed)}
}

// From returns the smallest possible id with the time of the first run.
func (s *SealedRuns) From() string { return IDBound(s.sealed.First) }

// begin opens the files after it has checked all their hashes.
func (s *SealedRuns) begin() error {
	s.open = map[*schema.Table]*TableRows{}
	there := map[*schema.Table]checkedFile{}
	defer func() {
		for _, file := range there { // files that were not opened
			_ = file.close()
		}
	}()
	for _, t := range Tables {
		file, err := openChecked(s.fsys, s.name(t))
		if t != schema.Runs && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		there[t] = file
	}
	for _, t := range Tables {
		file, ok := there[t]
		if !ok {
			continue
		}
		delete(there, t)
		rows, err := file.rows(t)
		if err != nil {
			return err
		}
		s.open[t] = rows
	}
	return nil
}

// Next returns the next run. An error about a damaged file, or about one that lacks rows, names it.
func (s *SealedRuns) Next() (*table.Live, error) {
	if s.open == nil {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	runs := s.open[schema.Runs]
	if runs.Row == nil {
		for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
			if rest := s.open[t]; rest != nil && rest.Row != nil {
				return nil, Damagedf(rest.path, "it has a row of run %q, which is not in the file of runs", rest.RunID())
			}
		}
		return nil, io.EOF
	}
	live := &table.Live{RunID: runs.RunID(), Run: runs.Row}
	live.Digest, _ = runs.Row[DigestPlace].(string)
	var err error
	if live.Samples, err = s.open[schema.Samples].of(live.RunID); err != nil {
		return nil, err
	}
	if live.Ops, err = s.open[schema.Ops].of(live.RunID); err != nil {
		return nil, err
	}
	digest := schema.DigestOfRows(live.Run, live.Samples, live.Ops)
	s.Lacks = digest != live.Digest && s.Lost[live.RunID] != nil
	if digest != live.Digest && !s.Lacks {
		lacks := ""
		if s.open[schema.Samples] == nil {
			lacks = fmt.Sprintf("; %s is missing", s.name(schema.Samples))
		}
		return nil, Damagedf(runs.path, "run %s has the digest %s, but %q is stored%s", live.RunID, digest, live.Digest, lacks)
	}
	return live, runs.Advance()
}

// Close closes the files.
func (s *SealedRuns) Close() {
	for _, rows := range s.open {
		rows.Close()
	}
}

// EachRun calls each for all runs, unless the context ends first.
func EachRun(ctx context.Context, runs Reader, do func(*table.Live) error) error {
	for {
		live, err := runs.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = do(live)
		}
		if err != nil {
			return err
		}
	}
}
