package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// BenchmarkAppend is the durable append of a run of 1,000 samples with a manifest of 70 facts.
func BenchmarkAppend(b *testing.B) {
	store, _ := newStore(b)
	run := realisticRun()
	b.ReportAllocs()
	for b.Loop() {
		run.RunID = schema.NewULID(run.StartedAt).String()
		mustAppend(b, store, run)
	}
}

// BenchmarkFloor is what the file system needs to make the same bytes durable under a name.
func BenchmarkFloor(b *testing.B) {
	f := newFloor(b)
	for b.Loop() {
		f.write(b)
	}
}

// BenchmarkEncode is the part of BenchmarkAppend that is no input or output.
func BenchmarkEncode(b *testing.B) {
	e := table.NewEncoder("test")
	run := realisticRun()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(&run, schema.DigestOf(&run)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendOverFloor measures both by turns, so that what else the machine does hits both, and reports medians.
// The goal is a ratio of at most 2.0, or at most 0.45 ms more than the floor.
func BenchmarkAppendOverFloor(b *testing.B) {
	store, _ := newStore(b)
	f := newFloor(b)
	run := realisticRun()
	var appends, floors []time.Duration
	for b.Loop() {
		run.RunID = schema.NewULID(run.StartedAt).String()
		start := time.Now()
		mustAppend(b, store, run)
		middle := time.Now()
		f.write(b)
		appends, floors = append(appends, middle.Sub(start)), append(floors, time.Since(middle))
	}
	slices.Sort(appends)
	slices.Sort(floors)
	one, other := appends[len(appends)/2], floors[len(floors)/2]
	b.ReportMetric(float64(one), "append-ns")
	b.ReportMetric(float64(other), "floor-ns")
	b.ReportMetric(float64(one)/float64(other), "ratio")
}

// floor writes files of the size of a live file: a temporary file, fsync, its name, fsync of the directory.
type floor struct {
	path    string
	dir     *os.File
	content []byte
	n       int
}

func newFloor(b *testing.B) *floor {
	b.Helper()
	run := realisticRun()
	content, err := table.NewEncoder("test").Encode(&run, schema.DigestOf(&run))
	if err != nil {
		b.Fatal(err)
	}
	path := b.TempDir()
	dir, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = dir.Close() })
	return &floor{path: path, dir: dir, content: content}
}

func (f *floor) write(b *testing.B) {
	f.n++
	temp := filepath.Join(f.path, "temp")
	opened, err := os.Create(temp)
	if err != nil {
		b.Fatal(err)
	}
	_, writeErr := opened.Write(f.content)
	for _, err := range []error{
		writeErr, opened.Sync(), opened.Close(), os.Rename(temp, filepath.Join(f.path, strconv.Itoa(f.n))), f.dir.Sync(),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
}
