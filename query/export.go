package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Format is a file format of an export.
type Format string

// The formats; the extension of a file's name is the same word. In CSV and JSON Lines times are RFC 3339. In CSV lists
// and maps are JSON, and NULL is an empty field, an empty text "". JSON has no number for NaN and the infinities: there
// they are null.
const (
	FormatParquet Format = "parquet"
	FormatCSV     Format = "csv"
	FormatJSONL   Format = "jsonl"
)

// ExportRequest says what Export writes where.
type ExportRequest struct {
	Dest      string    // a directory, made where there is none; "-" is Stdout
	Format    Format    // of all files
	Table     string    // runs, samples, samples_long or ops; empty: runs to Stdout; runs, samples and, where there are any, ops to a directory
	Filter    string    // in the filter language; empty matches every run
	Overwrite bool      // replace files of the same name; else they are an ErrInput
	Stdout    io.Writer // where Dest is "-"
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

// Export writes tables, ordered by run, as files <table>.<format>. Each is written under another name and renamed when it
// is complete. A destination inside a store is an ErrInput.
func (db *DB) Export(ctx context.Context, req ExportRequest) (Exported, error) {
	if err := db.checkExport(req); err != nil {
		return Exported{}, err
	}
	var done Exported
	err := db.ask(ctx, func(c *conn, all []file) error {
		ch := &chooser{conn: c, all: all}
		found, err := ch.choose(ctx, question{filter: req.Filter})
		if err != nil {
			return err
		}
		done = Exported{NotNumbers: found.notNumbers}
		x := &exporter{conn: c, files: found.files, req: req}
		done.Files, err = x.export(ctx)
		return err
	})
	if err != nil {
		return Exported{}, err
	}
	return done, nil
}

// exportable are the tables by name.
var exportable = []string{"runs", "samples", "samples_long", "ops"}

func (db *DB) checkExport(req ExportRequest) error {
	switch req.Format {
	case FormatParquet, FormatCSV, FormatJSONL:
	default:
		return input("export: format %q: want parquet, csv or jsonl", req.Format)
	}
	if req.Table != "" && tableSQL(req.Table, nil) == "" {
		return input("export: table %q: want one of %s", req.Table, strings.Join(exportable, " "))
	}
	if req.Dest == "-" {
		return nil
	}
	if req.Dest == "" {
		return input("export: a destination is missing")
	}
	dest, err := resolved(req.Dest)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for _, s := range db.stores {
		if dest == s.path || strings.HasPrefix(dest, strings.TrimSuffix(s.path, "/")+"/") {
			return input("export: %s is inside the store %s", req.Dest, s.dir)
		}
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
	conn  *conn
	files []file
	req   ExportRequest
}

func (x *exporter) export(ctx context.Context) ([]ExportedFile, error) {
	if x.req.Dest == "-" {
		f, err := x.toStdout(ctx)
		return []ExportedFile{f}, err
	}
	if err := os.MkdirAll(x.req.Dest, 0o777); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	tables := []string{x.req.Table}
	if x.req.Table == "" {
		tables = []string{"runs", "samples", "ops"}
	}
	for _, table := range tables {
		if path := x.path(table); !x.req.Overwrite && exists(path) {
			return nil, input("export: %s is there already", path)
		}
	}
	var done []ExportedFile
	for _, table := range tables {
		f, err := x.toFile(ctx, table)
		if err != nil {
			return nil, err
		}
		if f.Rows > 0 || table != "ops" || x.req.Table != "" {
			done = append(done, f)
		}
	}
	return done, nil
}

func (x *exporter) path(table string) string {
	return filepath.Join(x.req.Dest, table+"."+string(x.req.Format))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// toFile writes a table under its name, but not ops that there are none of.
func (x *exporter) toFile(ctx context.Context, table string) (f ExportedFile, err error) {
	dir, err := os.MkdirTemp(x.req.Dest, ".export-")
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	temporary := filepath.Join(dir, table)
	f = ExportedFile{Path: x.path(table), Table: table}
	if f.Rows, err = x.copyTo(ctx, table, temporary); err != nil {
		return f, err
	}
	if f.Rows == 0 && table == "ops" && x.req.Table == "" {
		return f, removeStale(f.Path)
	}
	if err := os.Rename(temporary, f.Path); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	return f, nil
}

// removeStale removes the file of an earlier export, if there is one: it would not belong to the others.
func removeStale(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// toStdout writes a table to a temporary file first, so that a failure half way leaves no half of it on Stdout.
func (x *exporter) toStdout(ctx context.Context) (f ExportedFile, err error) {
	table := x.req.Table
	if table == "" {
		table = "runs"
	}
	dir, err := os.MkdirTemp("", "neurolens-export-")
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
