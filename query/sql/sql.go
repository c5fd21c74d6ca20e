// Package sql answers SQL that users write, over the views runs, samples, samples_long and ops of stores, and gives the
// same views to other DuckDBs.
//
// A text passes a gate (gate.go), which lets one SELECT through, and then runs in an engine of its own that is locked in:
// it opens the files of the stores alone and can change nothing (sandbox).
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
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// maxValues is how many values the result of a user's text may have: more is not for reading, and is kept in memory
// twice.
const maxValues = 10_000_000

// ErrMemory is an ErrInput: a text of SQL needs more memory than Options allow.
var ErrMemory = fault.Input("query: it needs more memory than its limit")

// Select answers one SELECT over the views runs, samples (with `values`, the samples in the unit), samples_long (run_id,
// metric, unit, i from 0, value) and ops; num(x) is the number that a text is written as. The time zone is UTC.
//
// The text reaches nothing outside the files of the stores and changes nothing: it has to pass as one SELECT, and runs
// in a DuckDB of its own that may open these files alone and whose settings are locked. A text that does not pass, or
// that fails as it runs, is an ErrInput of one line.
func Select(ctx context.Context, db *query.DB, text string) (answer.Table, error) {
	var t answer.Table
	err := db.Stores().Elsewhere(ctx, func(s *scan.Sources) error {
		e, release, err := db.Stores().OwnEngine()
		if err != nil {
			return err
		}
		defer release()
		t, err = answerSQL(ctx, e, s, text)
		return err
	})
	if err != nil {
		return answer.Table{}, queryError(err)
	}
	return t, nil
}

// annotations is the schema of the tables beside the views.
const annotations = "annotations"

// answerSQL answers a text of a user in an engine that nothing else uses.
func answerSQL(ctx context.Context, e *duck.Engine, s *scan.Sources, text string) (answer.Table, error) {
	c, passed, err := sandboxed(ctx, e, s, text)
	if err != nil {
		return answer.Table{}, err
	}
	defer func() { _ = c.Close() }() // in memory: there is nothing to lose
	t, err := c.TableAtMost(ctx, duck.Statement{SQL: text}, maxValues)
	t.SetUnits(passed.renamed)
	return t, err
}

// sandboxed opens the connection for a text of a user, which passed, in an engine that nothing else uses. Of all files
// it reaches those of the stores that the text speaks of, and others that are named here. Its caller closes it.
func sandboxed(ctx context.Context, e *duck.Engine, s *scan.Sources, text string, others ...string) (*duck.Conn, passed, error) {
	c, err := e.Connect(ctx)
	if err != nil {
		return nil, passed{}, err
	}
	p, err := gate(ctx, c, text)
	if err == nil {
		err = lockIn(ctx, c, s, p, others)
	}
	if err != nil {
		return nil, passed{}, errors.Join(err, c.Close())
	}
	return c, p, nil
}

// lockIn makes the views and takes all else away.
func lockIn(ctx context.Context, c *duck.Conn, s *scan.Sources, passed passed, others []string) error {
	s.Tables = annotations + "."
	if _, err := c.Exec(ctx, "CREATE SCHEMA "+annotations); err != nil {
		return err
	}
	r := &scan.Reader{Conn: c, Src: s}
	if err := r.Deduplicate(ctx); err != nil {
		return err
	}
	if err := r.ChangeAll(ctx); err != nil {
		return err
	}
	if passed.speaksOf("samples", "samples_long") {
		if err := r.CheckSamples(ctx); err != nil {
			return err
		}
	}
	for _, statement := range sandbox(s, passed, others...) {
		if _, err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// sandbox are the statements that make the views and then lock the engine in. A table that the text does not speak of
// has no rows, for it may be many files. allowed_paths names files, not directories: so no COPY, glob or read_text
// reaches anything else in a store.
func sandbox(s *scan.Sources, passed passed, others ...string) []string {
	samples, ops, runs := &scan.Sources{Stores: s.Stores}, &scan.Sources{Stores: s.Stores}, s
	paths := append(s.Paths(slices.Concat(s.Live, s.Read)), others...)
	if passed.speaksOf("samples", "samples_long") {
		samples = s
		paths = append(paths, s.Paths(s.Beside(schema.Samples))...)
	}
	if passed.speaksOf("ops") {
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
		"SET allowed_paths = " + scan.TextList(allowed(paths)),
		"SET enable_external_access = false",
	}
	if passed.wholeWindow {
		statements = append(statements, "SET threads = 1")
	}
	return append(statements, "SET lock_configuration = true")
}

// allowed are what has to be allowed for files to be read: DuckDB asks for the pattern and for the file.
func allowed(paths []string) []string {
	all := scan.Patterns(paths)
	for i, path := range paths {
		if all[i] != path {
			all = append(all, path)
		}
	}
	return all
}

// notAskers are the classes of errors that no other text of the same meaning would avoid.
var notAskers = []duckdb.ErrorType{
	duckdb.ErrorTypeIO, duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeSerialization,
}

func queryError(err error) error {
	var engine *duck.Error
	switch {
	case !errors.As(err, &engine):
		return err
	case engine.Kind == duckdb.ErrorTypeOutOfMemory:
		return ErrMemory
	case slices.Contains(notAskers, engine.Kind):
		return fmt.Errorf("query: %w", err)
	case strings.Contains(engine.Message, "disabled by configuration"), engine.Kind == duckdb.ErrorTypePermission:
		return fault.Input("query: only runs, samples, samples_long and ops can be read here: %s", engine.Message)
	case strings.Contains(engine.Message, "not found in FROM clause"):
		return fault.Input("query: %s; write text in single quotes", engine.Message)
	default:
		return fault.Input("query: %s", engine.Message)
	}
}
