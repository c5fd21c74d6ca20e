package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
)

// attempts is how often a question is asked because a file went away after it was listed, and pause how much longer it
// waits each time, for sealers to come to rest.
const (
	attempts = 20
	pause    = 5 * time.Millisecond
)

// reader reads the sources of one question.
type reader struct {
	conn *duck.Conn
	src  *sources
}

// ask lists the files and calls do with what reads them, again if one of the files went away meanwhile.
func (db *DB) ask(ctx context.Context, list func() (*sources, error), do func(r *reader) error) error {
	list = ahead(list)
	c, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // in memory: there is nothing to lose
	return db.retry(ctx, list, func(s *sources) error {
		r := &reader{conn: c, src: s}
		if err := r.settle(ctx); err != nil {
			return err
		}
		err := do(r)
		if duck.OutOfMemory(err) && c.Raise(ctx, db.opts.MemoryLimit) == nil {
			err = do(r)
		}
		return err
	})
}

// listAll is list for all runs.
func (db *DB) listAll() (*sources, error) { return db.list(time.Time{}) }

// ahead begins to list at once, while DuckDB starts. The first call of what it returns gives that listing, later calls
// list anew.
func ahead(list func() (*sources, error)) func() (*sources, error) {
	type listing struct {
		s   *sources
		err error
	}
	begun := make(chan listing, 1)
	go func() {
		defer close(begun)
		s, err := list()
		begun <- listing{s, err}
	}()
	return func() (*sources, error) {
		if l, ok := <-begun; ok {
			return l.s, l.err
		}
		return list()
	}
}

// connect opens a connection to the engine for statements of this package.
func (db *DB) connect(ctx context.Context) (*duck.Conn, error) {
	e, err := db.engine()
	if err != nil {
		return nil, err
	}
	c, err := e.Connect(ctx)
	if err == nil {
		c.Remark = db.opts.Remark
	}
	return c, err
}

// neverOfFiles are the classes of DuckDB's errors that have nothing to do with the files. A file that is not there any
// more is also one that may not be read: DuckDB then looks for a directory of that name.
var neverOfFiles = []duckdb.ErrorType{
	duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeBinder, duckdb.ErrorTypeCatalog, duckdb.ErrorTypeConversion,
	duckdb.ErrorTypeDivideByZero, duckdb.ErrorTypeOutOfMemory,
}

// noFile matches the messages of DuckDB about a file that is not there.
var noFile = regexp.MustCompile(`(?i)no files found that match the pattern|no such file or directory`)

// retry calls do with the sources that list gives, again if a file of them went away meanwhile. Errors of DuckDB about
// a file become ones about the store.
func (db *DB) retry(ctx context.Context, list func() (*sources, error), do func(*sources) error) error {
	var err error
	for attempt := range attempts {
		select {
		case <-time.After(time.Duration(attempt) * pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		var s *sources
		if s, err = list(); err != nil {
			return err
		}
		err = do(s)
		if damaged := s.footers.wait(); damaged != nil {
			return damaged
		}
		if err == nil {
			return nil
		}
		var engine *duck.Error
		if !errors.As(err, &engine) || slices.Contains(neverOfFiles, engine.Kind) {
			return err
		}
		gone, ok := s.vanished()
		if !ok && engine.Kind == duckdb.ErrorTypePermission {
			return err
		}
		switch {
		case !ok && noFile.MatchString(engine.Message) && attempt < attempts-1:
			continue // it is there again
		case !ok:
			return s.blame(ctx, err)
		}
		err = fault.Store(s.stores[gone.store].dir, fmt.Errorf("%s: %w", s.path(gone), fs.ErrNotExist))
	}
	return err
}
