// Package sql runs SQL of users over the views runs, samples, samples_long and ops of stores, and makes the same views for other
// instances of DuckDB.
//
// A text must be a single SELECT (checkSelect in sandbox.go). It runs in its own locked engine, which can open only the files of the
// stores and change nothing (package sandbox).
package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// maxValues is the maximum number of values in the result of a user's text. Results are in memory twice.
const maxValues = 10_000_000

// ErrMemory is an ErrInput: the SQL needs more memory than Options.MemoryLimit.
var ErrMemory = answer.InputError("query: it needs more memory than its limit")

// errSpill means that the folder for temporary files is full.
var errSpill = errors.New("query: it needs more memory than its limit, and the folder for temporary files is full; TMPDIR names another one, --memory-limit raises the limit")

// Select runs one SELECT over the views runs, samples (with `values`, the samples in the unit), samples_long (run_id, metric, unit, i
// from 0, value) and ops. num(x) converts a text to a number. The time zone is UTC.
//
// The text can read nothing outside the files of the stores and change nothing: it must be a single SELECT, and runs in its own DuckDB,
// which may only open these files and whose settings are locked. A text that is rejected or fails is an ErrInput.
func Select(ctx context.Context, db *query.DB, text string) (answer.Table, error) {
	var t answer.Table
	err := answered(ctx, db, func(s *scan.Sources, tags bool) error {
		e, release, err := db.Stores().OwnEngine()
		if err != nil {
			return err
		}
		defer release()
		t, err = answerSQL(ctx, e, question{s, text, tags})
		return err
	})
	if err != nil {
		return answer.Table{}, queryError(err)
	}
	return t, nil
}

// annotations is the schema of the auxiliary tables of the views, and noTags the function in place of tags that are not made.
const (
	annotations = "annotations"
	noTags      = "neurolens_no_tags"
)

// question is a text of a user with the sources that it is about.
type question struct {
	src  *scan.Sources
	text string
	tags bool // make the tags of runs, however many are changed
}

// errTags means that the answer depends on tags that were not made.
var errTags = errors.New("the text reads tags")

// answered calls answer with the sources of the stores. The tags of very many runs are costly, and few texts read them. So the first
// call omits them, and if the answer depends on them, answer is called once more, with the tags.
func answered(ctx context.Context, db *query.DB, answer func(s *scan.Sources, tags bool) error) error {
	err := db.Stores().WithSources(ctx, func(s *scan.Sources) error { return answer(s, false) })
	if errors.Is(err, errTags) {
		err = db.Stores().WithSources(ctx, func(s *scan.Sources) error { return answer(s, true) })
	}
	return err
}

// answerSQL runs a text of a user in an engine of its own.
func answerSQL(ctx context.Context, e *duck.Engine, q question) (answer.Table, error) {
	c, sel, err := sandboxed(ctx, e, q)
	if err != nil {
		return answer.Table{}, err
	}
	defer func() { _ = c.Close() }() // the database is in memory: an error loses nothing
	t, err := c.TableAtMost(ctx, duck.Statement{SQL: q.text}, maxValues)
	if sel.tags.Sprung() {
		return answer.Table{}, errTags
	}
	if err != nil {
		return t, entryMeant(ctx, c, err)
	}
	t.SetUnits(sel.renamed)
	return t, nil
}

// sandboxed checks a text of a user and opens a locked connection for it, in an engine of its own. The connection can only open the
// files of the tables that the text may read, and the given others. The caller closes it.
func sandboxed(ctx context.Context, e *duck.Engine, q question, others ...string) (*duck.Conn, checked, error) {
	c, err := e.Connect(ctx)
	if err != nil {
		return nil, checked{}, err
	}
	p, err := checkSelect(ctx, c, q.text)
	if err == nil && !q.tags && !p.words["tags"] && q.src.Events.TaggedMany() {
		p.tags = new(duck.Trap)
		err = e.Set(ctx, noTags, p.tags)
	}
	if err == nil {
		err = lockIn(ctx, c, q.src, p, others)
	}
	if err != nil {
		return nil, checked{}, errors.Join(err, c.Close())
	}
	return c, p, nil
}

// lockIn makes the views and then locks the connection.
func lockIn(ctx context.Context, c *duck.Conn, s *scan.Sources, sel checked, others []string) error {
	s.Tables = annotations + "."
	if _, err := c.Exec(ctx, "CREATE SCHEMA "+annotations); err != nil {
		return err
	}
	r := &scan.Reader{Conn: c, Src: s}
	if err := r.Overlay(ctx); err != nil {
		return err
	}
	if sel.tags != nil {
		s.TagsSQL = noTags
	}
	if err := r.ApplyEvents(ctx); err != nil {
		return err
	}
	if sel.mayRead("samples", "samples_long") {
		if err := r.CheckSamples(ctx); err != nil {
			return err
		}
	}
	for _, statement := range sandbox(s, sel, others...) {
		if _, err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// sandbox returns the statements that make the views and then lock the engine. A table that the text does not mention gets no rows, because
// it may have many files. allowed_paths lists files, not directories, so that COPY, glob and read_text cannot reach anything else in a
// store.
func sandbox(s *scan.Sources, sel checked, others ...string) []string {
	samples, ops, runs := &scan.Sources{Stores: s.Stores}, &scan.Sources{Stores: s.Stores}, s
	paths := append(s.Paths(slices.Concat(s.Live, s.Read)), others...)
	if sel.mayRead("samples", "samples_long") {
		samples = s
		paths = append(paths, s.Paths(s.Beside(schema.Samples))...)
	}
	if sel.mayRead("ops") {
		ops = s
		paths = append(paths, s.Paths(s.Beside(schema.Ops))...)
	}
	statements := []string{
		"CREATE VIEW runs AS " + runs.RunsSQL(),
		"CREATE VIEW samples AS " + samples.SamplesSQL(""),
		"CREATE VIEW samples_long AS " + scan.SamplesLongSQL("samples"),
		"CREATE VIEW ops AS " + ops.OpsSQL(""),
		"CREATE MACRO num(x) AS " + duck.Number("x"),
		"SET TimeZone = 'UTC'",
		"SET allowed_paths = " + duck.TextList(allowed(paths)),
		"SET enable_external_access = false",
	}
	if sel.wholeWindow {
		statements = append(statements, "SET threads = 1")
	}
	return append(statements, "SET lock_configuration = true")
}

// allowed returns the paths that must be allowed to read files: DuckDB checks both the pattern and the file.
func allowed(paths []string) []string {
	all := duck.Patterns(paths)
	for i, path := range paths {
		if all[i] != path {
			all = append(all, path)
		}
	}
	return all
}

// notAskers are the classes of errors that the user cannot avoid with another text.
var notAskers = []duckdb.ErrorType{
	duckdb.ErrorTypeIO, duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeSerialization,
}

func queryError(err error) error {
	var engine *duck.Error
	switch {
	case !errors.As(err, &engine):
		return err
	case duck.SpillFull(err):
		return errSpill
	case engine.Kind == duckdb.ErrorTypeOutOfMemory:
		return ErrMemory
	case slices.Contains(notAskers, engine.Kind):
		return fmt.Errorf("query: %w", err)
	case strings.Contains(engine.Message, "disabled by configuration"), engine.Kind == duckdb.ErrorTypePermission:
		return answer.InputError("query: only runs, samples, samples_long and ops can be read here: %s", engine.Message)
	case strings.Contains(engine.Message, "not found in FROM clause"):
		return answer.InputError("query: %s; write text in single quotes", engine.Message)
	default:
		return answer.InputError("query: %s", engine.Message)
	}
}
