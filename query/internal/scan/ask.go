package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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

// Ask lists the files of all runs and calls do with a Reader of them. It does so again if a file disappeared meanwhile.
func (s *Stores) Ask(ctx context.Context, do func(r *Reader) error) error {
	return s.AskSince(ctx, time.Time{}, do)
}

// AskSince is Ask for the runs that started since a time; the zero time: all. The sources may have older runs too.
func (s *Stores) AskSince(ctx context.Context, since time.Time, do func(r *Reader) error) error {
	return s.ask(ctx, s.lister(since), do)
}

// AskRuns is AskSince for a question that stores of few files may answer without DuckDB, which is then only started if it is needed.
func (s *Stores) AskRuns(ctx context.Context, since time.Time, do func(r *Reader) error) error {
	for _, st := range s.dirs {
		if dir := schema.Dir(st.path); !schema.HasFewFiles(dir, schema.LiveDir, directLive) || !schema.HasFewFiles(dir, schema.RunsDir, fewFiles) {
			return s.AskSince(ctx, since, do)
		}
	}
	return s.askBy(ctx, s.connection(), s.lister(since), do)
}

// newestRuns is the number of the newest runs up to which DuckDB is not started to list them.
const newestRuns = 1024

// AskNewest is Ask for the newest n runs of the only store. The sources have only the files that may have these runs, and to count all runs
// those that CountNames cannot count. For few runs, DuckDB is only started if it is needed.
func (s *Stores) AskNewest(ctx context.Context, n int, count bool, do func(r *Reader) error) error {
	list := func() (*Sources, error) { return s.listNewest(n, count) }
	if n > newestRuns {
		return s.ask(ctx, list, do)
	}
	return s.askBy(ctx, s.connection(), list, do)
}

func (s *Stores) ask(ctx context.Context, list func() (*Sources, error), do func(r *Reader) error) error {
	list = ahead(list)
	c := s.connection()
	if err := c.Start(ctx); err != nil {
		return err
	}
	return s.askBy(ctx, c, list, do)
}

// askBy asks by a connection, and closes it.
func (s *Stores) askBy(ctx context.Context, c *duck.Conn, list func() (*Sources, error), do func(r *Reader) error) error {
	defer func() { _ = c.Close() }() // in memory: an error loses nothing
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

// besideTables is the prefix of the tables of the other stores, if two groups of stores are read for one question.
const besideTables = "beside_"

// AskBeside is Ask for the runs of these stores and, separately, of others. A run that both have counts in each. If others is nil, both
// readers are the same.
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
		if err := beside.Overlay(ctx); err != nil {
			return err
		}
		return do(r, beside)
	})
}

// Elsewhere is Ask for a question that has its own engine: it calls do only with the sources.
func (s *Stores) Elsewhere(ctx context.Context, do func(src *Sources) error) error {
	return retry(ctx, ahead(s.lister(time.Time{})), do)
}

// ahead starts to list at once, while DuckDB starts. The first call of the returned function gives that listing; later calls list again.
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

// connection is one for statements of this module.
func (s *Stores) connection() *duck.Conn {
	c := duck.Later(s.engine)
	c.Remark = s.Remark
	return c
}

// neverOfFiles are the classes of DuckDB errors that do not come from files. Permission errors are not among them: if a file is gone,
// DuckDB looks for a directory of that name and reports such an error.
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
			continue // it is there again
		case !ok:
			return s.blame(ctx, err)
		}
		err = answer.StoreError(in.Stores[gone.store].dir, fmt.Errorf("%s: %w", in.path(gone), fs.ErrNotExist))
	}
	return err
}
