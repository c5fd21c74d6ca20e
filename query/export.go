package query

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

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Format is a file format of an export.
type Format string

// The formats; the extension of a file's name is the same word. Arrow is a stream on Stdout and a file in a directory. In CSV and JSON Lines times are RFC 3339. In CSV lists
// and maps are JSON, and NULL is an empty field, an empty text "". JSON has no number for NaN and the infinities: there
// they are null.
const (
	FormatParquet Format = "parquet"
	FormatArrow   Format = "arrow"
	FormatCSV     Format = "csv"
	FormatJSONL   Format = "jsonl"
)

// ExportRequest says what Export writes where.
type ExportRequest struct {
	Dest      string    // a directory, made where there is none; "-" is Stdout
	Format    Format    // of all files
	Table     string    // runs, samples, samples_long, ops or whole; empty: runs to Stdout, whole in JSON Lines; runs, samples and, where there are any, ops to a directory
	Filter    string    // in the filter language; empty matches every run
	Overwrite bool      // replace files of the same name; else they are an ErrInput
	Stdout    io.Writer // where Dest is "-"
	CSVRaw    bool      // texts that a spreadsheet takes for formulas stay as they are; else they get an apostrophe before them
}

// Exported is what Export wrote.
type Exported struct {
	Files      []ExportedFile
	NotNumbers map[string]int // as in Listing
}

// ExportedFile is one file, or what went to Stdout (Path is "-").
type ExportedFile struct {
	Path  string
	Table string
	Rows  int64
}

// Export writes tables, ordered by run, as files <table>.<format>. All are written in a directory .export-* inside the
// destination first and renamed when the last is complete: until then an error leaves what was there. What stops it between
// two of the renames, a kill or a refusal of the file system, leaves files that are each complete, but some of this export
// beside some of an earlier one; the same export with Overwrite mends that. A killed process leaves .export-* too, which
// may be removed. A destination that is inside a store, or that the file system refuses, is an ErrInput.
func (db *DB) Export(ctx context.Context, req ExportRequest) (Exported, error) {
	if err := db.checkExport(req); err != nil {
		return Exported{}, err
	}
	var done Exported
	err := db.stores.Ask(ctx, func(r *scan.Reader) error {
		x := &exporter{Reader: r, temp: db.stores.TempDir, src: r.Src, runs: -1, req: req}
		var err error
		switch {
		case strings.TrimSpace(req.Filter) != "":
			done.NotNumbers, err = x.choose(ctx)
		case req.Format == FormatArrow || r.Src.Runs() > atOnce:
			err = x.chooseAll(ctx)
		}
		if err != nil {
			return err
		}
		done.Files, err = x.export(ctx)
		return err
	})
	if err != nil {
		return Exported{}, err
	}
	return done, nil
}

// exportable are the tables by name.
var exportable = []string{"runs", "samples", "samples_long", "ops", TableWhole}

func (db *DB) checkExport(req ExportRequest) error {
	switch req.Format {
	case FormatParquet, FormatArrow, FormatCSV, FormatJSONL:
	default:
		return fault.Input("export: format %q: want parquet, arrow, csv or jsonl", req.Format)
	}
	if req.Table != "" && !slices.Contains(exportable, req.Table) {
		return fault.Input("export: table %q: want one of %s", req.Table, strings.Join(exportable, " "))
	}
	if req.Table == TableWhole && req.Format != FormatJSONL {
		return fault.Input("export: table %s is written as jsonl only", TableWhole)
	}
	if req.Dest == "-" {
		return nil
	}
	if req.Dest == "" {
		return fault.Input("export: a destination is missing")
	}
	dest, err := resolved(req.Dest)
	if err != nil {
		return destError(req.Dest, err)
	}
	if store := db.stores.Holds(dest); store != "" {
		return fault.Input("export: %s is inside the store %s", req.Dest, store)
	}
	return nil
}

// resolved is a path without symbolic links, where its last parts may not exist yet.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		parent, err := resolved(filepath.Dir(path))
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
	req   ExportRequest
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

func (x *exporter) export(ctx context.Context) ([]ExportedFile, error) {
	if x.req.Dest == "-" {
		f, err := x.toStdout(ctx)
		return []ExportedFile{f}, err
	}
	return x.toDirectory(ctx)
}

// toStdout writes a table to a temporary file first, so that a failure half way leaves no half of it on Stdout.
func (x *exporter) toStdout(ctx context.Context) (f ExportedFile, err error) {
	table := x.req.Table
	switch {
	case table == "" && x.req.Format == FormatJSONL:
		table = TableWhole
	case table == "":
		table = "runs"
	}
	dir, err := os.MkdirTemp(x.temp, "neurolens-export-")
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	temporary := filepath.Join(dir, table)
	f = ExportedFile{Path: "-", Table: table}
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
