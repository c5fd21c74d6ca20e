package ingest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
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
		f.write(b, f.content)
	}
}

// BenchmarkEncode is the part of BenchmarkAppend that is no input or output.
func BenchmarkEncode(b *testing.B) {
	e := table.NewEncoder("test")
	run := realisticRun()
	b.ReportAllocs()
	for b.Loop() {
		must(e.Encode(&run, schema.DigestOf(&run)))
	}
}

// BenchmarkAppendOverFloor measures, by turns, so that what else the machine does hits all alike, a durable append; the same
// bytes made durable under a name, which is the floor; and a JSON document of the run made durable in the same way. It
// reports medians. The goal is a ratio to the floor of at most 1.25, and never more time than for the document.
func BenchmarkAppendOverFloor(b *testing.B) {
	store, _ := newStore(b)
	f := newFloor(b)
	run := realisticRun()
	var appends, floors, documents []time.Duration
	for b.Loop() {
		run.RunID = schema.NewULID(run.StartedAt).String()
		start := time.Now()
		mustAppend(b, store, run)
		appended := time.Now()
		f.write(b, f.content)
		floor := time.Now()
		document := must(json.Marshal(run))
		f.write(b, document)
		appends, floors, documents = append(appends, appended.Sub(start)), append(floors, floor.Sub(appended)), append(documents, time.Since(floor))
	}
	one, floor, document := medianOf(appends), medianOf(floors), medianOf(documents)
	b.ReportMetric(one, "append-ns")
	b.ReportMetric(floor, "floor-ns")
	b.ReportMetric(one/floor, "ratio")
	b.ReportMetric(one/document, "of-json")
}

func medianOf(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2])
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
	content := must(table.NewEncoder("test").Encode(&run, schema.DigestOf(&run)))
	path := b.TempDir()
	dir := must(os.Open(path))
	b.Cleanup(func() { _ = dir.Close() })
	return &floor{path: path, dir: dir, content: content}
}

func (f *floor) write(b *testing.B, content []byte) {
	f.n++
	temp := filepath.Join(f.path, "temp")
	opened := must(os.Create(temp))
	_, writeErr := opened.Write(content)
	for _, err := range []error{
		writeErr, opened.Sync(), opened.Close(), os.Rename(temp, filepath.Join(f.path, strconv.Itoa(f.n))), f.dir.Sync(),
	} {
		valuetest.OK(b, err)
	}
}
