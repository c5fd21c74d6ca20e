package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// maxValues is how many values the result of a user's text may have: more is not for reading, and is kept in memory
// twice.
const maxValues = 10_000_000

// SQL answers one SELECT over the views runs, samples (with `values`, the samples in the unit), samples_long (run_id,
// metric, unit, i from 0, value) and ops; num(x) is the number that a text is written as. The time zone is UTC.
//
// The text reaches nothing outside the files of the stores and changes nothing: it has to pass as one SELECT, and runs
// in a DuckDB of its own that may open these files alone and whose settings are locked. A text that does not pass, or
// that fails as it runs, is an ErrInput of one line.
func (db *DB) SQL(ctx context.Context, text string) (Table, error) {
	var t Table
	err := db.retry(ctx, db.list, func(files []file) error {
		e, err := openEngine(db.opts)
		if err != nil {
			return err
		}
		t, err = e.sandboxed(ctx, files, text)
		return errors.Join(err, e.close())
	})
	if err != nil {
		return Table{}, queryError(err)
	}
	return t, nil
}

// sandboxed answers a text of a user in an engine that nothing else uses.
func (e *engine) sandboxed(ctx context.Context, files []file, text string) (Table, error) {
	c, err := e.connect(ctx)
	if err != nil {
		return Table{}, err
	}
	defer func() { _ = c.Close() }() // in memory: there is nothing to lose
	renamed, err := c.gate(ctx, text)
	if err != nil {
		return Table{}, err
	}
	for _, s := range sandbox(files) {
		if _, err := c.exec(ctx, s); err != nil {
			return Table{}, err
		}
	}
	t, err := c.tableAtMost(ctx, statement{text: text}, maxValues)
	t.setUnits(renamed)
	return t, err
}

// sandbox are the statements that make the views and then lock the engine in. allowed_paths names files, not
// directories: so no COPY, glob or read_text reaches anything else in a store.
func sandbox(files []file) []string {
	return []string{
		"CREATE VIEW runs AS " + runsSQL(files),
		"CREATE VIEW samples AS " + samplesSQL(files),
		"CREATE VIEW samples_long AS " + samplesLongSQL("samples"),
		"CREATE VIEW ops AS " + opsSQL(files),
		"CREATE MACRO num(x) AS " + num("x"),
		"SET TimeZone = 'UTC'",
		"SET allowed_paths = " + textList(allowed(files)),
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}
}

// notAskers are the classes of errors that no other text of the same meaning would avoid.
var notAskers = []duckdb.ErrorType{
	duckdb.ErrorTypeIO, duckdb.ErrorTypeOutOfMemory, duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeSerialization,
}

func queryError(err error) error {
	var engine *engineErr
	switch {
	case !errors.As(err, &engine):
		return err
	case slices.Contains(notAskers, engine.kind):
		return fmt.Errorf("query: %w", err)
	case strings.Contains(engine.message, "disabled by configuration"), engine.kind == duckdb.ErrorTypePermission:
		return input("query: only runs, samples, samples_long and ops can be read here: %s", engine.message)
	default:
		return input("query: %s", engine.message)
	}
}
