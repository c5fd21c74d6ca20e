package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
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
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
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
		must(annotated.Annotate(a))
	}
	mustDo(t, annotated.Close())
	before := snapshot(t, p.b)
	into := filepath.Join(t.TempDir(), "new", "store")
	done := must(Compact(context.Background(), p.b, into, "test", noDamage(t)))
	valuetest.Equal(t, snapshot(t, p.b), before, "the source changed")
	valuetest.DeepEqual(t, findings(t, into), nil, "found")
	delete(want, ids[1])
	delete(want, ids[4])
	valuetest.DeepEqual(t, contents(t, into), want, "it holds")
	valuetest.Equal(t, done, (Compacted{Runs: len(want), Removed: 2, Files: 2, Events: 5}), "compacted", len(want))
	checkCompact(t, p.b, into)
}

// checkCompact compares what a compact store says with the other one.
func checkCompact(t *testing.T, from, into string) {
	t.Helper()
	one, two := must(schema.List(os.DirFS(from), schema.Scope{})), must(schema.List(os.DirFS(into), schema.Scope{}))
	valuetest.DeepEqual(t, []any{len(two.Live), len(two.Packs)}, []any{0, 0}, "it")
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
		must(store.Seal(context.Background()))
	}
	into := filepath.Join(t.TempDir(), "new")
	c := &compacter{from: must(disk.NewOS(dir)), into: must(disk.NewOS(into)), version: "test", memory: 1, damaged: noDamage(t)}
	mustDo(t, c.all(context.Background()))
	if got := contents(t, into); !maps.Equal(got, contents(t, dir)) || len(got) != files*each {
		t.Errorf("it holds %d runs", len(got))
	}
	valuetest.DeepEqual(t, must(os.ReadDir(filepath.Join(into, schema.TmpDir))), nil)
	valuetest.DeepEqual(t, findings(t, into), nil, "found")
}

func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t, smallRun())
	_, full := newStore(t)
	for into, want := range map[string]string{
		full: "not empty", dir: "inside", filepath.Join(dir, "a", "b"): "inside", filepath.Join(dir, schema.RunsDir): "inside",
	} {
		before := snapshot(t, dir) + snapshot(t, full)
		valuetest.Fails(t, valuetest.Error(Compact(context.Background(), dir, into, "test", noDamage(t))), want, "into", into)
		valuetest.Equal(t, snapshot(t, dir)+snapshot(t, full), before, "into", into, "something changed")
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
	valuetest.Equal(t, must(Compact(context.Background(), dir, into, "test", noDamage(t))).Files, 2, "compacted")
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
	valuetest.Equal(t, len(contents(t, into)), len(want), "it holds")
	valuetest.Equal(t, len(runfile.ReadLost(os.DirFS(into))), done.Loss.Samples)
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
		valuetest.Equal(t, s.ahead.take() != nil, kept, samples, "samples a run: kept")
		done := must(Compact(context.Background(), dir, filepath.Join(t.TempDir(), "new"), "test", noDamage(t)))
		valuetest.Equal(t, done.Runs, 2, samples, "samples a run: compacted", done)
	}
}

// TestCompactDamage compacts a store of which one file is damaged: the new one has what a repair keeps, marked alike.
func TestCompactDamage(t *testing.T) {
	t.Parallel()
	for _, zone := range schema.TableFolders {
		dir, good, f := storetest.Damaged(t, open, zone)
		var found []LeftOut
		into := filepath.Join(t.TempDir(), "new")
		done, err := Compact(context.Background(), dir, into, "test", func(f LeftOut) { found = append(found, f) })
		if err != nil || len(found) != 1 || found[0].Path != f.Path(zone) || done.Loss != found[0].Loss || done.Loss == (runfile.Loss{}) {
			t.Errorf("%s: compacted %+v, found %+v: %v", zone, done, found, err)
		}
		wholeStore(t, into)
		repaired, _ := mustRepair(t, dir, false)
		valuetest.DeepEqual(t, states(t, into), states(t, dir), zone, "it holds", repaired)
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
			mustDo(t, valuetest.Error(Compact(context.Background(), p.b, into, "test", noDamage(t))), "operation", files.At, "again")
		}
		found := slices.DeleteFunc(findings(t, into), func(f check.Finding) bool { return f.Path == compactMark })
		valuetest.DeepEqual(t, found, nil, "operation", files.At, "found")
		valuetest.DeepEqual(t, contents(t, into), want, "operation", files.At, "it holds", len(want))
	})
	t.Cleanup(func() {
		valuetest.Equal(t, snapshot(t, p.b), before, "the source changed")
	})
}

// Where these are set, the test binary is a process that compacts a store.
const (
	childCompactFrom = "NEUROLENS_INGEST_COMPACT"
	childCompactInto = "NEUROLENS_INGEST_COMPACT_INTO"
)

// yearStart is when the runs of yearStore begin.
var yearStart = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// yearStore has runs of six months, in sealed files of which some are of two months, and live; three of them are removed.
func yearStore(t testing.TB) string {
	t.Helper()
	store, dir := newStore(t)
	const days, perFile = 180, 17
	var runs []schema.Run
	for day := range days {
		runs = append(runs, startedAt(smallRun(), yearStart.AddDate(0, 0, day)))
	}
	runs[40] = startedAt(fullRun(), runs[40].StartedAt)
	for some := range slices.Chunk(runs, perFile) {
		must(store.AppendAll(runtest.Each(some...)))
	}
	mustAppend(t, store, startedAt(smallRun(), yearStart.Add(time.Hour)), startedAt(smallRun(), yearStart.Add(2*time.Hour)))
	must(store.Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{runs[0].RunID, runs[33].RunID, runs[days-1].RunID}}))
	must(store.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{runs[7].RunID}, Value: "x"}))
	for _, text := range []string{"one", "two"} {
		sum := storetest.ArtifactName([]byte(text))
		writeFile(t, filepath.Join(dir, sum), []byte(text))
	}
	return dir
}

// compactWith compacts by other file operations.
func compactWith(from string, into disk.Files) (Compacted, error) {
	c := &compacter{from: must(disk.NewOS(from)), into: into, version: "test", memory: compactMemory, damaged: func(LeftOut) {}}
	err := c.all(context.Background())
	return c.done, err
}

// finishedFiles returns the files in a new directory that are recorded as finished, by name.
func finishedFiles(t testing.TB, into string) map[string]fs.FileInfo {
	t.Helper()
	all := map[string]fs.FileInfo{}
	state, err := readState(os.DirFS(into))
	if errors.Is(err, fs.ErrNotExist) {
		return all
	}
	mustDo(t, err)
	for _, f := range state.Files {
		sealed := must(schema.ParseSealedFile(f.Name))
		for _, zone := range f.Zones {
			name := sealed.Path(zone)
			all[name] = must(os.Stat(filepath.Join(into, name)))
		}
	}
	return all
}

// sameFiles counts files that are still there, and were not written again.
func sameFiles(into string, before map[string]fs.FileInfo) (n int) {
	for name, was := range before {
		if is, err := os.Stat(filepath.Join(into, name)); err == nil && os.SameFile(is, was) && is.ModTime().Equal(was.ModTime()) {
			n++
		}
	}
	return n
}

// notYet fails if a directory that is not complete is taken for a store.
func notYet(t testing.TB, into string) {
	t.Helper()
	valuetest.ErrorIs(t, valuetest.Error(schema.List(os.DirFS(into), schema.Scope{})), schema.ErrNoStore, "it counts as a store")
	if _, err := os.Stat(filepath.Join(into, compactMark)); err != nil {
		return // it was not begun
	}
	valuetest.Fails(t, Init(into), "not empty", "it becomes a store")
	valuetest.Fails(t, valuetest.Error(Open(into, "test")), "same command again continues it", "opening it")
}

// TestCompactResume lets a process that compacts end at some of its operations, with NEUROLENS_LONG=all at each. The next one keeps every
// file that was finished, and the store is the same as without an interruption.
func TestCompactResume(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	whole := filepath.Join(t.TempDir(), "whole")
	want := must(Compact(context.Background(), from, whole, "test", noDamage(t)))
	runs := contents(t, whole)
	most := 0
	step := tier(37, 9, 1)
	for at := rand.IntN(step); ; at += step {
		into := filepath.Join(t.TempDir(), "new")
		files := &faultyFiles{OS: must(disk.NewOS(into)), Fault: errCrashed, Lasting: true, Quick: true, At: at}
		_, err := compactWith(from, files)
		if !files.Hit {
			break
		}
		if err == nil { // what failed is what nobody needs: removing a temporary file
			wholeStore(t, into)
			continue
		}
		if !errors.Is(err, errCrashed) {
			t.Fatalf("operation %d: %v", at, err)
		}
		if !isStore(into) {
			notYet(t, into)
		}
		before := finishedFiles(t, into)
		most = max(most, len(before))
		done, err := Compact(context.Background(), from, into, "test", noDamage(t))
		if err != nil || done != want {
			t.Fatalf("operation %d, %s: compacted %+v, want %+v: %v", at, files.Trace[at], done, want, err)
		}
		if n := sameFiles(into, before); n != len(before) {
			t.Fatalf("operation %d, %s: %d of %d finished files are kept", at, files.Trace[at], n, len(before))
		}
		if got := contents(t, into); !maps.Equal(got, runs) {
			t.Fatalf("operation %d, %s: it holds %d runs, want %d", at, files.Trace[at], len(got), len(runs))
		}
		if found := findings(t, into); len(found) > 0 {
			t.Fatalf("operation %d, %s: found %+v", at, files.Trace[at], found)
		}
		mustDo(t, os.RemoveAll(into))
	}
	if most < 2*want.Files {
		t.Errorf("at most %d files were finished before an interruption", most)
	}
}

// isStore reports whether a directory is a store.
func isStore(dir string) bool {
	_, err := schema.ReadHeader(os.DirFS(dir))
	return err == nil
}

// stoppedFiles fail once so many files were recorded.
type stoppedFiles struct {
	disk.OS
	left int
}

func (f *stoppedFiles) Rename(from, to string) error {
	if to == compactMark {
		if f.left == 0 {
			return errCrashed
		}
		f.left--
	}
	return f.OS.Rename(from, to)
}

// interrupted returns a directory in which a compact was interrupted after so many files.
func interrupted(t testing.TB, from string, files int) (into string, finished map[string]fs.FileInfo) {
	t.Helper()
	into = filepath.Join(t.TempDir(), "new")
	valuetest.ErrorIs(t, valuetest.Error(compactWith(from, &stoppedFiles{must(disk.NewOS(into)), 1 + files})), errCrashed)
	notYet(t, into)
	return into, finishedFiles(t, into)
}

// TestCompactChanged changes the source, or what is finished, between an interruption and the next Compact: it makes again what is
// not right any more, and only that.
func TestCompactChanged(t *testing.T) {
	t.Parallel()
	const files = 5
	some := func(finished map[string]fs.FileInfo, zone string) string {
		names := slices.Sorted(maps.Keys(finished))
		return names[slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, zone) })]
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, from, into string, finished map[string]fs.FileInfo)
		again  int // files of the new store, of all tables, that are made again
	}{
		"nothing": {func(*testing.T, string, string, map[string]fs.FileInfo) {}, 0},
		"newer runs": {func(t *testing.T, from, _ string, _ map[string]fs.FileInfo) {
			store := openWith(t, from, quickFiles(from), eagerRules())
			must(store.AppendAll(runtest.Each(startedAt(smallRun(), yearStart.AddDate(1, 0, 0)))))
		}, 0},
		"an older run": {func(t *testing.T, from, _ string, _ map[string]fs.FileInfo) {
			store := openWith(t, from, quickFiles(from), eagerRules())
			must(store.AppendAll(runtest.Each(startedAt(smallRun(), yearStart.AddDate(0, 0, 3).Add(time.Hour)))))
		}, 2},
		"a run is removed": {func(t *testing.T, from, _ string, _ map[string]fs.FileInfo) {
			runs := slices.Sorted(maps.Keys(contents(t, from)))
			must(openWith(t, from, quickFiles(from), eagerRules()).Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{runs[10]}}))
		}, 2},
		"a run is restored": {func(t *testing.T, from, _ string, _ map[string]fs.FileInfo) {
			runs := slices.Sorted(maps.Keys(contents(t, from)))
			must(openWith(t, from, quickFiles(from), eagerRules()).Annotate(Annotation{Kind: schema.EventRestore, Runs: []string{runs[0]}}))
		}, 2},
		"live runs are sealed": {func(t *testing.T, from, _ string, _ map[string]fs.FileInfo) { mustSeal(t, from) }, 2},
		"damaged runs": {func(t *testing.T, _, into string, finished map[string]fs.FileInfo) {
			flipByte(t, filepath.Join(into, some(finished, schema.RunsDir)))
		}, 2},
		"damaged ops": {func(t *testing.T, _, into string, finished map[string]fs.FileInfo) {
			flipByte(t, filepath.Join(into, some(finished, schema.OpsDir)))
		}, 3},
		"no samples": {func(t *testing.T, _, into string, finished map[string]fs.FileInfo) {
			mustDo(t, os.Remove(filepath.Join(into, some(finished, schema.SamplesDir))))
		}, 2},
		"a damaged mark": {func(t *testing.T, _, into string, _ map[string]fs.FileInfo) {
			flipByte(t, filepath.Join(into, compactMark))
		}, 2*files + 1},
		"a damaged artifact, and one that is pruned": {func(t *testing.T, from, into string, _ map[string]fs.FileInfo) {
			writeFile(t, filepath.Join(into, storetest.ArtifactName([]byte("one"))), []byte("0ne"))
			name := storetest.ArtifactName([]byte("two"))
			mustDo(t, os.Remove(filepath.Join(from, name)))
			writeFile(t, filepath.Join(into, name), []byte("two"))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := yearStore(t)
			into, finished := interrupted(t, from, files)
			c.change(t, from, into, finished)
			done := must(Compact(context.Background(), from, into, "test", noDamage(t)))
			valuetest.Equal(t, len(finished)-sameFiles(into, finished), c.again, len(finished))
			fresh := filepath.Join(t.TempDir(), "fresh")
			want := must(Compact(context.Background(), from, fresh, "test", noDamage(t)))
			if done.Files = want.Files; done != want {
				t.Errorf("compacted %+v, want %+v", done, want)
			}
			valuetest.DeepEqual(t, contents(t, into), contents(t, fresh), "it holds", want.Runs)
			valuetest.DeepEqual(t, eventFiles(t, into), eventFiles(t, fresh), "it has events")
			valuetest.DeepEqual(t, findings(t, into), nil, "found")
		})
	}
}

// eventFiles returns the names of events and artifacts.
func eventFiles(t testing.TB, dir string) []string {
	t.Helper()
	return append(must(fs.Glob(os.DirFS(dir), schema.EventsDir+"/*")), must(fs.Glob(os.DirFS(dir), schema.ArtifactsDir+"/*/*"))...)
}

// TestCompactResumeDamage: damage of the source that was found before an interruption is found again after it, and what was lost is
// marked, once.
func TestCompactResumeDamage(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	sealed := must(schema.ListZone(os.DirFS(from), schema.RunsDir))
	slices.SortFunc(sealed, func(a, b schema.SealedFile) int { return int(a.First - b.First) })
	bad := sealed[0].Path(schema.SamplesDir)
	writeFile(t, filepath.Join(from, bad), []byte("nothing of it is left"))
	live := must(schema.List(os.DirFS(from), schema.Scope{})).Live
	flipByte(t, filepath.Join(from, live[len(live)-1].Path()))
	into, finished := interrupted(t, from, 3)
	var found []string
	done, err := Compact(context.Background(), from, into, "test", func(f LeftOut) { found = append(found, f.Path) })
	if err != nil || len(found) != 2 || !slices.Contains(found, bad) || done.Loss.Runs != 1 || done.Loss.Samples == 0 {
		t.Fatalf("compacted %+v, found %v: %v", done, found, err)
	}
	if n := sameFiles(into, finished); n != len(finished) || n == 0 {
		t.Errorf("%d of %d finished files are kept", n, len(finished))
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	want := must(Compact(context.Background(), from, fresh, "test", func(LeftOut) {}))
	valuetest.Equal(t, done, want, "compacted")
	valuetest.DeepEqual(t, states(t, into), states(t, fresh), "compacted")
	wholeStore(t, into)
}

// TestCompactResumeMade: a file that was made while its source was damaged is made again, for the source may be whole again.
func TestCompactResumeMade(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	live := must(schema.List(os.DirFS(from), schema.Scope{})).Live
	sealed := must(schema.ListZone(os.DirFS(from), schema.RunsDir))
	slices.SortFunc(sealed, func(a, b schema.SealedFile) int { return int(a.First - b.First) })
	want := contents(t, from)
	for _, name := range []string{live[len(live)-1].Path(), sealed[3].Path(schema.RunsDir)} {
		good := must(os.ReadFile(filepath.Join(from, name)))
		flipByte(t, filepath.Join(from, name))
		into, _ := interrupted(t, from, 3)
		writeFile(t, filepath.Join(from, name), good)
		done := must(Compact(context.Background(), from, into, "test", noDamage(t)))
		if got := contents(t, into); len(got) != done.Runs || done.Runs+done.Removed != len(want) {
			t.Errorf("%s: compacted %+v of %d runs", name, done, len(want))
		}
	}
}

// TestCompactComplete: a Compact that was interrupted after it had written the header is ended by the next one, for the same source.
func TestCompactComplete(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	live := must(schema.List(os.DirFS(from), schema.Scope{})).Live
	flipByte(t, filepath.Join(from, live[0].Path()))
	into := filepath.Join(t.TempDir(), "new")
	files := &unremoved{must(disk.NewOS(into))}
	want, err := compactWith(from, files)
	valuetest.ErrorIs(t, err, errCrashed)
	other, _ := sealedStore(t, smallRun())
	valuetest.Fails(t, valuetest.Error(Compact(context.Background(), other, into, "test", noDamage(t))), "not empty", "from another store")
	before := contents(t, into)
	var found []string
	done, err := Compact(context.Background(), from, into, "test", func(f LeftOut) { found = append(found, f.Path) })
	if err != nil || done != want || !slices.Equal(found, []string{live[0].Path()}) {
		t.Errorf("compacted %+v, want %+v, found %v: %v", done, want, found, err)
	}
	wholeStore(t, into)
	valuetest.DeepEqual(t, contents(t, into), before, "its runs changed")
	valuetest.Fails(t, valuetest.Error(Compact(context.Background(), from, into, "test", noDamage(t))), "it is the store", "once more")
}

// TestCompactAlready: a store that is complete stays as it is, and the same command says so. It names the store if that is another one, or if the
// source has changed since.
func TestCompactAlready(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	source := must(Open(from, "test"))
	t.Cleanup(func() { _ = source.Close() })
	run := smallRun()
	mustAppend(t, source, run, smallRun())
	_, err := source.Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{run.RunID}})
	mustDo(t, err)
	into := filepath.Join(t.TempDir(), "new")
	want := must(Compact(t.Context(), from, into, "test", noDamage(t)))
	before := storetest.Snapshot(t, into)
	again, err := Compact(t.Context(), from, into, "test", noDamage(t))
	if want.Already = true; err != nil || again != want || storetest.Snapshot(t, into) != before {
		t.Errorf("once more: %+v, want %+v, %v", again, want, err)
	}
	differs := func(from string) {
		t.Helper()
		id := must(schema.ReadHeader(os.DirFS(into))).StoreID
		valuetest.Fails(t, valuetest.Error(Compact(t.Context(), from, into, "test", noDamage(t))), "it is the store "+id+", which differs")
		valuetest.Equal(t, storetest.Snapshot(t, into), before, "it changed")
	}
	other, _ := sealedStore(t, smallRun())
	differs(other)
	late := smallRun()
	mustAppend(t, source, late)
	differs(from)
	_, err = source.Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{late.RunID}})
	mustDo(t, err)
	differs(from) // so that a merge brings it not back
}

// unremoved cannot remove the mark.
type unremoved struct{ disk.OS }

func (f *unremoved) Remove(name string) error {
	if name == compactMark {
		return errCrashed
	}
	return f.OS.Remove(name)
}

// TestCompactInUse: of two processes that compact into the same directory at once, one is refused, and changes nothing.
func TestCompactInUse(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	into, _ := interrupted(t, from, 2)
	before := snapshot(t, into)
	unlock := must(must(disk.NewOS(into)).LockRoot())
	valuetest.Fails(t, valuetest.Error(Compact(context.Background(), from, into, "test", noDamage(t))), "another process", "in use")
	valuetest.Equal(t, snapshot(t, into), before, "something changed")
	unlock()
	must(Compact(context.Background(), from, into, "test", noDamage(t)))
}

// TestCompactKill ends compacting processes with SIGKILL after a random number of file operations, until one comes to its end.
func TestCompactKill(t *testing.T) {
	t.Parallel()
	from := yearStore(t)
	var operations strings.Builder
	want := must(compactWith(from, &announced{must(disk.NewOS(filepath.Join(t.TempDir(), "whole"))), &operations}))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range tier(1, 10, 60) {
		into := filepath.Join(t.TempDir(), "new")
		var finished map[string]fs.FileInfo
		for kills := 0; !isStore(into); kills++ {
			operation := random.IntN(operations.Len())
			if kills == 8 {
				operation = operations.Len()
			}
			err := killedAt(t, from, into, operation)
			if isStore(into) {
				break
			}
			if kills == 8 {
				t.Fatal(err)
			}
			notYet(t, into)
			valuetest.Equal(t, sameFiles(into, finished), len(finished))
			finished = finishedFiles(t, into)
		}
		if _, err := os.Stat(filepath.Join(into, compactMark)); err == nil { // it was killed after the header
			must(Compact(context.Background(), from, into, "test", noDamage(t)))
		}
		wholeStore(t, into)
		if got := contents(t, into); len(got) != want.Runs || sameFiles(into, finished) != len(finished) {
			t.Errorf("it holds %d runs, want %d; %d of %d finished files are kept", len(got), want.Runs, sameFiles(into, finished), len(finished))
		}
	}
}

// killedAt starts a process that compacts, and kills it once it began so many operations, which it may do before it dies. It returns how
// the process ended.
func killedAt(t *testing.T, from, into string, operation int) error {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childCompactFrom+"="+from, childCompactInto+"="+into)
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())
	mustDo(t, cmd.Start())
	_, ended := io.CopyN(io.Discard, out, int64(operation))
	if ended == nil {
		_ = cmd.Process.Kill()
	}
	_, _ = io.Copy(io.Discard, out) // Wait closes it
	return cmd.Wait()
}

// announced writes a byte before each operation that changes names.
type announced struct {
	disk.OS
	out io.Writer
}

func (a *announced) announce() { _, _ = io.WriteString(a.out, ".") }

func (a *announced) Create(name string) (disk.File, error) {
	a.announce()
	return a.OS.Create(name)
}

func (a *announced) Link(from, to string) error {
	a.announce()
	return a.OS.Link(from, to)
}

func (a *announced) Rename(from, to string) error {
	a.announce()
	return a.OS.Rename(from, to)
}

func (a *announced) Remove(name string) error {
	a.announce()
	return a.OS.Remove(name)
}

// compactChild returns the process of TestCompactKill.
func compactChild(from, into string) error {
	target, err := disk.NewOS(into)
	if err != nil {
		return err
	}
	_, err = compactWith(from, &announced{target, os.Stdout})
	return err
}
