package benchmarks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
)

// rewriteRole is the variable that makes the test binary a process that does no more than read the rows of a store and write them into
// large files.
const rewriteRole = "NEUROLENS_SCALE_REWRITE"

// The most that compacting may take, as a ratio to reading and writing the rows, how often both are measured, and the most that a question
// about the compacted store may take, as a ratio to the other one.
const (
	compactGoal   = 2
	compactRounds = 3
	compactedGoal = 1.1
)

// BenchmarkCompact compacts stores, as whole processes by turns with one that reads all rows of the same sealed files with parquet-go
// and writes them with the encodings of a compacted store into files of the same sizes, on all processors. That checks no hash and no digest, sorts
// nothing, knows nothing of removed runs and waits for no disk.
func BenchmarkCompact(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes[2:] {
		b.Run(r.name, func(b *testing.B) {
			dir := storeOf(b, r)
			var ours, floor series
			for range compactRounds {
				floor.add(rewritten(b, dir, compactedOf(b, r)))
				ours.add(compacted(b, neurolens, dir))
			}
			report(b, "parquet-go reading and writing the same rows", turns("store compact", &ours, &floor).within(compactGoal, commandMegabytes))
		})
	}
}

// compacted measures a compact into a folder that is removed.
func compacted(tb testing.TB, neurolens, dir string) measured {
	tb.Helper()
	out := outFolder(tb)
	defer os.RemoveAll(out)
	return start(tb, "NEUROLENS_FORMAT=", neurolens, "--store", dir, "store", "compact", "--into", filepath.Join(out, "store"))
}

// rewritten measures reading the rows and writing them like a compacted store.
func rewritten(tb testing.TB, dir, like string) measured {
	tb.Helper()
	self, err := os.Executable()
	must(tb, err)
	out := outFolder(tb)
	defer os.RemoveAll(out)
	return start(tb, rewriteRole+"=1", self, dir, like, out)
}

// rewrite reads the rows of the sealed files of a store and writes them, on all processors, into a file for each month and table, and one
// of about as many newest runs as a compacted store has in a file of their own. Their columns are encoded as those of another store are.
func rewrite(store, like, out string) error {
	schemas := map[*schema.Table]*parquet.Schema{}
	for _, t := range []*schema.Table{schema.Runs, schema.Samples} {
		var err error
		if schemas[t], err = schemaOf(like, t); err != nil {
			return err
		}
	}
	sealed, err := schema.ListZone(os.DirFS(store), schema.RunsDir)
	if err != nil {
		return err
	}
	slices.SortFunc(sealed, func(a, b schema.SealedFile) int { return cmp.Compare(a.First, b.First) })
	const newestFiles = 128 / perFile
	var groups [][]schema.SealedFile
	for i, f := range sealed {
		if i == 0 || i == len(sealed)-newestFiles || monthOf(f) != monthOf(sealed[i-1]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], f)
	}
	jobs := make(chan rewriting)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for j := range jobs {
				errs[i] = errors.Join(errs[i], j.write(store, out, schemas[j.table]))
			}
		})
	}
	for _, files := range groups {
		jobs <- rewriting{files, schema.Runs}
		jobs <- rewriting{files, schema.Samples}
	}
	close(jobs)
	workers.Wait()
	return errors.Join(errs...)
}

func monthOf(f schema.SealedFile) string { return schema.MonthOf(time.UnixMilli(f.Last)) }

// schemaOf gives the schema of a table, with the encodings of the first sealed file of a store.
func schemaOf(store string, t *schema.Table) (*parquet.Schema, error) {
	sealed, err := schema.ListZone(os.DirFS(store), schema.TableFolders[t])
	if err != nil {
		return nil, err
	}
	first := slices.MinFunc(sealed, func(a, b schema.SealedFile) int { return cmp.Compare(a.First, b.First) })
	content, err := os.ReadFile(filepath.Join(store, first.Path(schema.TableFolders[t])))
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	return file.Schema(), nil
}

// rewriting are sealed files of which the rows of a table become one file.
type rewriting struct {
	files []schema.SealedFile
	table *schema.Table
}

// write writes that file.
func (r rewriting) write(store, out string, columns *parquet.Schema) error {
	zone := schema.TableFolders[r.table]
	f, err := create(filepath.Join(out, r.files[len(r.files)-1].Path(zone)))
	if err != nil {
		return err
	}
	defer f.Close()
	w := parquet.NewGenericWriter[any](f, columns, parquet.MaxRowsPerRowGroup(gridFile))
	rows := make([]parquet.Row, perFile)
	for _, from := range r.files {
		content, err := os.ReadFile(filepath.Join(store, from.Path(zone)))
		if err != nil {
			return err
		}
		if err := rewriteRows(w, content, rows); err != nil {
			return err
		}
	}
	return w.Close()
}

// rewriteRows adds the rows of a file.
func rewriteRows(w *parquet.GenericWriter[any], content []byte, rows []parquet.Row) error {
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		for {
			n, err := reader.ReadRows(rows)
			if _, err := w.WriteRows(rows[:n]); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		if err := reader.Close(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkCompacted asks a compacted store what it asks the store that it was made from, by turns.
func BenchmarkCompacted(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes[2:] {
		b.Run(r.name, func(b *testing.B) {
			before, after := storeOf(b, r), compactedOf(b, r)
			var lines []line
			for _, c := range r.questions() {
				var ours, theirs series
				for range rounds {
					theirs.add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", before}, c.args...)...))
					ours.add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", after}, c.args...)...))
				}
				if !bytes.Equal(ours.out, theirs.out) {
					b.Errorf("%s: the compacted store answers %q, the other one %q", c.name, ours.out, theirs.out)
				}
				lines = append(lines, turns(c.name, &ours, &theirs).within(c.goal, commandMegabytes))
			}
			report(b, "the same of the store before", lines...)
		})
	}
}

// compactedOf gives the directory of the compacted store, which it makes where it is not there.
func compactedOf(tb testing.TB, r recipe) string {
	tb.Helper()
	from := storeOf(tb, r)
	return made(tb, r.name+".compact", func(dir string) error {
		_, err := ingest.Compact(context.Background(), from, dir, "scale", func(ingest.LeftOut) {})
		return err
	})
}

// questions returns asked of both stores: about the newest runs, about all, about one point, and about sessions, new and old.
func (r recipe) questions() []command {
	file := r.runs / perFile / 2
	one, two := r.sweep(file), r.sweep(file+1)
	return []command{
		{"ls, newest 20", []string{"ls", "--format", "plain", "--limit", "20"}, compactedGoal},
		{"ls, a column, few runs match", []string{"ls", "--format", "plain", "--limit", "20", "p50>53.9ms"}, compactedGoal},
		{"ls, a parameter, a fifth match", []string{"ls", "--format", "plain", "--limit", "20", "dim=64"}, compactedGoal},
		{"ls, a table, a column, few runs match", []string{"ls", "--format", "table", "p50>53.9ms"}, compactedGoal},
		{"query, count", []string{"query", "--format", "plain", "SELECT count(*) FROM runs"}, compactedGoal},
		{"query, count with a filter", []string{"query", "--format", "plain", "SELECT count(*) FROM runs WHERE p50 > 53.9e6"}, compactedGoal},
		{"history of a point", []string{"history", "--format", "csv", "backend=cpu", "batch_size=1", "dim=64"}, compactedGoal},
		{"compare, newest session", []string{"compare", "--format", "csv", "session=last~1", "session=last"}, compactedGoal},
		{"compare, an old session", []string{"compare", "--format", "csv", "session=" + one.Next().SessionID, "session=" + two.Next().SessionID}, compactedGoal},
	}
}
