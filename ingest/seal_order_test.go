package ingest

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// TestSealOrder holds the order of operations that a run which was acknowledged rests on.
func TestSealOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true}
	store := openWith(t, dir, files, eagerRules())
	mustAppend(t, store, fullRun(), smallRun())
	files.Trace = nil
	if _, err := store.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
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
// one of the ways, with NEUROLENS_TORTURE=1 every one in each.
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
	if n, err := store.Seal(t.Context()); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
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
	if n, err := store.Seal(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
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
		if err := store.Append(run); err == nil {
			t.Error("another run with this id was taken")
		}
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
		if _, err := store.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
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
	if _, err := store.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, run)
	files.Trace = nil
	if n, err := store.Seal(t.Context()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	sync := slices.IndexFunc(files.Trace, func(done string) bool { return strings.HasPrefix(done, "sync runs/") })
	plan := slices.IndexFunc(files.Trace, func(done string) bool {
		return strings.HasSuffix(done, schema.PlanFile) && strings.HasPrefix(done, "link")
	})
	if sync < 0 || plan < sync {
		t.Errorf("operations %s", strings.Join(files.Trace, "\n"))
	}
}
