package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

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
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(store.segment.path()), name), old, old); err != nil {
			t.Fatal(err)
		}
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
		if there[run.RunID] != 1 {
			t.Fatalf("run %s was acknowledged and is in the store %d times", run.RunID, there[run.RunID])
		}
	}
	for range 4 {
		mustSeal(t, dir)
	}
	live, sealed, claims := whereRuns(t, dir)
	if !slices.Equal(live, ids(bad)) || len(claims) > 0 {
		t.Fatalf("live %v, claims %v", live, claims)
	}
	slices.Sort(sealed)
	for _, run := range acked {
		if _, found := slices.BinarySearch(sealed, run.RunID); !found {
			t.Fatalf("run %s is lost", run.RunID)
		}
	}
	if len(slices.Compact(sealed)) != len(sealed) {
		t.Fatal("a run is sealed twice")
	}
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
	if there[bad.RunID] != 1 {
		t.Fatal("the damaged run is lost")
	}
	return there
}

// TestSealCrash lets a process that seals crash at each step, with NEUROLENS_LONG=1 at every fourth of its operations, and with
// NEUROLENS_TORTURE=1 at each.
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
// the faults, with NEUROLENS_TORTURE=1 all of them.
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
					if err := again.Close(); err != nil {
						t.Fatal(err)
					}
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
