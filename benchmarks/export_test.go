package benchmarks

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/schema"
)

// copyRole is the variable that makes the test binary a DuckDB process that copies the tables of a store.
const copyRole = "NEUROLENS_SCALE_COPY"

// exportGoal is the most that an export may take, as a ratio to DuckDB's COPY of the same tables, and exportRounds how often both are
// measured.
const (
	exportGoal   = 2
	exportRounds = 3
)

// exportFormats are the formats that are measured, with the options of a COPY.
var exportFormats = []struct{ name, options string }{
	{"parquet", "FORMAT parquet, COMPRESSION zstd"},
	{"csv", "FORMAT csv, HEADER true"},
	{"jsonl", "FORMAT json"},
}

// BenchmarkExport measures the export of all columns of the runs and samples of 100,000 runs, as whole processes by turns with DuckDB's COPY
// of the same files. COPY knows nothing of events, and writes the rows in any order; the export leaves out removed runs and is sorted by run.
// A COPY of ten times as many files needs more memory than most machines have.
func BenchmarkExport(b *testing.B) {
	neurolens, dir := program(b), storeOf(b, recipes[2])
	var lines []line
	for _, format := range exportFormats {
		var ours, theirs series
		for range exportRounds {
			ours.add(exported(b, neurolens, dir, format.name))
			theirs.add(copied(b, dir, format.options))
		}
		lines = append(lines, turns(format.name, &ours, &theirs).within(exportGoal, commandMegabytes))
	}
	report(b, "COPY of DuckDB of the same files", lines...)
}

// exported measures the export of a store into a folder that is removed.
func exported(tb testing.TB, neurolens, dir, format string) measured {
	tb.Helper()
	out := outFolder(tb)
	defer os.RemoveAll(out)
	return start(tb, "NEUROLENS_FORMAT=", neurolens, "--store", dir, "export", out, "--format", format)
}

// copied measures a COPY of the same tables.
func copied(tb testing.TB, dir, options string) measured {
	tb.Helper()
	self, err := os.Executable()
	must(tb, err)
	out := outFolder(tb)
	defer os.RemoveAll(out)
	return start(tb, copyRole+"=1", self, dir, out, options)
}

// outFolder returns a new folder on the disk of the stores.
func outFolder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp(scaleDir(tb), "export.part-")
	must(tb, err)
	return dir
}

// copyTables returns the process that copies all columns of the sealed runs and samples of a store into a folder, and the samples in their
// units.
func copyTables(store, out, options string) error {
	connector, err := duckdb.NewConnector(":memory:", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), "SET preserve_insertion_order = false"); err != nil {
		return err
	}
	for folder, columns := range map[string]string{
		schema.RunsDir:    "*",
		schema.SamplesDir: `*, CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END AS "values"`,
	} {
		text := fmt.Sprintf("COPY (SELECT %s FROM read_parquet('%s')) TO '%s' (%s)",
			columns, filepath.Join(store, folder, "*", "*.parquet"), filepath.Join(out, folder), options)
		if _, err := db.ExecContext(context.Background(), text); err != nil {
			return err
		}
	}
	return nil
}
