package ingest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
)

// TestCompact compacts a store with live and sealed runs of two months, some of them removed, one of them twice.
func TestCompact(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	twice, _ := sealedStore(t, startedAt(smallRun(), time.Date(2026, 2, 1, 0, 0, 1, 0, time.UTC)))
	copyTree(t, twice, p.b, schema.RunsDir, schema.SamplesDir)
	want := contents(t, p.b)
	ids := slices.Sorted(maps.Keys(want))
	annotated := must(Open(p.b, "test"))
	for _, a := range []Annotation{
		{Kind: schema.EventRemove, Runs: []string{ids[1], ids[4], ids[2]}},
		{Kind: schema.EventRestore, Runs: []string{ids[2]}},
		{Kind: schema.EventNote, Runs: []string{ids[1]}, Value: "about a removed run"},
		{Kind: schema.EventTag, Runs: []string{ids[1], ids[3]}, Key: "k", Value: "v"},
		{Kind: schema.EventBless, Runs: []string{ids[3]}, Key: "main"},
		{Kind: schema.EventBless, Runs: []string{ids[4]}, Key: "main"},
	} {
		if _, err := annotated.Annotate(a); err != nil {
			t.Fatal(err)
		}
	}
	mustDo(t, annotated.Close())
	before := snapshot(t, p.b)
	into := filepath.Join(t.TempDir(), "new", "store")
	done, err := Compact(context.Background(), p.b, into, "test", noDamage(t))
	if err != nil {
		t.Fatal(err)
	}
	if snapshot(t, p.b) != before {
		t.Error("the source changed")
	}
	if found := findings(t, into); len(found) > 0 {
		t.Fatalf("found %+v", found)
	}
	delete(want, ids[1])
	delete(want, ids[4])
	if got := contents(t, into); !maps.Equal(got, want) {
		t.Errorf("it holds\n%v\nwant\n%v", got, want)
	}
	if done != (Compacted{Runs: len(want), Removed: 2, Files: 2, Events: 5}) {
		t.Errorf("compacted %+v, want %d runs in 2 files", done, len(want))
	}
	checkCompact(t, p.b, into)
}

// checkCompact compares what a compact store says with the other one.
func checkCompact(t *testing.T, from, into string) {
	t.Helper()
	one, two := must(schema.List(os.DirFS(from), schema.Scope{})), must(schema.List(os.DirFS(into), schema.Scope{}))
	if len(two.Live) > 0 || len(two.Packs) > 0 {
		t.Errorf("it has %d live files and %d packs", len(two.Live), len(two.Packs))
	}
	for _, f := range two.Sealed {
		if path.Base(path.Dir(f.Path(""))) != schema.MonthOf(time.UnixMilli(f.First)) || path.Base(path.Dir(f.Path(""))) != schema.MonthOf(time.UnixMilli(f.Last)) {
			t.Errorf("%s is not of one month", f.Name())
		}
	}
	a := schema.Annotate(allEvents(t, from, one.Events))
	b := schema.Annotate(allEvents(t, into, two.Events))
	if !maps.Equal(a.Removed, b.Removed) || !slices.Equal(a.Baselines["main"], b.Baselines["main"]) {
		t.Errorf("events say %+v, and said %+v", b, a)
	}
	for id := range contents(t, into) {
		if !maps.Equal(a.Tags[id], b.Tags[id]) || len(a.Notes[id]) != len(b.Notes[id]) {
			t.Errorf("of run %s events say %v, %v", id, b.Tags[id], b.Notes[id])
		}
	}
}

// TestCompactOverlap merges files of which more overlap than may be open at a time.
func TestCompactOverlap(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	year := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	const files, each = 9, 5
	for i := range files {
		for j := range each {
			mustAppend(t, store, startedAt(smallRun(), year.Add(time.Duration(j*files+i)*time.Minute)))
		}
		if _, err := store.Seal(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	into := filepath.Join(t.TempDir(), "new")
	c := &compacter{from: must(disk.NewOS(dir)), into: must(disk.NewOS(into)), version: "test", memory: 1, damaged: noDamage(t)}
	mustDo(t, c.all(context.Background()))
	if got := contents(t, into); !maps.Equal(got, contents(t, dir)) || len(got) != files*each {
		t.Errorf("it holds %d runs", len(got))
	}
	if left := must(os.ReadDir(filepath.Join(into, schema.TmpDir))); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	if found := findings(t, into); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t, smallRun())
	_, full := newStore(t)
	for into, want := range map[string]string{
		full: "not empty", dir: "inside", filepath.Join(dir, "a", "b"): "inside", filepath.Join(dir, schema.RunsDir): "inside",
	} {
		before := snapshot(t, dir) + snapshot(t, full)
		if _, err := Compact(context.Background(), dir, into, "test", noDamage(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("into %s: %v", into, err)
		}
		if snapshot(t, dir)+snapshot(t, full) != before {
			t.Errorf("into %s: something changed", into)
		}
	}
}

// noDamage fails where a store is damaged.
func noDamage(t testing.TB) func(LeftOut) {
	return func(f LeftOut) { t.Errorf("damaged: %+v", f) }
}

func allEvents(t testing.TB, dir string, listed schema.Events) []schema.Event {
	c := &compacter{from: must(disk.NewOS(dir)), damaged: noDamage(t)}
	return must(c.readEvents(listed))
}

// TestCompactNewest: the newest runs are in a file of their own, so that who asks for them reads no others.
func TestCompactNewest(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	start := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	const more = 52
	must(store.AppendAll(func(yield func(schema.Valid, error) bool) {
		for i := range newestRuns + more {
			if !yield(schema.Check(startedAt(smallRun(), start.Add(time.Duration(i)*time.Second)))) {
				return
			}
		}
	}))
	into := filepath.Join(t.TempDir(), "new")
	if done, err := Compact(context.Background(), dir, into, "test", noDamage(t)); err != nil || done.Files != 2 {
		t.Fatalf("compacted %+v: %v", done, err)
	}
	listed := must(schema.List(os.DirFS(into), schema.Scope{Newest: 20}))
	if len(listed.Sealed) != 1 || listed.Sealed[0].Rows != newestRuns {
		t.Errorf("the newest runs are in %+v", listed.Sealed)
	}
	wholeStore(t, into)
}

// TestCompactEvents: the events of the new store are packed, so that no question opens a file for each.
func TestCompactEvents(t *testing.T) {
	t.Parallel()
	dir, f := sealedStore(t, smallRun(), smallRun())
	store := must(Open(dir, "test"))
	for run := range contents(t, dir) {
		for range 120 {
			must(store.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{run}, Value: "the fan was loud"}))
		}
		break
	}
	mustDo(t, store.Close())
	into := filepath.Join(t.TempDir(), "new")
	done := must(Compact(context.Background(), dir, into, "test", noDamage(t)))
	listed := must(schema.List(os.DirFS(into), schema.Scope{}))
	if len(listed.Events.Packs) != 1 || len(listed.Events.Files) != done.Events || done.Events < 120 || len(listed.Sealed) != 1 || listed.Sealed[0].Rows != f.Rows {
		t.Errorf("compacted %+v: it has %d packs of %d events", done, len(listed.Events.Packs), len(listed.Events.Files))
	}
	wholeStore(t, into)
}

// TestCompactAhead has more files than are read ahead, and one of them has damaged samples: every run is in the new store,
// and the damage is reported once.
func TestCompactAhead(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	start := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	const files, each = 40, 3
	for i := range files {
		for j := range each {
			mustAppend(t, store, startedAt(smallRun(), start.Add(time.Duration(i*each+j)*time.Minute)))
		}
		must(store.Seal(context.Background()))
	}
	want := contents(t, dir)
	sealed := must(schema.ListZone(os.DirFS(dir), schema.RunsDir))
	bad := sealed[len(sealed)/2].Path(schema.SamplesDir)
	storetest.FlipFirst(t, filepath.Join(dir, bad))
	var found []LeftOut
	into := filepath.Join(t.TempDir(), "new")
	done, err := Compact(context.Background(), dir, into, "test", func(f LeftOut) { found = append(found, f) })
	if err != nil || len(sealed) != files || len(found) != 1 || found[0].Path != bad || done.Runs != len(want) {
		t.Fatalf("compacted %+v of %d files, found %+v: %v", done, len(sealed), found, err)
	}
	if got := contents(t, into); len(got) != len(want) {
		t.Errorf("it holds %d runs, want %d", len(got), len(want))
	}
	if got := runfile.ReadLost(os.DirFS(into)); len(got) != done.Loss.Samples {
		t.Errorf("%d runs are marked, want %d", len(got), done.Loss.Samples)
	}
}

// TestCompactAheadBounded: a file of few runs with very many samples is not held in memory before its turn. Its runs are in the new
// store all the same.
func TestCompactAheadBounded(t *testing.T) {
	t.Parallel()
	for samples, kept := range map[int]bool{1000: true, aheadValues/2 + 1: false} {
		large := func() schema.Run {
			r := smallRun()
			r.Metrics[0].Ticks = slices.Repeat([]int64{1000}, samples)
			return r
		}
		dir, f := sealedStore(t, large(), large())
		s := &sealedLeft{input: runfile.InputOf(os.DirFS(dir), f), ahead: aheadFile{read: make(chan struct{}), room: make(chan struct{}, 1)}}
		s.ahead.room <- struct{}{}
		s.readAhead()
		if got := s.ahead.take() != nil; got != kept {
			t.Errorf("of %d samples a run: kept %v, want %v", samples, got, kept)
		}
		done, err := Compact(context.Background(), dir, filepath.Join(t.TempDir(), "new"), "test", noDamage(t))
		if err != nil || done.Runs != 2 {
			t.Errorf("of %d samples a run: compacted %+v: %v", samples, done, err)
		}
	}
}

// TestCompactDamage compacts a store of which one file is damaged: the new one has what a repair keeps, marked alike.
func TestCompactDamage(t *testing.T) {
	t.Parallel()
	for _, zone := range schema.TableZones {
		dir, good, f := storetest.Damaged(t, open, zone)
		var found []LeftOut
		into := filepath.Join(t.TempDir(), "new")
		done, err := Compact(context.Background(), dir, into, "test", func(f LeftOut) { found = append(found, f) })
		if err != nil || len(found) != 1 || found[0].Path != f.Path(zone) || done.Loss != found[0].Loss || done.Loss == (runfile.Loss{}) {
			t.Errorf("%s: compacted %+v, found %+v: %v", zone, done, found, err)
		}
		wholeStore(t, into)
		repaired, _ := mustRepair(t, dir, false)
		if got := states(t, into); !maps.Equal(got, states(t, dir)) {
			t.Errorf("%s: it holds %d runs; repaired %+v", zone, len(got), repaired)
		}
		if got, want := runfile.ReadLost(os.DirFS(into)), runfile.ReadLost(os.DirFS(dir)); len(got) != len(want) {
			t.Errorf("%s: marked %v, want %v", zone, got, want)
		}
		mustMerge(t, good, into)
		if !maps.Equal(states(t, into), states(t, good)) || len(runfile.ReadLost(os.DirFS(into))) > 0 {
			t.Errorf("%s: the new store is not healed", zone)
		}
		again := filepath.Join(t.TempDir(), "again")
		if done, err := Compact(context.Background(), dir, again, "test", noDamage(t)); err != nil || done.Loss != (runfile.Loss{}) {
			t.Errorf("%s: compacted after a repair %+v: %v", zone, done, err)
		}
		wholeStore(t, again)
	}
}

// TestCompactLive leaves a damaged live run, event and artifact out.
func TestCompactLive(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	l := must(schema.List(os.DirFS(dir), schema.Scope{}))
	names := []string{l.Live[0].Path(), schema.EventFile(l.Events.Files[1])}
	mustDo(t, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		if s.Kind == disk.KindArtifact {
			names = append(names, s.Path)
		}
		return nil
	}))
	want := contents(t, dir)
	for _, name := range names {
		flipByte(t, filepath.Join(dir, name))
	}
	var found []string
	into := filepath.Join(t.TempDir(), "new")
	done := must(Compact(context.Background(), dir, into, "test", func(f LeftOut) { found = append(found, f.Path) }))
	slices.Sort(found)
	slices.Sort(names)
	if !slices.Equal(found, names) || done.Runs+done.Removed != len(want)-1 || done.Loss != (runfile.Loss{Runs: 1}) {
		t.Errorf("compacted %+v of %d, found %v, want %v", done, len(want), found, names)
	}
	wholeStore(t, into)
}

// TestCompactFaults lets every file operation of a compact fail in turn, on either side. What is left is no store, or a
// complete one.
func TestCompactFaults(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	want := contents(t, p.b)
	before := snapshot(t, p.b)
	faultLoop(t, func(t *testing.T, files *faultyFiles, reading bool) {
		into := filepath.Join(t.TempDir(), "new")
		defer os.RemoveAll(into)
		c := &compacter{from: must(disk.NewOS(p.b)), into: must(disk.NewOS(into)), version: "test", memory: compactMemory, damaged: noDamage(t)}
		if reading {
			files.OS = must(disk.NewOS(p.b))
			c.from = files
		} else {
			files.OS = must(disk.NewOS(into))
			c.into = files
		}
		err := c.all(context.Background())
		checkFault(t, files, err)
		if _, headerErr := schema.ReadHeader(os.DirFS(into)); headerErr != nil {
			if err == nil || !errors.Is(headerErr, schema.ErrNoStore) {
				t.Fatalf("operation %d: %v, and the new store: %v", files.At, err, headerErr)
			}
			if _, err := Compact(context.Background(), p.b, into, "test", noDamage(t)); err != nil {
				t.Fatalf("operation %d, again: %v", files.At, err)
			}
		}
		found := slices.DeleteFunc(findings(t, into), func(f check.Finding) bool { return f.Path == compactMark })
		if len(found) > 0 {
			t.Fatalf("operation %d: found %+v", files.At, found)
		}
		if got := contents(t, into); !maps.Equal(got, want) {
			t.Fatalf("operation %d: it holds %d runs, want %d", files.At, len(got), len(want))
		}
	})
	t.Cleanup(func() {
		if snapshot(t, p.b) != before {
			t.Error("the source changed")
		}
	})
}
