package benchmarks

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// writes are what is measured of a writer.
var writes = []string{"append", "seal", "append many", "pack, nothing to do"}

// writeGoals are the most that the large store may take of each, as ratios to the small one; 0: none.
var writeGoals = []float64{1.2, 1.2, 0, 0}

// BenchmarkWrites appends runs of 1,000 samples to a store of 10,000 runs and to one of a million, and seals them, by
// turns.
func BenchmarkWrites(b *testing.B) {
	sizes := []recipe{recipes[1], recipes[3]}
	var stores [2]*ingest.Store
	var all [2][4]series
	for i, r := range sizes {
		dir := copyStore(b, storeOf(b, r))
		defer os.RemoveAll(dir)
		store, err := ingest.Open(dir, "scale")
		must(b, err)
		defer store.Close()
		stores[i] = store
	}
	for range 3 * rounds {
		for i, store := range stores {
			for j, took := range writeOnce(b, store) {
				all[i][j].add(measured{Wall: took})
			}
		}
	}
	var lines []line
	for j, name := range writes {
		lines = append(lines, turns(name, &all[1][j], &all[0][j]).within(writeGoals[j], 0))
	}
	report(b, "the same in a store of "+sizes[0].name+" runs", lines...)
}

// writeOnce appends and seals a sweep, ingests another, and looks whether there is something to pack.
func writeOnce(b *testing.B, store *ingest.Store) (took [4]time.Duration) {
	b.Helper()
	var last time.Time
	lap := func(i int) {
		took[i] = time.Since(last)
		last = time.Now()
	}
	one, other := sweepNow(), sweepNow()
	last = time.Now()
	for _, r := range one {
		must(b, store.Append(r))
	}
	lap(0)
	if n, err := store.Seal(b.Context()); n != perFile || err != nil {
		b.Fatal(n, err)
	}
	lap(1)
	done, err := store.AppendAll(runtest.Each(other...))
	if done.Added != perFile || err != nil {
		b.Fatal(done, err)
	}
	lap(2)
	must(b, store.Pack())
	lap(3)
	return took
}

// sweepNow makes runs of now.
func sweepNow() []schema.Run {
	sweep := runtest.NewSweep(uint64(time.Now().UnixNano()), 1000)
	sweep.Start, sweep.Step = time.Now().Truncate(time.Microsecond), time.Microsecond
	runs := make([]schema.Run, perFile)
	for i := range runs {
		runs[i] = sweep.Next()
	}
	return runs
}

// copyStore copies a store by hard links, for no file of a store changes.
func copyStore(tb testing.TB, dir string) string {
	tb.Helper()
	into, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".copy-")
	must(tb, err)
	must(tb, linkStore(dir, into))
	return into
}

// linkStore links the files of a store in an empty directory.
func linkStore(dir, into string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(into, rel), 0o777)
		}
		return os.Link(path, filepath.Join(into, rel))
	})
}
