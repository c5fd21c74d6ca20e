package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// attempts is how often a question is tried if files disappear after they were listed. pause is how much longer it waits before each
// attempt, so that sealers can finish.
const (
	attempts = 20
	pause    = 5 * time.Millisecond
)

// Reader reads the sources of one question.
type Reader struct {
	Conn *duck.Conn
	Src  *Sources
}

// Scope limits a question to some runs. Its zero value has all runs.
type Scope struct {
	Since  time.Time // runs that started at this time or later; the sources may have older runs too
	Newest int       // if above 0, only the files that may have the newest Newest runs are listed; there must be one store
	Count  bool      // with Newest, the sources also have the files to count all runs that Stores.CountNames cannot count
	Lazy   bool      // DuckDB starts with its first statement, because the runs of few files may be read without it
}

// newestRuns is the number of the newest runs up to which DuckDB is not started to list them.
const newestRuns = 1024

// Query lists the files of all runs and calls do with a Reader of them. It does so again if a file disappeared meanwhile.
func (s *Stores) Query(ctx context.Context, do func(r *Reader) error) error {
	return s.QueryScope(ctx, Scope{}, do)
}

// QueryScope is Query for the runs of a scope.
func (s *Stores) QueryScope(ctx context.Context, scope Scope, do func(r *Reader) error) error {
	list, lazy := s.sourcesSince(scope.Since), scope.Lazy && s.hasFewFiles()
	if scope.Newest > 0 {
		list = func() (*Sources, error) { return s.listNewest(scope.Newest, scope.Count) }
		lazy = scope.Newest <= newestRuns
	}
	return s.ask(ctx, lazy, list, do)
}

// hasFewFiles reports whether each store has so few files that their runs may be read without DuckDB.
func (s *Stores) hasFewFiles() bool {
	return !slices.ContainsFunc(s.dirs, func(st store) bool {
		dir := schema.Dir(st.path)
		return !schema.HasFewFiles(dir, schema.LiveDir, directLive) || !schema.HasFewFiles(dir, schema.RunsDir, fewFiles)
	})
}

// ask answers a question about listed files. If it is not lazy, it starts DuckDB first.
func (s *Stores) ask(ctx context.Context, lazy bool, list func() (*Sources, error), do func(r *Reader) error) error {
	c := s.connection()
	defer func() { _ = c.Close() }() // in memory: an error loses nothing
	if !lazy {
		if err := c.Start(ctx); err != nil {
			return err
		}
	}
	return retry(ctx, list, func(src *Sources) error {
		r := &Reader{Conn: c, Src: src}
		if err := r.Overlay(ctx); err != nil {
			return err
		}
		err := do(r)
		if duck.OutOfMemory(err) && c.Raise(ctx, s.MemoryLimit) == nil {
			err = do(r)
		}
		return err
	})
}

// QueryTwo is Query for the runs of these stores and, separately, of others. A run that both have counts in each. If others is nil, both
// readers are the same.
func (s *Stores) QueryTwo(ctx context.Context, others *Stores, do func(r, other *Reader) error) error {
	if others == nil {
		return s.Query(ctx, func(r *Reader) error {
			if err := r.LoadLive(ctx); err != nil {
				return err
			}
			return do(r, r)
		})
	}
	own := s.sourcesSince(time.Time{})
	list := func() (*Sources, error) {
		src, err := own()
		if err != nil {
			return nil, err
		}
		if src.other, err = others.list(time.Time{}); err != nil {
			return nil, err
		}
		src.other.Tables = "other_" // tables of the same connection
		return src, nil
	}
	return s.ask(ctx, false, list, func(r *Reader) error {
		other := &Reader{Conn: r.Conn, Src: r.Src.other}
		if err := other.Overlay(ctx); err != nil {
			return err
		}
		if err := errors.Join(r.LoadLive(ctx), other.LoadLive(ctx)); err != nil {
			return err
		}
		return do(r, other)
	})
}

// WithSources is like Query for a question that has its own engine: do only gets the sources.
func (s *Stores) WithSources(ctx context.Context, do func(src *Sources) error) error {
	return retry(ctx, s.sourcesSince(time.Time{}), do)
}

// connection returns a connection for statements of this module.
func (s *Stores) connection() *duck.Conn {
	c := duck.Later(s.engine)
	c.Remark = s.Remark
	return c
}

// neverOfFiles are the classes of DuckDB errors that do not come from files. Permission errors are not among them: if a file is gone,
// DuckDB searches for a directory of that name and reports such an error.
var neverOfFiles = []duckdb.ErrorType{
	duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeBinder, duckdb.ErrorTypeCatalog, duckdb.ErrorTypeConversion,
	duckdb.ErrorTypeDivideByZero, duckdb.ErrorTypeOutOfMemory,
}

// noFile matches DuckDB's messages about a missing file.
var noFile = regexp.MustCompile(`(?i)no files found that match the pattern|no such file or directory`)

// retry calls do with the listed sources, and again if one of their files disappeared. Errors of DuckDB about a file become errors of
// the store.
func retry(ctx context.Context, list func() (*Sources, error), do func(*Sources) error) error {
	var err error
	for attempt := range attempts {
		select {
		case <-time.After(time.Duration(attempt) * pause):
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var s *Sources
		if s, err = list(); err != nil {
			return err
		}
		err = do(s)
		if damaged := s.damaged(); damaged != nil {
			return damaged
		}
		if err == nil {
			return nil
		}
		var engine *duck.Error
		if !errors.As(err, &engine) || slices.Contains(neverOfFiles, engine.Kind) {
			return err
		}
		in, gone, ok := s.vanished()
		if !ok && engine.Kind == duckdb.ErrorTypePermission {
			return err
		}
		switch {
		case !ok && noFile.MatchString(engine.Message) && attempt < attempts-1:
			continue // the file exists again
		case !ok:
			return s.blame(ctx, err)
		}
		err = answer.StoreError(in.Stores[gone.store].dir, fmt.Errorf("%s: %w", in.path(gone), fs.ErrNotExist))
	}
	return err
}

// snapshot is a listing that several questions share.
type snapshot struct {
	mu  sync.Mutex
	src *Sources // the listing; nil before the first question
}

// Snapshot returns the same stores with a fixed list of files, made by the first question. So the answers of several questions are
// consistent, and stores with very many files are listed once. If a file disappears, the files are listed again, for later questions
// too. Scope.Newest does not use the list.
func (s *Stores) Snapshot() *Stores {
	same := *s
	same.snapshot = &snapshot{}
	return &same
}

// sourcesSince returns a function that lists the files for a question: the snapshot first, and new lists if the question is repeated.
func (s *Stores) sourcesSince(since time.Time) func() (*Sources, error) {
	if s.snapshot == nil {
		return func() (*Sources, error) { return s.list(since) }
	}
	repeated := false
	return func() (*Sources, error) {
		k := s.snapshot
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.src == nil || repeated {
			src, err := s.list(time.Time{})
			if err != nil {
				return nil, err
			}
			k.src = src
		}
		repeated = true
		return k.src.own(), nil
	}
}

// own returns a copy of sources for one question, which removes files from it.
func (s *Sources) own() *Sources {
	same := *s
	same.Live = slices.Clone(s.Live)
	same.contents = newContents() // a question notices that a file disappeared
	return &same
}
