package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// eagerRules seal early and keep nothing: a claim goes as soon as it is settled.
func eagerRules() sealing.Rules {
	return sealing.Rules{Runs: 3, Age: time.Hour, Together: 1, Stale: time.Hour, Dead: func(sealing.Owner) bool { return false }}
}

// heirRules take over whatever is there.
func heirRules() sealing.Rules {
	r := eagerRules()
	r.Stale = 0
	return r
}

func openWith(t testing.TB, dir string, files disk.Files, r sealing.Rules) *Store {
	t.Helper()
	store := must(openStore(dir, "test", files))
	store.sealer.Rules = r
	return store
}

// quickFiles do not fsync.
func quickFiles(dir string) *mortalFiles {
	return &mortalFiles{OS: must(disk.NewOS(dir)), at: -1, steps: newStepCounts()}
}

// mustSeal seals all that may be sealed, of whomever.
func mustSeal(t testing.TB, dir string) int {
	t.Helper()
	store := openWith(t, dir, quickFiles(dir), heirRules())
	runs := must(store.Seal(t.Context()))
	return runs
}

func ids(runs ...schema.Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.RunID)
	}
	slices.Sort(all)
	return all
}

// TestSeal: what was appended is sealed; the claim stays for the time of grace, and is gone after it.
func TestSeal(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := []schema.Run{fullRun(), smallRun(), realisticRun(), smallRun()}
	runs[1].Primary, runs[1].Metrics = "", nil
	mustAppend(t, store, runs...)
	n := must(store.Seal(t.Context()))
	valuetest.Equal(t, n, 4)
	live, sealed, claims := whereRuns(t, dir)
	if len(live) > 0 || !slices.Equal(sealed, ids(runs...)) || len(claims) != 1 {
		t.Errorf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
	valuetest.Equal(t, must(store.Seal(t.Context())), 0, "once more")
	if _, _, claims := whereRuns(t, dir); len(claims) != 1 {
		t.Errorf("in its grace, claims %v", claims)
	}
	entries, err := os.ReadDir(filepath.Join(dir, claims[0].Path()))
	if err != nil || len(entries) != 3 { // owner, plan, segment
		t.Errorf("the claim has %v, %v", entries, err)
	}
	store.sealer.Rules.Grace = 0
	mustAppend(t, store, smallRun())
	live, sealed, claims = whereRuns(t, dir)
	if len(live) != 1 || len(sealed) != 4 || len(claims) != 0 {
		t.Errorf("after the grace: live %v, sealed %v, claims %v", live, sealed, claims)
	}
	valuetest.DeepEqual(t, must(os.ReadDir(filepath.Join(dir, schema.TrashDir))), nil, "trash")
	checkStore(t, dir)
}

// TestLeftovers: what sealing leaves is removed by the first writer after the grace period, even if it appends no run, or
// appends runs without a segment. In the grace period everything stays.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	writers := map[string]func(s *Store) error{
		"an annotation": func(s *Store) error {
			_, err := s.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{smallRun().RunID}, Value: "x"})
			return err
		},
		"an import": func(s *Store) error {
			_, err := s.AppendAll(runtest.Each(smallRun()))
			return err
		},
		"a run":   func(s *Store) error { return s.Append(smallRun()) },
		"nothing": func(*Store) error { return nil },
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			store, dir := newStore(t)
			for range store.sealer.Rules.Together {
				mustAppend(t, store, smallRun())
			}
			mustDo(t, store.Close())
			for _, c := range []struct {
				grace time.Duration
				left  int
			}{{time.Hour, 1}, {0, 0}} {
				next := must(Open(dir, "test"))
				next.sealer.Rules.Grace = c.grace
				mustDo(t, write(next))
				mustDo(t, next.Close())
				if _, sealed, claims := whereRuns(t, dir); len(claims) != c.left || len(sealed) < next.sealer.Rules.Together {
					t.Errorf("with a grace of %v, %d runs are sealed, claims %v", c.grace, len(sealed), claims)
				}
			}
			valuetest.DeepEqual(t, must(os.ReadDir(filepath.Join(dir, schema.TrashDir))), nil, "trash")
		})
	}
}

// TestSealDue: a segment is sealed when it has many runs, when it is old, and at the end if that is worth a file.
func TestSealDue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs   int
		rules  func(*sealing.Rules)
		sealed int // before Close
		after  int // Close
	}{
		"few":       {3, func(r *sealing.Rules) {}, 0, 0},
		"a file's":  {8, func(r *sealing.Rules) {}, 0, 8},
		"many":      {5, func(r *sealing.Rules) { r.Runs = 2 }, 4, 4},
		"slow ones": {3, func(r *sealing.Rules) { r.Age = 0 }, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir := newStore(t)
			c.rules(&store.sealer.Rules)
			for range c.runs {
				mustAppend(t, store, smallRun())
			}
			live, sealed, _ := whereRuns(t, dir)
			valuetest.Equal(t, len(sealed), c.sealed)
			valuetest.Equal(t, len(live), c.runs-c.sealed)
			mustDo(t, store.Close())
			live, sealed, _ = whereRuns(t, dir)
			valuetest.Equal(t, len(sealed), c.after, "after Close")
			valuetest.Equal(t, len(live), c.runs-c.after, "after Close")
		})
	}
}

// TestSealTogether: many invocations of one run each, whose processes are gone, do not leave a file each.
func TestSealTogether(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	for range 26 {
		cmd, out := child(t, dir, 1)
		_ = drain(out)
		mustDo(t, cmd.Wait())
	}
	listed := must(schema.List(os.DirFS(dir), schema.Scope{}))
	if len(listed.Live) > 8 || len(listed.Sealed) > 3 || len(listed.Sealed) < 2 {
		t.Errorf("%d live files and %d sealed ones", len(listed.Live), len(listed.Sealed))
	}
	valuetest.Equal(t, len(checkStore(t, dir)), 26)
}

// TestSealLeavesOthers: what a living process appends to is not sealed by another one, until nobody touched it for long.
func TestSealLeavesOthers(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	other := must(Open(dir, "test"))
	valuetest.Equal(t, must(other.Seal(t.Context())), 0)
	segment := filepath.Join(dir, filepath.FromSlash(store.segment.path()))
	for _, name := range []string{segment, filepath.Join(segment, schema.OwnerFile)} {
		old := time.Now().Add(-25 * time.Hour)
		mustDo(t, os.Chtimes(name, old, old))
	}
	valuetest.Equal(t, must(other.Seal(t.Context())), 1, "after 25 hours")
	mustAppend(t, store, smallRun()) // goes to another segment
	if there := checkStore(t, dir); len(there) != 2 {
		t.Errorf("the store has %v", there)
	}
}

// TestDropped: a run that a sealed file holds already is not sealed again, and another run of its id is kept.
func TestDropped(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	same, other := smallRun(), smallRun()
	mustAppend(t, store, same, other)
	must(store.Seal(t.Context()))
	other.Error = "another"
	fresh := smallRun()
	mustAppend(t, store, same, other, fresh)
	valuetest.Equal(t, must(store.Seal(t.Context())), 1)
	store.sealer.Rules.Grace = 0
	for range 2 {
		valuetest.Equal(t, must(store.Seal(t.Context())), 0, "once more")
	}
	live, sealed, claims := whereRuns(t, dir)
	if !slices.Equal(live, ids(other)) || !slices.Equal(slices.Sorted(slices.Values(sealed)), ids(same, other, fresh)) || len(claims) > 0 {
		t.Errorf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
}

// breakFile flips a byte in the file of a run.
func breakFile(t *testing.T, dir string, run schema.Run) {
	t.Helper()
	found := must(filepath.Glob(filepath.Join(dir, "live", "*", run.RunID+".parquet")))
	valuetest.Equal(t, len(found), 1, found)
	content := must(os.ReadFile(found[0]))
	content[len(content)/2] ^= 1
	mustDo(t, os.WriteFile(found[0], content, 0o666))
}

// TestSealDamaged: a damaged run stays, byte for byte, and does not keep the others from being sealed; what holds
// nothing else is left alone.
func TestSealDamaged(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	good, bad := smallRun(), smallRun()
	mustAppend(t, store, good, bad)
	breakFile(t, dir, bad)
	valuetest.Equal(t, mustSeal(t, dir), 1)
	mustSeal(t, dir)
	live, sealed, claims := whereRuns(t, dir)
	if !slices.Equal(live, ids(bad)) || !slices.Equal(sealed, ids(good)) || len(claims) > 0 {
		t.Fatalf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
	before := snapshot(t, dir)
	mustSeal(t, dir)
	valuetest.Equal(t, snapshot(t, dir), before, "sealing again changed something")
}

// TestStraggler: a run that comes into a claim after it was planned goes back, and is sealed the next time.
func TestStraggler(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := []schema.Run{smallRun(), smallRun()}
	mustAppend(t, store, runs[0])
	segment := store.segment
	store.segment = nil
	valuetest.Equal(t, mustSealKeeping(t, dir), 1)
	_, _, claims := whereRuns(t, dir)
	into := path.Join(claims[0].Path(), segment.id.String())
	late := openWith(t, dir, quickFiles(dir), sealing.StandardRules())
	mustAppend(t, late, runs[1])
	from := schema.LiveFile{Segment: late.segment.id, Run: must(schema.ParseULID(runs[1].RunID))}.Path()
	mustDo(t, late.files.Rename(from, path.Join(into, path.Base(from))))
	if live, sealed, _ := whereRuns(t, dir); !slices.Equal(live, ids(runs[1])) || !slices.Equal(sealed, ids(runs[0])) {
		t.Fatalf("live %v, sealed %v", live, sealed)
	}
	valuetest.Equal(t, mustSeal(t, dir)+mustSeal(t, dir), 1)
	if live, sealed, _ := whereRuns(t, dir); len(live) > 0 || !slices.Equal(slices.Sorted(slices.Values(sealed)), ids(runs...)) {
		t.Errorf("live %v, sealed %v", live, sealed)
	}
}

// mustSealKeeping seals everything and keeps the claims.
func mustSealKeeping(t *testing.T, dir string) int {
	t.Helper()
	r := heirRules()
	r.Grace = time.Hour
	runs := must(openWith(t, dir, must(disk.NewOS(dir)), r).Seal(t.Context()))
	return runs
}

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

// newBareStore returns a store that seals only what it is told to.
func newBareStore(b *testing.B) (*Store, string) {
	b.Helper()
	store, dir := newStore(b)
	store.sealer.Rules.Runs = 1 << 30
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
	valuetest.Equal(b, must(store.sealer.Seal(b.Context(), 1)), runs)
}

// readLiveFiles reads every value of every live file.
func readLiveFiles(b *testing.B, dir string) {
	b.Helper()
	names := must(filepath.Glob(filepath.Join(dir, "live", "*", "*.parquet")))
	rows := make([]parquet.Row, 1)
	for _, name := range names {
		content := must(os.ReadFile(name))
		file := must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
		reader := parquet.NewReader(file)
		if n, err := reader.ReadRows(rows); n != 1 || err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(n, err)
		}
		mustDo(b, reader.Close())
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

// abandonedSegment leaves a segment behind: one good run, and one that is damaged.
func abandonedSegment(t *testing.T, dir string) (good, bad schema.Run) {
	t.Helper()
	store := openWith(t, dir, quickFiles(dir), eagerRules())
	good, bad = smallRun(), smallRun()
	bad.StartedAt = bad.StartedAt.Add(time.Millisecond) // so that they are always met in this order
	bad.RunID = schema.NewULID(bad.StartedAt).String()
	mustAppend(t, store, good, bad)
	breakFile(t, dir, bad)
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{"", schema.OwnerFile} {
		mustDo(t, os.Chtimes(filepath.Join(dir, filepath.FromSlash(store.segment.path()), name), old, old))
	}
	store.segment.close()
	return good, bad
}

// sealingSession appends runs, seals on the way and at the end, and gives the runs that were acknowledged.
func sealingSession(t *testing.T, dir string, files disk.Files) (acked, failed []schema.Run, err error) {
	t.Helper()
	store, err := openStore(dir, "test", files)
	if err != nil {
		return nil, nil, err
	}
	store.sealer.Rules = eagerRules()
	full := fullRun()
	full.StartedAt = time.Now().UTC()
	full.RunID = schema.NewULID(full.StartedAt).String()
	for _, run := range []schema.Run{full, smallRun(), smallRun(), smallRun(), smallRun()} {
		if err := store.Append(run); err != nil {
			failed = append(failed, run)
		} else {
			acked = append(acked, run)
		}
	}
	return acked, failed, store.Close()
}

// checkHeir lets another process finish what one left, and checks that every run is sealed once, and that nothing else
// is left but the damaged one.
func checkHeir(t *testing.T, dir string, acked []schema.Run, bad schema.Run) {
	t.Helper()
	there := checkStoreBut(t, dir, bad)
	for _, run := range acked {
		valuetest.Equal(t, there[run.RunID], 1, "run", run.RunID, "was acknowledged and is in the store")
	}
	for range 4 {
		mustSeal(t, dir)
	}
	live, sealed, claims := whereRuns(t, dir)
	valuetest.DeepEqual(t, []any{slices.Equal(live, ids(bad)), len(claims)}, []any{true, 0}, "live", live, "claims", claims)
	slices.Sort(sealed)
	for _, run := range acked {
		if _, found := slices.BinarySearch(sealed, run.RunID); !found {
			t.Fatalf("run %s is lost", run.RunID)
		}
	}
	valuetest.Equal(t, len(slices.Compact(sealed)), len(sealed), "a run is sealed twice")
	if entries, err := os.ReadDir(filepath.Join(dir, schema.TrashDir)); err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		t.Fatalf("trash has %v, %v", entries, err)
	}
}

// checkStoreBut is checkStore of a store that has a damaged run.
func checkStoreBut(t *testing.T, dir string, bad schema.Run) map[string]int {
	t.Helper()
	live, sealed, _ := whereRuns(t, dir)
	there := map[string]int{}
	for _, id := range live {
		there[id] = 1
	}
	for _, id := range sealed {
		there[id] = 1
	}
	valuetest.Equal(t, there[bad.RunID], 1, "the damaged run is lost")
	return there
}

// TestSealCrash lets a process that seals crash at each step, with NEUROLENS_LONG=1 at every fourth of its operations, and with
// NEUROLENS_LONG=all at each.
func TestSealCrash(t *testing.T) {
	t.Parallel()
	counts := newStepCounts()
	crash := func(at int, step string) bool {
		_, dir := newStore(t)
		good, bad := abandonedSegment(t, dir)
		files := &mortalFiles{OS: must(disk.NewOS(dir)), at: at, step: step, steps: counts}
		acked, _, _ := sealingSession(t, dir, files)
		checkHeir(t, dir, append(acked, good), bad)
		return files.crashed()
	}
	for _, s := range steps {
		crash(-1, s.name)
	}
	step := tier(0, 4, 1)
	for at := rand.IntN(max(step, 1)); step > 0 && crash(at, ""); at += step {
	}
	for _, s := range steps {
		if !strings.HasPrefix(s.name, "take-over") && counts.crashes[s.name] == 0 {
			t.Errorf("no crash at %q", s.name)
		}
	}
	t.Logf("crashes %v", counts.crashes)
}

// checkUnsynced: a file whose fsync failed is never linked; it is made anew before.
func checkUnsynced(t *testing.T, f *faultyFiles) {
	t.Helper()
	if !f.Hit {
		return
	}
	name, failed := strings.CutPrefix(f.Trace[f.At], "sync ")
	if !failed || !strings.HasSuffix(name, ".out") {
		return
	}
	for _, operation := range f.Trace[f.At+1:] {
		switch {
		case operation == "create "+name:
			return
		case strings.HasPrefix(operation, "link "+name):
			t.Fatalf("operation %d: %s although its fsync failed", f.At, operation)
		}
	}
}

// TestSealFaults lets every file operation of a process that seals fail in turn: no run is lost or there twice, what was
// acknowledged is there, and when the cause is gone all can be sealed. With NEUROLENS_LONG=1 every operation meets some of
// the faults, with NEUROLENS_LONG=all all of them.
func TestSealFaults(t *testing.T) {
	t.Parallel()
	stride, first := tier(251, 18, 1), 0
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.ENOENT} {
		for _, files := range []faultyFiles{{}, {Late: true}, {Lasting: true}} {
			files.At = tier(19, 1, 1) * first % stride
			first++
			if fault != syscall.EIO && (files.Late || files.Lasting) && tier(0, 1, 1) == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%v, late %v, lasting %v", fault, files.Late, files.Lasting), func(t *testing.T) {
				t.Parallel()
				for {
					_, dir := newStore(t)
					good, bad := abandonedSegment(t, dir)
					f := files
					f.Fault, f.OS, f.Quick = fault, must(disk.NewOS(dir)), true
					acked, failed, err := sealingSession(t, dir, &f)
					if err != nil && strings.Contains(err.Error(), "\n") {
						t.Fatalf("an error of more than one line: %v", err)
					}
					checkUnsynced(t, &f)
					checkHeir(t, dir, append(acked, good), bad)
					again := openWith(t, dir, quickFiles(dir), eagerRules())
					mustAppend(t, again, failed...)
					mustDo(t, again.Close())
					checkHeir(t, dir, append(append(acked, good), failed...), bad)
					if !f.Hit {
						break
					}
					files.At += stride
				}
				if files.At < 100 {
					t.Errorf("a session of %d file operations does not seal much", files.At)
				}
			})
		}
	}
}

// TestSealOrder holds the order of operations that a run which was acknowledged rests on.
func TestSealOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true}
	store := openWith(t, dir, files, eagerRules())
	mustAppend(t, store, fullRun(), smallRun())
	files.Trace = nil
	must(store.Seal(t.Context()))
	_, _, claims := whereRuns(t, dir)
	mustAppend(t, store, smallRun())
	var trace []string
	last := ""
	for _, operation := range files.Trace {
		if name := stepOf(operation); name != "" && name != last && !strings.HasPrefix(name, "append") {
			trace = append(trace, name)
			last = name
		}
	}
	want := []string{
		"1: mkdir", "2: fsync claims", "1: owner", // durable before anything is in it
		"2: rename", "2: fsync segment", "2: fsync claim", "2: fsync live",
		"4: create", "4: write", "4: fsync", "4: write", "4: fsync", "4: write", "4: fsync", // of each table
		"3: plan", "2: fsync claim",
		"5: link samples", "5: fsync samples", "5: link ops", "5: fsync ops", "6: link runs", "6: fsync runs", "6: remove outs",
		"7c: rename", "7c: fsync trash", "2: fsync claims", "7c: remove", "segment: mkdir", "2: fsync live", "segment: owner",
	}
	if !slices.Equal(trace, want) {
		t.Errorf("claims %v, operations\n got %q\nwant %q\n%s", claims, trace, want, strings.Join(files.Trace, "\n"))
	}
}

// TestSealNoLinks: without hard links renames seal, whatever operation fails or ends the process: with NEUROLENS_LONG=1 every third fails in
// one of the ways, with NEUROLENS_LONG=all every one in each.
func TestSealNoLinks(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	acked, failed, err := sealingSession(t, dir, &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true, Linkless: true})
	if live, sealed, _ := whereRuns(t, dir); err != nil || len(failed) > 0 || len(live) > 0 || len(sealed) != len(acked) {
		t.Errorf("live %v, sealed %v of %d runs: %v", live, sealed, len(acked), err)
	}
	for i, files := range []faultyFiles{{}, {Late: true}, {Lasting: true}} {
		files.At = tier(40, 1+3*i, 1)
		for hit := true; hit; files.At += tier(97, 9, 1) {
			_, dir := newStore(t)
			good, bad := abandonedSegment(t, dir)
			f := files
			f.Fault, f.OS, f.Quick, f.Linkless = errCrashed, must(disk.NewOS(dir)), true, true
			acked, _, _ := sealingSession(t, dir, &f)
			checkHeir(t, dir, append(acked, good), bad)
			hit = f.Hit
		}
	}
}

// TestSealEnds: a context that ends leaves everything for the next one.
func TestSealEnds(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun(), smallRun())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := store.Seal(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
	valuetest.Equal(t, must(store.Seal(t.Context())), 2)
	checkStore(t, dir)
}

// TestLater: a run of a time after the claim, as where it came late into a segment of a machine whose clock is ahead, is
// left for another claim: the folder of a sealed file holds no run that is later.
func TestLater(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	soon, late := smallRun(), smallRun()
	late.StartedAt = late.StartedAt.AddDate(0, 2, 0)
	late.RunID = schema.NewULID(late.StartedAt).String()
	mustAppend(t, store, soon, late)
	store.leaveSegment()
	store.sealer.Files = lateFiles{store.files, late.RunID}
	valuetest.Equal(t, must(store.Seal(t.Context())), 1)
	if live, sealed, _ := whereRuns(t, dir); !slices.Equal(live, ids(late)) || !slices.Equal(sealed, ids(soon)) {
		t.Errorf("live %v, sealed %v", live, sealed)
	}
	mustSeal(t, dir)
	mustSeal(t, dir)
	if live, sealed, _ := whereRuns(t, dir); len(live) > 0 || len(sealed) != 2 {
		t.Errorf("at the end live %v, sealed %v", live, sealed)
	}
}

// TestAppendAfterFailure: a run whose appending failed after it had its name is appended again, when its segment was
// sealed in the meantime: it is there once.
func TestAppendAfterFailure(t *testing.T) {
	t.Parallel()
	for _, sealer := range []func(*testing.T, string) int{mustSealKeeping, func(t *testing.T, dir string) int { return mustSeal(t, dir) }, claimOnly} {
		_, dir := newStore(t)
		files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true, Fault: syscall.EIO, Lasting: true}
		store := openWith(t, dir, files, sealing.StandardRules())
		mustAppend(t, store, smallRun())
		run := smallRun()
		files.At = len(files.Trace) + 5 // the fsync of the segment
		files.Healed = false
		if err := store.Append(run); !errors.Is(err, syscall.EIO) {
			t.Fatalf("%v\n%s", err, strings.Join(files.Trace, "\n"))
		}
		files.Healed = true
		sealer(t, dir)
		mustAppend(t, store, run)
		if there := checkStore(t, dir); len(there) != 2 || there[run.RunID] != 1 {
			t.Fatalf("the store has %v", there)
		}
		if live, sealed, _ := whereRuns(t, dir); len(live)+len(sealed) != 2 {
			t.Errorf("live %v, sealed %v", live, sealed)
		}
		run.Error = "another"
		store.failed[must(schema.ParseULID(run.RunID))] = schema.ULID{}
		valuetest.Fails(t, store.Append(run), "", "another run with this id was taken")
	}
}

// claimOnly claims everything and dies.
func claimOnly(t *testing.T, dir string) int {
	t.Helper()
	files := &claimingFiles{Files: quickFiles(dir)}
	if _, err := openWith(t, dir, files, heirRules()).Seal(t.Context()); !errors.Is(err, errCrashed) || !files.claimed {
		t.Fatalf("claimed: %t, %v", files.claimed, err)
	}
	return 0
}

// claimingFiles make no file once a segment is in a claim.
type claimingFiles struct {
	disk.Files
	claimed bool
}

func (f *claimingFiles) Rename(from, to string) error {
	f.claimed = f.claimed || strings.HasPrefix(to, schema.ClaimsDir+"/")
	return f.Files.Rename(from, to)
}

func (f *claimingFiles) Create(name string) (disk.File, error) {
	if f.claimed {
		return nil, errCrashed
	}
	return f.Files.Create(name)
}

// lateFiles do not list a run in its segment: it comes when the segment is in a claim.
type lateFiles struct {
	disk.Files
	run string
}

func (f lateFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.Files, name)
	if path.Dir(name) == schema.LiveDir {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.Contains(e.Name(), f.run) })
	}
	return entries, err
}

// TestRescueOrder: what is rescued from a claim is on disk before the claim goes.
func TestRescueOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	abandonedSegment(t, dir)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true}
	store := openWith(t, dir, files, heirRules())
	for range 2 {
		must(store.Seal(t.Context()))
	}
	at := 0
	for _, operation := range []string{"mkdir live/", "sync live", "link claims/", "sync live/", "rename claims/"} {
		next := slices.IndexFunc(files.Trace[at:], func(done string) bool { return strings.HasPrefix(done, operation) })
		if next < 0 {
			t.Fatalf("%q is not where it should be:\n%s", operation, strings.Join(files.Trace, "\n"))
		}
		at += next + 1
	}
}

// TestDropOrder: before a run is dropped, the sealed file that holds it is on disk, whoever made it.
func TestDropOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true}
	store := openWith(t, dir, files, sealing.StandardRules())
	run := smallRun()
	mustAppend(t, store, run)
	must(store.Seal(t.Context()))
	mustAppend(t, store, run)
	files.Trace = nil
	valuetest.Equal(t, must(store.Seal(t.Context())), 0)
	sync := slices.IndexFunc(files.Trace, func(done string) bool { return strings.HasPrefix(done, "sync runs/") })
	plan := slices.IndexFunc(files.Trace, func(done string) bool {
		return strings.HasSuffix(done, schema.PlanFile) && strings.HasPrefix(done, "link")
	})
	if sync < 0 || plan < sync {
		t.Errorf("operations %s", strings.Join(files.Trace, "\n"))
	}
}
