// Package export writes tables of a store as files: Parquet, Arrow, CSV, JSON Lines.
//
// DuckDB writes a table in one statement (formats.go); of more than a thousand runs in parts, as sorting all rows of a large
// store takes more memory than there may be (parts.go). Arrow has a writer of its own (arrow.go). Whole runs, a line each with
// its samples and ops, are what ingest reads back (whole.go). In a directory no file gets its name before all are complete
// (dir.go).
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Format is a file format of an export.
type Format string

// The formats; the extension of a file's name is the same word. Arrow is a stream on Stdout and a file in a directory.
// In CSV and JSON Lines times are RFC 3339. In CSV lists and maps are JSON, and NULL is an empty field, an empty text "".
// JSON has no number for NaN and the infinities: there they are null.
const (
	Parquet Format = "parquet"
	Arrow   Format = "arrow"
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
)

// Request says what Write writes where.
type Request struct {
	Dest      string    // a directory, made where there is none; "-" is Stdout
	Format    Format    // of all files
	Table     string    // runs, samples, samples_long, ops or whole; empty: runs to Stdout, whole in JSON Lines; runs, samples and, where there are any, ops to a directory
	Filter    string    // in the filter language; empty matches every run
	Overwrite bool      // replace files of the same name; else they are an ErrInput
	Stdout    io.Writer // where Dest is "-"
	CSVRaw    bool      // texts that a spreadsheet takes for formulas stay as they are; else they get an apostrophe before them
}

// Result is what Write wrote.
type Result struct {
	Files      []File
	NotNumbers map[string]int // as in Listing
}

// File is one file, or what went to Stdout (Path is "-").
type File struct {
	Path  string
	Table string
	Rows  int64
}

// Write writes tables, ordered by run, as files <table>.<format>. All are written in a directory .export-* inside the
// destination first and renamed when the last is complete: until then an error leaves what was there. What stops it between
// two of the renames, a kill or a refusal of the file system, leaves files that are each complete, but some of this export
// beside some of an earlier one; the same export with Overwrite mends that. A killed process leaves .export-* too, which
// may be removed. A destination that is inside a store, or that the file system refuses, is an ErrInput.
func Write(ctx context.Context, db *query.DB, req Request) (Result, error) {
	if err := check(db, req); err != nil {
		return Result{}, err
	}
	var done Result
	err := db.Stores().Ask(ctx, func(r *scan.Reader) error {
		x := &exporter{Reader: r, temp: db.Stores().TempDir, src: r.Src, runs: -1, req: req}
		var err error
		switch {
		case strings.TrimSpace(req.Filter) != "":
			done.NotNumbers, err = x.choose(ctx)
		case req.Format == Arrow || r.Src.Runs() > atOnce:
			err = x.chooseAll(ctx)
		}
		if err != nil {
			return err
		}
		done.Files, err = x.export(ctx)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return done, nil
}

// exportable are the tables by name.
var exportable = []string{"runs", "samples", "samples_long", "ops", wholeTable}

func check(db *query.DB, req Request) error {
	switch req.Format {
	case Parquet, Arrow, CSV, JSONL:
	default:
		return fault.Input("export: format %q: want parquet, arrow, csv or jsonl", req.Format)
	}
	if req.Table != "" && !slices.Contains(exportable, req.Table) {
		return fault.Input("export: table %q: want one of %s", req.Table, strings.Join(exportable, " "))
	}
	if req.Table == wholeTable && req.Format != JSONL {
		return fault.Input("export: table %s is written as jsonl only", wholeTable)
	}
	if req.Dest == "-" {
		return nil
	}
	if req.Dest == "" {
		return fault.Input("export: a destination is missing")
	}
	if format := formatOfFile(req.Dest); format != "" {
		return fault.Input("export: %s: want a directory, because there are several files; for one file: neurolens export - --format %s > %s", req.Dest, format, req.Dest)
	}
	dest, err := Resolved(req.Dest)
	if err != nil {
		return destError(req.Dest, err)
	}
	if store := db.Stores().Holds(dest); store != "" {
		return fault.Input("export: %s is inside the store %s", req.Dest, store)
	}
	return nil
}

// formats are the formats of files by how their names end, for somebody who names a file in place of a directory.
var formats = map[string]Format{
	".parquet": Parquet, ".pq": Parquet, ".arrow": Arrow, ".arrows": Arrow, ".csv": CSV, ".jsonl": JSONL, ".ndjson": JSONL, ".json": JSONL,
}

// formatOfFile is the format that a destination has by its name; empty where it is there already, or its name says none.
func formatOfFile(dest string) Format {
	if _, err := os.Stat(dest); err == nil {
		return ""
	}
	return formats[strings.ToLower(filepath.Ext(dest))]
}

// Resolved is a path without symbolic links, where its last parts may not exist yet.
func Resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		parent, err := Resolved(filepath.Dir(path))
		return filepath.Join(parent, filepath.Base(path)), err
	}
	return real, err
}

// exporter writes the tables of chosen runs.
type exporter struct {
	*scan.Reader
	src   *scan.Sources // that can hold the runs
	among string        // SQL that keeps of a subquery before it the chosen runs
	where string        // SQL that holds for the chosen runs; empty: nothing is known
	ids   []schema.ULID // of the chosen runs
	runs  int           // how many are chosen; -1: all, which are not in ids
	req   Request
	temp  string // the directory for temporary files
}

// choose finds the runs of the filter, and which files can hold them.
func (x *exporter) choose(ctx context.Context) (notNumbers map[string]int, err error) {
	sel, err := x.Selected(ctx, scan.Question{Filter: x.req.Filter})
	if err != nil {
		return nil, err
	}
	found, err := x.Find(ctx, sel)
	if err != nil {
		return nil, err
	}
	if x.ids, err = x.ListFound(ctx, sel, 0); err != nil {
		return nil, err
	}
	x.src, x.runs = x.Reader.Src.Of(x.ids), len(x.ids)
	x.among = " SEMI JOIN (SELECT run_id FROM found WHERE matches) USING (run_id)"
	return found.NotNumbers, nil
}

// chooseAll lists all runs.
func (x *exporter) chooseAll(ctx context.Context) error {
	found, err := x.Newest(ctx, 0)
	x.ids, x.runs = found.IDs, len(found.IDs)
	return err
}

func (x *exporter) export(ctx context.Context) ([]File, error) {
	if x.req.Dest == "-" {
		f, err := x.toStdout(ctx)
		return []File{f}, err
	}
	return x.toDirectory(ctx)
}

// toStdout writes a table to a temporary file first, so that a failure half way leaves no half of it on Stdout.
func (x *exporter) toStdout(ctx context.Context) (f File, err error) {
	table := x.req.Table
	switch {
	case table == "" && x.req.Format == JSONL:
		table = wholeTable
	case table == "":
		table = "runs"
	}
	dir, err := os.MkdirTemp(x.temp, "neurolens-export-")
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	temporary := filepath.Join(dir, table)
	f = File{Path: "-", Table: table}
	if f.Rows, err = x.copyTo(ctx, table, temporary); err != nil {
		return f, err
	}
	whole, err := os.Open(temporary)
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, whole.Close()) }()
	if _, err := io.Copy(x.req.Stdout, whole); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	return f, nil
}
