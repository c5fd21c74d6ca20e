package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"weak"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// sweeping makes so many runs of a sweep one by one, so that only those are in memory that somebody keeps.
func sweeping(s *runtest.Sweep, n int, each func()) func(func(schema.Valid, error) bool) {
	return func(yield func(schema.Valid, error) bool) {
		for range n {
			each()
			if !yield(schema.Check(s.Next())) {
				return
			}
		}
	}
}

// liveHeap is how much memory is in use, once what is not used any more is gone. A pool keeps what it has through one
// collection.
func liveHeap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestAppendAllMemory: the runs of at most two batches are in memory, however long the input is, and of all others what
// tells that they came before. It asks which runs are there, not how much the heap holds: that depends on how far the
// batch has come that is being stored.
func TestAppendAllMemory(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	const bound, runs, idBytes = 4 << 20, 6000, 200
	store, dir := newStore(t)
	samples := map[weak.Pointer[int64]]int{} // and what the run takes
	made, most := 0, 0
	observed := func(yield func(schema.Valid, error) bool) {
		for valid := range sweeping(runtest.NewSweep(1, 1000), runs, func() {}) {
			run := valid.Run()
			samples[weak.Make(&run.Metrics[0].Ticks[0])] = runSize(&run)
			if made++; made%120 == 0 {
				most = max(most, stillThere(samples)-runSize(&run)) // the last one belongs to no batch yet
			}
			if !yield(valid, nil) {
				return
			}
		}
	}
	start := liveHeap()
	b := newBulk(store.files, "test", bound)
	if err := b.all(observed); err != nil || b.done.Added != runs {
		t.Fatalf("%d runs added, %v", b.done.Added, err)
	}
	if left := liveHeap() - start; left > runs*idBytes {
		t.Errorf("%d bytes are in memory after %d runs", left, runs)
	}
	if most < bound/4 || most > bound+bound/50 { // a batch is full with the run that exceeds its half
		t.Errorf("runs of %d bytes were in memory, of a bound of %d", most, bound)
	}
	if files := len(sealedFiles(t, dir)); files < 16 {
		t.Errorf("%d files are no large input", files)
	}
	runtime.KeepAlive(&b)
}

// stillThere forgets the samples that are not in memory any more, and tells how much their runs take that are.
func stillThere(samples map[weak.Pointer[int64]]int) (bytes int) {
	runtime.GC()
	for p, size := range samples {
		if p.Value() == nil {
			delete(samples, p)
			continue
		}
		bytes += size
	}
	return bytes
}

// BenchmarkAppendAll is an import of runs of 100 samples.
func BenchmarkAppendAll(b *testing.B) {
	const runs = 20_000
	var dir string
	for b.Loop() {
		var store *Store
		store, dir = newStore(b)
		if done, err := store.AppendAll(sweeping(runtest.NewSweep(1, 100), runs, func() {})); done.Added != runs || err != nil {
			b.Fatal(done, err)
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
		if _, err := store.AppendAll(sweeping(sweep, runs, func() {})); err != nil {
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
