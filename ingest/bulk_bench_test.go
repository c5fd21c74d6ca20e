package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// sweeping makes so many runs of a sweep one by one, so that only those are in memory that somebody keeps.
func sweeping(s *runtest.Sweep, n int, each func()) func(func(schema.Run, error) bool) {
	return func(yield func(schema.Run, error) bool) {
		for range n {
			each()
			if !yield(s.Next(), nil) {
				return
			}
		}
	}
}

// liveHeap is how much memory is in use, once what is not used any more is gone.
func liveHeap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestAppendAllMemory: what is in memory does not grow with the input.
func TestAppendAllMemory(t *testing.T) {
	const bound, runs = 4 << 20, 1500
	short, long := appendingMemory(t, bound, runs), appendingMemory(t, bound, 4*runs)
	if float64(long) > 1.3*float64(short) {
		t.Errorf("%d bytes are in memory with %d runs, %d with four times as many", short, runs, long)
	}
}

// appendingMemory is the most that is in memory while runs are appended, beside what was before.
func appendingMemory(t *testing.T, bound, runs int) int {
	t.Helper()
	store, dir := newStore(t)
	start, most, made := liveHeap(), 0, 0
	b := bulk{files: store.files, version: "test", bytes: bound, synced: map[string]bool{}}
	err := b.all(sweeping(runtest.NewSweep(1, 1000), runs, func() {
		if made++; made%50 == 0 {
			most = max(most, liveHeap()-start)
		}
	}))
	if err != nil || b.added != runs {
		t.Fatalf("%d runs added, %v", b.added, err)
	}
	if files := len(sealedFiles(t, dir)); files < 8 {
		t.Errorf("%d files are no large input", files)
	}
	return most
}

// BenchmarkAppendAll is an import of runs of 100 samples.
func BenchmarkAppendAll(b *testing.B) {
	const runs = 20_000
	var dir string
	for b.Loop() {
		var store *Store
		store, dir = newStore(b)
		if added, _, err := store.AppendAll(sweeping(runtest.NewSweep(1, 100), runs, func() {})); added != runs || err != nil {
			b.Fatal(added, err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*runs), "us/run")
	for _, t := range []*schema.Table{schema.Runs, schema.Samples} {
		size := int64(0)
		for _, f := range sealedFiles(b, dir) {
			info, err := os.Stat(filepath.Join(dir, f.Path(schema.TableZones[t])))
			if err != nil {
				b.Fatal(err)
			}
			size += info.Size()
		}
		b.ReportMetric(float64(size)/runs, "B/run-"+t.Name)
	}
}

// BenchmarkPack packs 500 files of 24 runs.
func BenchmarkPack(b *testing.B) {
	store, dir := newStore(b)
	sweep := runtest.NewSweep(1, 0)
	const files, runs = 500, 24
	for range files {
		if _, _, err := store.AppendAll(sweeping(sweep, runs, func() {})); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := os.RemoveAll(filepath.Join(dir, schema.PacksDir)); err != nil {
			b.Fatal(err)
		}
		if packs, err := store.Pack(); packs != 1 || err != nil {
			b.Fatal(packs, err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*files*runs), "us/run")
}
