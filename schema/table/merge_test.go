package table

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// opened counts what is open.
type opened struct{ now, most int }

func (o *opened) Close() error { o.now--; return nil }

// source returns a file in memory to be merged.
func (o *opened) source(from string, table *schema.Table, content []byte) Source {
	return Source{from, func() (*File, io.Closer, error) {
		f, err := Open(bytes.NewReader(content), int64(len(content)), table)
		o.now++
		o.most = max(o.most, o.now)
		return f, o, err
	}}
}

// TestMerge merges files that overlap and files that do not, of which some have the same runs.
func TestMerge(t *testing.T) {
	runs := variety(20)
	for table := range schema.TableFolders {
		rows := func(runs []schema.Run) (all [][]any) {
			for _, r := range runs {
				all = append(all, rowsOf(r)[table]...)
			}
			return all
		}
		var even, odd []schema.Run
		for i, r := range runs[:40] {
			if i%2 == 0 {
				even = append(even, r)
			} else {
				odd = append(odd, r)
			}
		}
		var files opened
		var sources []Source
		for _, part := range [][]schema.Run{odd, runs[10:20], even, runs[40:60], runs[60:]} {
			sources = append(sources, files.source(part[0].RunID[:10], table, write(t, table, rows(part)).content))
		}
		out := &memory{}
		w := NewWriter(out, table, "test", []schema.ULID{{}})
		gone := runs[7].RunID
		valuetest.OK(t, Merge(w, sources, func(run string) bool { return run != gone }))
		valuetest.OK(t, w.Close())
		if files.now != 0 || files.most > 4 {
			t.Errorf("%s: %d files are open, %d were at once", table.Name, files.now, files.most)
		}
		want := rows(slices.Concat(runs[:7], runs[8:]))
		got := readAll(t, table, out.content)
		if len(got) != len(want) || w.Rows() != int64(len(want)) {
			t.Fatalf("%s: %d rows, want %d", table.Name, len(got), len(want))
		}
		for i := range got {
			mustBeSame(t, table, got[i], want[i])
		}
	}
}

// TestMergeDamaged: what is not in order, or of another table, is not merged, and nothing stays open.
func TestMergeDamaged(t *testing.T) {
	a, b := rowsOf(runtest.Small()), rowsOf(runtest.Small())
	late, early := a, b
	if late[schema.Runs][0][0].(string) < early[schema.Runs][0][0].(string) {
		late, early = b, a
	}
	var files opened
	for name, sources := range map[string][]Source{
		"order": {files.source("", schema.Runs, write(t, schema.Runs, slices.Concat(late[schema.Runs], early[schema.Runs])).content)},
		"bound": {files.source("7", schema.Runs, write(t, schema.Runs, early[schema.Runs]).content)},
		"table": {
			files.source("", schema.Runs, write(t, schema.Runs, early[schema.Runs]).content),
			files.source("", schema.Samples, write(t, schema.Samples, early[schema.Samples]).content),
		},
	} {
		w := NewWriter(&memory{}, schema.Runs, "test", nil)
		err := Merge(w, sources, func(string) bool { return true })
		if err == nil || name != "table" && !errors.Is(err, schema.ErrDamaged) || files.now != 0 {
			t.Errorf("%s: %v, %d files are open", name, err, files.now)
		}
	}
}

// TestMergeMemory: of a file that is used up, nothing stays in memory.
func TestMergeMemory(t *testing.T) {
	var files opened
	var sources []Source
	const n = 150
	for range n {
		r := runtest.Realistic()
		sources = append(sources, files.source(r.RunID[:10], schema.Runs, write(t, schema.Runs, rowsOf(r)[schema.Runs]).content))
	}
	w := NewWriter(&memory{}, schema.Runs, "test", nil)
	var early, late uint64
	merged := 0
	valuetest.OK(t, Merge(w, sources, func(string) bool {
		switch merged++; merged {
		case n / 5:
			early = liveHeap()
		case n:
			late = liveHeap()
		}
		return true
	}))
	const each = 50 << 10 // what one of the files takes that is open is several times as much
	if late > early+each*n*4/5 {
		t.Errorf("%d bytes are in memory after some of the files, %d after all", early, late)
	}
	valuetest.OK(t, w.Close())
}

// liveHeap returns how much memory is in use, once what is not used any more is gone.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
