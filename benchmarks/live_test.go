package benchmarks

import (
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
)

// liveGoals are the most that a question may take where so many runs are live, each in a file of its own.
var liveGoals = []struct {
	name  string
	runs  int
	ratio float64
}{{"1k", 1_008, 2}, {"10k", 10_008, 4}}

// BenchmarkLive measures questions about runs that are not sealed, by turns with a bare DuckDB.
func BenchmarkLive(b *testing.B) {
	neurolens := program(b)
	for _, l := range liveGoals {
		b.Run(l.name, func(b *testing.B) {
			dir := liveStore(b, l.runs)
			benchmarkCommands(b, neurolens, dir, []command{
				{"ls, newest 20", []string{"ls", "--format", "plain", "--limit", "20"}, 0},
				{"ls, a column, few runs match", []string{"ls", "--format", "plain", "--limit", "20", slowFilter}, l.ratio},
				{"ls, a parameter, a fifth match", []string{"ls", "--format", "plain", "--limit", "20", "dim=64"}, l.ratio},
				{"ls, a table, a column, a third match", []string{"ls", "--format", "table", "backend=torch"}, l.ratio},
			})
			reportOverFiles(b, neurolens, dir)
		})
	}
}

// slowFilter is a filter, and slowSQL the same of the column in files.
const (
	slowFilter = "p50>53.9ms"
	slowSQL    = "p50 > 53.9e6"
)

// reportOverFiles measures a filter by turns with a DuckDB that counts the matching rows of the same files, and does nothing else. That is the
// least that an answer can take which opens each file with DuckDB.
func reportOverFiles(b *testing.B, neurolens, dir string) {
	b.Helper()
	files := filepath.Join(dir, schema.LiveDir, "*", "*.parquet")
	var ours, theirs series
	for range rounds {
		ours.add(start(b, "NEUROLENS_FORMAT=", neurolens, "--store", dir, "ls", "--format", "plain", "--limit", "20", slowFilter))
		theirs.add(askDuckDB(b, "SELECT count(*) FROM read_parquet('"+files+"') WHERE "+slowSQL))
	}
	report(b, "DuckDB reading the column of the same files", turns("ls, a column, few runs match, over its files", &ours, &theirs))
}

// writerRuns are the live runs of a writer, fewer than those at which it seals them.
const writerRuns = 10 * perFile

// liveStore makes a store of live runs. Their writers stay open, for they seal them at their end.
func liveStore(b *testing.B, runs int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "runs_store")
	must(b, ingest.Init(dir))
	var store *ingest.Store
	r := recipe{runs: runs, samples: 10, perFile: perFile}
	for file := range runs / perFile {
		if file*perFile%writerRuns == 0 {
			var err error
			store, err = ingest.Open(dir, "scale")
			must(b, err)
			opened := store
			b.Cleanup(func() { must(b, opened.Close()) })
		}
		s := r.sweep(file)
		for range perFile {
			must(b, store.Append(s.Next()))
		}
	}
	if live, err := filepath.Glob(filepath.Join(dir, schema.LiveDir, "*", "*.parquet")); err != nil || len(live) != runs {
		b.Fatalf("%d live runs of %d: %v", len(live), runs, err)
	}
	return dir
}
