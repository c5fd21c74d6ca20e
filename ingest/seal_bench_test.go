package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// BenchmarkSealOverRead seals a segment of runs of 1,000 samples, and reads the same files once with parquet-go, by
// turns, and reports medians a run. The goal is a ratio of at most 3.
func BenchmarkSealOverRead(b *testing.B) {
	for _, runs := range []int{24, 256} {
		b.Run(fmt.Sprint(runs, " runs"), func(b *testing.B) {
			var seals, reads []time.Duration
			for b.Loop() {
				b.StopTimer()
				store, dir := newBareStore(b)
				appendLive(b, store, runs)
				b.StartTimer()
				start := time.Now()
				readLiveFiles(b, dir)
				middle := time.Now()
				mustSealHere(b, store, runs)
				reads, seals = append(reads, middle.Sub(start)), append(seals, time.Since(middle))
			}
			report(b, "seal", seals, "read", reads, runs)
		})
	}
}

// BenchmarkSealAtScale seals 24 runs in stores that have sealed files for 10,000 and for 1,000,000 of them already, by
// turns, and reports medians a run. The goal is a ratio of at most 1.2, where the files are of two years.
func BenchmarkSealAtScale(b *testing.B) {
	for name, span := range map[string]time.Duration{"2 years": 2 * 365 * 24 * time.Hour, "one month": 10 * 24 * time.Hour} {
		b.Run(name, func(b *testing.B) {
			const runs = 24
			small, _ := crowdedStore(b, 10_000/runs, span)
			large, _ := crowdedStore(b, 1_000_000/runs, span)
			var atSmall, atLarge []time.Duration
			for b.Loop() {
				for _, c := range []struct {
					store *Store
					times *[]time.Duration
				}{{small, &atSmall}, {large, &atLarge}} {
					b.StopTimer()
					appendLive(b, c.store, runs)
					b.StartTimer()
					start := time.Now()
					mustSealHere(b, c.store, runs)
					*c.times = append(*c.times, time.Since(start))
				}
			}
			report(b, "1M", atLarge, "10k", atSmall, runs)
		})
	}
}

// newBareStore is a store that seals only what it is told to.
func newBareStore(b *testing.B) (*Store, string) {
	b.Helper()
	store, dir := newStore(b)
	store.sealer.Rules.Runs = 1 << 30
	return store, dir
}

// crowdedStore has the names of so many sealed files, of a time before now. Their content does not matter to a
// sealer, whose runs are of a later time.
func crowdedStore(b *testing.B, files int, span time.Duration) (*Store, string) {
	b.Helper()
	store, dir := newBareStore(b)
	now := time.Now()
	for i := range files {
		at := now.Add(-time.Hour - span/time.Duration(files)*time.Duration(i))
		f := schema.SealedFile{ID: schema.NewULID(at), First: at.Add(-time.Minute).UnixMilli(), Last: at.UnixMilli(), Rows: 24}
		name := filepath.Join(dir, f.Path(schema.RunsDir))
		err := os.WriteFile(name, nil, 0o666)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.MkdirAll(filepath.Dir(name), 0o777)
			if err == nil {
				err = os.WriteFile(name, nil, 0o666)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return store, dir
}

func appendLive(b *testing.B, store *Store, runs int) {
	b.Helper()
	for range runs {
		run := realisticRun()
		run.StartedAt = time.Now()
		run.RunID = schema.NewULID(run.StartedAt).String()
		mustAppend(b, store, run)
	}
}

// mustSealHere seals the segment of the store, as Append does.
func mustSealHere(b *testing.B, store *Store, runs int) {
	b.Helper()
	store.leaveSegment()
	if n, err := store.sealer.Seal(b.Context(), 1); err != nil || n != runs {
		b.Fatalf("%d, %v", n, err)
	}
}

// readLiveFiles reads every value of every live file.
func readLiveFiles(b *testing.B, dir string) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "live", "*", "*.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]parquet.Row, 1)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			b.Fatal(err)
		}
		reader := parquet.NewReader(file)
		if n, err := reader.ReadRows(rows); n != 1 || err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(n, err)
		}
		if err := reader.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// report reports the medians of two series a run, and their ratio.
func report(b *testing.B, name string, one []time.Duration, other string, two []time.Duration, runs int) {
	b.Helper()
	slices.Sort(one)
	slices.Sort(two)
	first, second := float64(one[len(one)/2])/float64(runs), float64(two[len(two)/2])/float64(runs)
	b.ReportMetric(first, name+"-ns/run")
	b.ReportMetric(second, other+"-ns/run")
	b.ReportMetric(first/second, "ratio")
}
