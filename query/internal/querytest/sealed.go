package querytest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// LiveStore makes a store of runs that are in live files: stores with few runs are not sealed.
func LiveStore(t testing.TB, runs ...schema.Run) string {
	t.Helper()
	dir := NewStore(t)
	for few := range slices.Chunk(runs, 7) {
		Append(t, dir, few...)
	}
	valuetest.Equal(t, len(LiveFiles(t, dir)), len(runs), "some are sealed")
	return dir
}

func LiveFiles(t testing.TB, store string) []string {
	t.Helper()
	files, err := filepath.Glob(store + "/live/*/*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	return files
}

// Seal seals runs into one file of a store.
func Seal(t testing.TB, dir string, runs ...schema.Run) schema.SealedFile {
	t.Helper()
	rows := slices.SortedFunc(slices.Values(runs), func(a, b schema.Run) int { return strings.Compare(a.RunID, b.RunID) })
	var ids []schema.ULID
	for _, r := range rows {
		id := valuetest.Must(schema.ParseULID(r.RunID))
		ids = append(ids, id)
	}
	name := schema.NewSealedFile(schema.NewClaim(time.Now(), ids), ids)
	WriteTable(t, filepath.Join(dir, name.Path(schema.RunsDir)), schema.Runs, nil, func(r *schema.Run) [][]any {
		return [][]any{schema.RunRow(r, schema.DigestOf(r))}
	}, rows)
	WriteTable(t, filepath.Join(dir, name.Path(schema.SamplesDir)), schema.Samples, nil, func(r *schema.Run) (all [][]any) {
		metrics := slices.SortedFunc(slices.Values(r.Metrics), func(a, b schema.Metric) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range metrics {
			all = append(all, append([]any{r.RunID}, schema.MetricRow(&m)...))
		}
		return all
	}, rows)
	if slices.ContainsFunc(runs, func(r schema.Run) bool { return len(r.Ops) > 0 }) {
		WriteTable(t, filepath.Join(dir, name.Path(schema.OpsDir)), schema.Ops, nil, func(r *schema.Run) (all [][]any) {
			for _, o := range r.Ops {
				all = append(all, append([]any{r.RunID}, schema.OpRow(&o)...))
			}
			return all
		}, rows)
	}
	return name
}

func WriteTable(t testing.TB, path string, of *schema.Table, covers []schema.ULID, rowsOf func(*schema.Run) [][]any, runs []schema.Run) {
	t.Helper()
	f, err := CreateTable(path, of, covers)
	valuetest.OK(t, err)
	for _, r := range runs {
		for _, row := range rowsOf(&r) {
			err = errors.Join(err, f.Write(row))
		}
	}
	if err = errors.Join(err, f.Finish()); err != nil {
		t.Fatal(err)
	}
}

// Pack writes a Pack of sealed files with their runs.
func Pack(t testing.TB, dir string, files []schema.SealedFile, runs ...schema.Run) schema.SealedFile {
	t.Helper()
	name := schema.SealedFile{ID: schema.NewULID(time.Now()), First: files[0].First, Rows: len(runs)}
	var covers []schema.ULID
	for _, f := range files {
		name.First, name.Last = min(name.First, f.First), max(name.Last, f.Last)
		covers = append(covers, f.ID)
	}
	slices.SortFunc(covers, func(a, b schema.ULID) int { return bytes.Compare(a[:], b[:]) })
	rows := slices.SortedFunc(slices.Values(runs), func(a, b schema.Run) int { return strings.Compare(a.RunID, b.RunID) })
	WriteTable(t, filepath.Join(dir, name.Path(schema.PacksDir)), schema.Runs, covers, func(r *schema.Run) [][]any {
		return [][]any{schema.RunRow(r, schema.DigestOf(r))}
	}, rows)
	return name
}

// SealedRuns makes a store in which all runs are sealed, which is faster to read.
func SealedRuns(t *testing.T, runs []schema.Run) *query.DB {
	t.Helper()
	dir := NewStore(t)
	s, err := ingest.Open(dir, "test")
	valuetest.OK(t, err)
	_, err = s.AppendAll(runtest.Each(runs...))
	valuetest.OK(t, errors.Join(err, s.Close()))
	return Open(t, dir)
}

// TableFile is a sealed file under construction.
type TableFile struct {
	*table.Writer
	file *os.File
}

func CreateTable(path string, t *schema.Table, covers []schema.ULID) (*TableFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &TableFile{table.NewWriter(f, t, "test", covers), f}, nil
}

// Finish writes the end and closes the file.
func (t *TableFile) Finish() error { return errors.Join(t.Close(), t.file.Close()) }
