package scan

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

// Reader reads the sources of one question.
type Reader struct {
	Conn *duck.Conn
	Src  *Sources
}

// Ask lists the files of all runs and calls do with what reads them, again if one of the files went away meanwhile.
func (s *Stores) Ask(ctx context.Context, do func(r *Reader) error) error {
	return s.AskSince(ctx, time.Time{}, do)
}

// AskSince is Ask about the runs that started since a time, the zero time: all. Older ones may be among the sources.
func (s *Stores) AskSince(ctx context.Context, since time.Time, do func(r *Reader) error) error {
	return s.ask(ctx, s.lister(since), do)
}

// AskNewest is Ask about the newest n runs of the only store, and names no other files than those that can hold them.
func (s *Stores) AskNewest(ctx context.Context, n int, do func(r *Reader) error) error {
	return s.ask(ctx, func() (*Sources, error) { return s.listNewest(n) }, do)
}

func (s *Stores) ask(ctx context.Context, list func() (*Sources, error), do func(r *Reader) error) error {
	list = ahead(list)
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // in memory: there is nothing to lose
	return retry(ctx, list, func(src *Sources) error {
		r := &Reader{Conn: c, Src: src}
		if err := r.Settle(ctx); err != nil {
			return err
		}
		err := do(r)
		if duck.OutOfMemory(err) && c.Raise(ctx, s.MemoryLimit) == nil {
			err = do(r)
		}
		return err
	})
}

// besideTables is what the names of the tables of other stores begin with, where two are read for one question.
const besideTables = "beside_"

// AskBeside is Ask about the runs of these stores and, apart from them, about those of others: a run that both have is one
// of each. Where there are no others, both readers are the same.
func (s *Stores) AskBeside(ctx context.Context, others *Stores, do func(r, beside *Reader) error) error {
	if others == nil {
		return s.Ask(ctx, func(r *Reader) error { return do(r, r) })
	}
	own := s.lister(time.Time{})
	list := func() (*Sources, error) {
		src, err := own()
		if err != nil {
			return nil, err
		}
		if src.beside, err = others.list(time.Time{}); err != nil {
			return nil, err
		}
		src.beside.Tables = besideTables
		return src, nil
	}
	return s.ask(ctx, list, func(r *Reader) error {
		beside := &Reader{Conn: r.Conn, Src: r.Src.beside}
		if err := beside.Settle(ctx); err != nil {
			return err
		}
		return do(r, beside)
	})
}

// Elsewhere is Ask for a question that is asked in an engine of its own: it calls do with the sources alone.
func (s *Stores) Elsewhere(ctx context.Context, do func(src *Sources) error) error {
	return retry(ctx, ahead(s.lister(time.Time{})), do)
}

// ahead begins to list at once, while DuckDB starts. The first call of what it returns gives that listing, later calls
// list anew.
func ahead(list func() (*Sources, error)) func() (*Sources, error) {
	type listing struct {
		s   *Sources
		err error
	}
	begun := make(chan listing, 1)
	go func() {
		defer close(begun)
		s, err := list()
		begun <- listing{s, err}
	}()
	return func() (*Sources, error) {
		if l, ok := <-begun; ok {
			return l.s, l.err
		}
		return list()
	}
}

// connect opens a connection to the engine for statements of this module.
func (s *Stores) connect(ctx context.Context) (*duck.Conn, error) {
	e, err := s.engine()
	if err != nil {
		return nil, err
	}
	c, err := e.Connect(ctx)
	if err == nil {
		c.Remark = s.Remark
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
func retry(ctx context.Context, list func() (*Sources, error), do func(*Sources) error) error {
	var err error
	for attempt := range attempts {
		select {
		case <-time.After(time.Duration(attempt) * pause):
		case <-ctx.Done():
			return ctx.Err()
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
			continue // it is there again
		case !ok:
			return s.blame(ctx, err)
		}
		err = fault.Store(in.Stores[gone.store].dir, fmt.Errorf("%s: %w", in.path(gone), fs.ErrNotExist))
	}
	return err
}
