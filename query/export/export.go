// Package export writes tables of a store to files: Parquet, Arrow, CSV and JSON Lines.
//
// DuckDB writes a table in one statement (formats.go). More than a thousand runs are written in parts, because sorting all rows of a large
// store may need too much memory (parts.go). Arrow has its own writer (arrow.go). Whole runs, one line each with samples and ops, can be
// read back by ingest (whole.go). In a directory, no file gets its name before all files are complete (dir.go).
//
// WriteFolder writes stored runs into a folder in the layout of another benchmark system: it reads the runs, passes them to package
// layout, and adds the files that the runs produced.
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
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Format is a file format of an export.
type Format string

// The formats, which are also the extensions of files. Arrow is a stream on Stdout, and a file in a directory. In CSV and JSON Lines,
// times are RFC 3339. In CSV, lists and maps are JSON, NULL is an empty field, and an empty text is "". In JSON Lines, NaN and infinities
// are null. OpenMetrics has no tables, but the newest result of each point.
const (
	Parquet Format = "parquet"
	Arrow   Format = "arrow"
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	// OpenMetrics is a text for Prometheus.
	OpenMetrics Format = "openmetrics"
)

// Request selects the runs, tables, format and destination.
type Request struct {
	Dest   string // a directory, which is created if it does not exist; "-" is Stdout
	Format Format // format of all files
	// Tables are some of runs, samples, samples_long, ops and whole; Stdout takes one. Empty: to Stdout runs, in JSON Lines whole; to
	// a directory runs, samples and, if there are any, ops.
	Tables    []string
	Filter    string    // selects the runs; empty: all
	Session   string    // selects the runs of a session by its whole id, in place of Filter; no runs are no error
	Counted   []string  // with Session: ids of more runs
	Overwrite bool      // replace existing files; otherwise they are an ErrInput
	Stdout    io.Writer // used if Dest is "-"
	Flat      bool      // a column for each parameter and tag, and no other maps; see flat.go
	SI        bool      // with Flat: seconds, joules, watts and hertz in place of ns, mJ, mW and MHz
	CSVRaw    bool      // do not put an apostrophe in front of texts that a spreadsheet would treat as formulas
}

// Result describes what Write did.
type Result struct {
	Files      []File
	NotNumbers map[string]int    // as in query.Found
	Renamed    map[string]string // with Flat: the columns of parameters whose names other columns have
}

// File is a file that was written, or the output to Stdout (Path is "-").
type File struct {
	Path  string
	Table string
	Rows  int64
}

// Write writes tables, sorted by run, to files <table>.<format>. All files are first written to a directory .export-* inside the
// destination, and renamed when all are complete; an error before that changes nothing. If it is interrupted between two renames, each
// file is complete, but files of this export may be next to files of an earlier one; repeating the export with Overwrite fixes that. A
// killed process leaves .export-* behind, which can be removed. A destination that is inside a store, or that cannot be used, is an
// ErrInput.
func Write(ctx context.Context, db *query.DB, req Request) (Result, error) {
	if err := check(db, req); err != nil {
		return Result{}, err
	}
	var done Result
	err := db.Stores().Query(ctx, func(r *scan.Reader) error {
		x := &exporter{Reader: r, temp: db.Stores().TempDir, src: r.Src, runs: -1, req: req}
		var err error
		switch {
		case req.Session != "":
			err = x.chooseSession(ctx)
		case strings.TrimSpace(req.Filter) != "":
			done.NotNumbers, err = x.choose(ctx)
		case req.Format == Arrow || r.Src.Runs() > atOnce:
			err = x.chooseAll(ctx)
		}
		if err != nil {
			return err
		}
		if req.Flat {
			if err := x.findEntries(ctx); err != nil {
				return err
			}
			done.Renamed = x.renamed()
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

// tablesAs returns the tables that can be written in a format.
func tablesAs(format Format) []string {
	if format == JSONL {
		return exportable
	}
	return slices.DeleteFunc(slices.Clone(exportable), func(table string) bool { return table == wholeTable })
}

func check(db *query.DB, req Request) error {
	switch req.Format {
	case Parquet, Arrow, CSV, JSONL:
	case OpenMetrics:
		switch {
		case req.Dest != "-":
			return answer.InputError("export: openmetrics is one text, got the folder %s: neurolens export - --format openmetrics > FILE", req.Dest)
		case len(req.Tables) > 0 || req.Flat:
			return answer.InputError("export: openmetrics has the newest result of each point, and no tables")
		}
	default:
		return answer.InputError("export: format %q: want parquet, arrow, csv, jsonl or openmetrics", req.Format)
	}
	for i, table := range req.Tables {
		switch {
		case !slices.Contains(exportable, table):
			return answer.InputError("export: table %q: want one of %s", table, strings.Join(tablesAs(req.Format), " "))
		case table == wholeTable && req.Format != JSONL:
			return answer.InputError("export: table %s is written as jsonl only", wholeTable)
		case table == wholeTable && req.Flat:
			return answer.InputError("export: whole runs are not flat: want one of %s", strings.Join(tablesAs(CSV), " "))
		case slices.Contains(req.Tables[:i], table):
			return answer.InputError("export: table %s appears twice", table)
		}
	}
	if req.Dest == "-" {
		if len(req.Tables) > 1 {
			return answer.InputError("export: standard output takes one table, got %s: name a folder for several", strings.Join(req.Tables, " "))
		}
		return nil
	}
	if req.Dest == "" {
		return answer.InputError("export: the destination is missing")
	}
	if format := formatOfFile(req.Dest); format != "" {
		return answer.InputError("export: %s: want a directory, because there are several files; for one file: neurolens export - --format %s > %s", req.Dest, format, req.Dest)
	}
	dest, err := Resolved(req.Dest)
	if err != nil {
		return destError(req.Dest, err)
	}
	if store := db.Stores().Holds(dest); store != "" {
		return answer.InputError("export: %s is inside the store %s", req.Dest, store)
	}
	return nil
}

// formats are the formats by file extension, for users who give a file instead of a directory.
var formats = map[string]Format{
	".parquet": Parquet, ".pq": Parquet, ".arrow": Arrow, ".arrows": Arrow, ".csv": CSV, ".jsonl": JSONL, ".ndjson": JSONL, ".json": JSONL, ".prom": OpenMetrics,
}

// formatOfFile returns the format of a destination by its extension; empty if it exists already or has no such extension.
func formatOfFile(dest string) Format {
	if _, err := os.Stat(dest); err == nil {
		return ""
	}
	return formats[strings.ToLower(filepath.Ext(dest))]
}

// Resolved returns an absolute path without symbolic links. Its last parts need not exist.
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
	src   *scan.Sources // sources that may have the runs
	among string        // SQL that follows a subquery and restricts it to the chosen runs
	where string        // SQL condition that holds for the chosen runs; empty: none
	ids   []schema.ULID // ids of the chosen runs
	runs  int           // number of chosen runs; -1: all, and ids is not set
	req   Request
	temp  string // directory for temporary files

	entries []mapEntry // with Flat: the entries of all chosen runs
}

// choose finds the runs of the filter, and the files that may have them.
func (x *exporter) choose(ctx context.Context) (notNumbers map[string]int, err error) {
	sel, err := x.Selected(ctx, scan.Question{Filter: x.req.Filter})
	if err != nil {
		return nil, err
	}
	found, err := x.Sorted(ctx, sel, 0)
	if err != nil {
		return nil, err
	}
	x.setFound(found.IDs)
	return found.NotNumbers, nil
}

// chooseSession finds the runs of the session and the counted runs. A filter with all their ids may be too long.
func (x *exporter) chooseSession(ctx context.Context) error {
	columns := scan.WithRunID([]*schema.Column{schema.RunColumn("session_id")})
	text := "SELECT run_id, true AS matches FROM " + x.src.Scan(columns, scan.SessionRuns(x.req.Session, x.req.Counted))
	if _, err := x.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE found AS "+text); err != nil {
		return err
	}
	ids, err := x.ListIDs(ctx, duck.Statement{SQL: "SELECT run_id FROM found ORDER BY run_id DESC"})
	if err != nil {
		return err
	}
	x.setFound(ids)
	return nil
}

// setFound chooses runs: those that match in the table found.
func (x *exporter) setFound(ids []schema.ULID) {
	x.ids, x.src, x.runs = ids, x.Reader.Src.Of(ids), len(ids)
	x.among = " SEMI JOIN (SELECT run_id FROM found WHERE matches) USING (run_id)"
}

// chooseAll lists all runs.
func (x *exporter) chooseAll(ctx context.Context) error {
	found, _, err := x.NewestRows(ctx, 0, nil)
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

// tables returns the tables that are written.
func (x *exporter) tables() []string {
	switch {
	case len(x.req.Tables) > 0:
		return x.req.Tables
	case x.req.Dest != "-":
		return []string{"runs", "samples", "ops"}
	case x.req.Format == JSONL && !x.req.Flat:
		return []string{wholeTable}
	}
	return []string{"runs"}
}

// toStdout writes a table to a temporary file first, so that a failure does not leave half of it on Stdout.
func (x *exporter) toStdout(ctx context.Context) (f File, err error) {
	table := x.tables()[0]
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
