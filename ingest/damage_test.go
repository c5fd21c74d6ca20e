package ingest

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// runState is what a store says of a run: hashes of its rows of each table, one after another.
type runState struct{ run, samples, ops string }

// states reads every run of a store, however little is left of it.
func states(t testing.TB, dir string) map[string]runState {
	t.Helper()
	return statesIn(t, must(disk.NewOS(dir)))
}

func statesIn(t testing.TB, f fs.FS) map[string]runState {
	t.Helper()
	listing, err := schema.List(f, schema.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]runState{}
	add := func(id string, run []any, samples, ops [][]any) {
		if _, twice := all[id]; twice {
			t.Fatalf("run %s is there twice", id)
		}
		all[id] = runState{hashRows([][]any{run}), hashRows(samples), hashRows(ops)}
	}
	for _, file := range listing.Sealed {
		if _, err := runfile.Salvage(runfile.InputOf(f, file), runfile.ReadLost(f), func(r runfile.Salvaged) error {
			add(r.RunID, r.Run, r.Samples, r.Ops)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range listing.Live {
		live, err := runfile.ReadLiveFile(f, file)
		if err != nil {
			t.Fatal(err)
		}
		add(live.RunID, live.Run, live.Samples, live.Ops)
	}
	return all
}

func hashRows(rows [][]any) string {
	var all []byte
	for _, row := range rows {
		hash := schema.RowHash(row)
		all = append(all, hash[:]...)
	}
	return string(all)
}

// damagedStore is a store with two sealed files and a live run, of which one file is damaged where it costs something, and
// a copy from before.
func damagedStore(t testing.TB, zone string) (dir, good string, f schema.SealedFile) {
	t.Helper()
	dir, f = sealedStore(t, fullRun(), smallRun(), smallRun())
	store := must(Open(dir, "test"))
	mustAppend(t, store, smallRun())
	mustDo(t, store.Close())
	good = copied(t, dir)
	if zone == aRunLess {
		rewrite(t, dir, f, schema.Runs, func(rows [][]any) [][]any { return rows[:len(rows)-1] })
	} else {
		flipFirst(t, filepath.Join(dir, f.Path(zone)))
	}
	return dir, good, f
}

// aRunLess is damage of which some runs of a file are left.
const aRunLess = "a run less"

// damagedZones are what damagedStore can damage.
var damagedZones = []string{schema.RunsDir, schema.SamplesDir, schema.OpsDir, aRunLess}

// TestMergeHeals has a copy of a store from before a repair: merging it brings back what was lost, and takes the marks
// away, wherever the copy has the runs.
func TestMergeHeals(t *testing.T) {
	t.Parallel()
	for _, zone := range damagedZones {
		for _, compact := range []bool{false, true} {
			dir, good, _ := damagedStore(t, zone)
			want := states(t, good)
			if compact {
				into := filepath.Join(t.TempDir(), "compact")
				must(Compact(context.Background(), good, into, "test", noDamage(t)))
				good = into
			}
			mustRepair(t, dir, false)
			if maps.Equal(states(t, dir), want) {
				t.Fatalf("%s: nothing was lost", zone)
			}
			done := mustMerge(t, good, dir)
			if got := states(t, dir); !maps.Equal(got, want) || done.Added+done.Healed == 0 {
				t.Errorf("%s: merged %+v, %d runs", zone, done, len(got))
			}
			if lost := runfile.ReadLost(os.DirFS(dir)); len(lost) > 0 {
				t.Errorf("%s: marked %v", zone, lost)
			}
			wholeStore(t, dir)
			if again := mustMerge(t, good, dir); again.Added+again.Healed+again.Events != 0 {
				t.Errorf("%s: again %+v", zone, again)
			}
			// The other way: the marks of a store that has lost rows say nothing of one that has them.
			mustMerge(t, dir, good)
			if got := states(t, good); !maps.Equal(got, want) || len(runfile.ReadLost(os.DirFS(good))) > 0 {
				t.Errorf("%s: the copy has %d runs, and is marked %v", zone, len(got), runfile.ReadLost(os.DirFS(good)))
			}
		}
	}
}

// TestMergeLossy merges a store that has lost rows into an empty one, which is marked then, and into a whole one, which is
// not.
func TestMergeLossy(t *testing.T) {
	t.Parallel()
	dir, good, _ := damagedStore(t, schema.SamplesDir)
	mustRepair(t, dir, false)
	_, empty := newStore(t)
	mustMerge(t, dir, empty)
	wholeStore(t, empty)
	if !maps.Equal(states(t, empty), states(t, dir)) || len(runfile.ReadLost(os.DirFS(empty))) != 3 {
		t.Errorf("marked %v", runfile.ReadLost(os.DirFS(empty)))
	}
	want := states(t, good)
	mustMerge(t, dir, good)
	wholeStore(t, good)
	if !maps.Equal(states(t, good), want) || len(runfile.ReadLost(os.DirFS(good))) != 0 {
		t.Errorf("a whole store is marked %v", runfile.ReadLost(os.DirFS(good)))
	}
	mustMerge(t, good, empty)
	if !maps.Equal(states(t, empty), want) {
		t.Error("the third store is not healed")
	}
}

// TestRestoreQuarantine puts a good copy in the place of a damaged file that was set aside.
func TestRestoreQuarantine(t *testing.T) {
	t.Parallel()
	for _, zone := range schema.TableZones {
		dir, good, f := damagedStore(t, zone)
		mustRepair(t, dir, false)
		before := states(t, dir)
		store := must(Open(dir, "test"))
		restore := func() (Merged, int) {
			refused := 0
			done, err := store.RestoreQuarantine(context.Background(), func(LeftOut) { refused++ })
			mustDo(t, err)
			return done, refused
		}
		if done, refused := restore(); refused != 1 || done.Added+done.Healed != 0 || !maps.Equal(states(t, dir), before) {
			t.Errorf("%s: from the damaged file %+v, %d refused", zone, done, refused)
		}
		writeFile(t, filepath.Join(dir, layout.QuarantineDir, f.Path(zone)), must(os.ReadFile(filepath.Join(good, f.Path(zone)))))
		if done, refused := restore(); refused != 0 || done.Added+done.Healed == 0 {
			t.Errorf("%s: restored %+v, %d refused", zone, done, refused)
		}
		if got := states(t, dir); !maps.Equal(got, states(t, good)) || len(runfile.ReadLost(os.DirFS(dir))) != 0 {
			t.Errorf("%s: %d runs, marked %v", zone, len(got), runfile.ReadLost(os.DirFS(dir)))
		}
		wholeStore(t, dir)
		if done, refused := restore(); refused != 0 || done.Added+done.Healed+done.Events != 0 {
			t.Errorf("%s: again %+v", zone, done)
		}
		mustDo(t, store.Close())
	}
}

// TestRepairFaults lets every file operation of a repair and of a merge that heals fail in turn. After each a reader meets
// every run that is not lost once, and none but marked ones lack rows; when the cause is gone the same command does the rest.
func TestRepairFaults(t *testing.T) {
	for _, zone := range damagedZones {
		dir, good, _ := damagedStore(t, zone)
		whole := states(t, good)
		repaired := copied(t, dir)
		mustRepair(t, repaired, false)
		want := states(t, repaired)
		t.Run("repair "+zone, func(t *testing.T) {
			t.Parallel()
			eachFault(t, dir, func(files *faultyFiles) error {
				store, err := check.OpenFiles(files.root(), "test", files)
				if err == nil {
					_, err = store.Repair(context.Background(), func(check.Repair) {})
				}
				return err
			}, want)
		})
		t.Run("heal "+zone, func(t *testing.T) {
			t.Parallel()
			eachFault(t, repaired, func(files *faultyFiles) error {
				_, err := mergeFrom(must(disk.NewOS(good)), files, func(f LeftOut) { t.Fatalf("refused %+v", f) })
				return err
			}, whole)
		})
	}
}

// eachFault does a task on copies of a store, of whose operations one fails, and then again.
func eachFault(t *testing.T, dir string, task func(*faultyFiles) error, want map[string]runState) {
	before := states(t, dir)
	step := tier(199, 1, 1)
	for _, plan := range []faultyFiles{{}, {late: true}, {lasting: true}} {
		plan.fault, plan.quick = errCrashed, true
		for plan.at = 1; ; plan.at += step {
			files := plan
			into := copied(t, dir)
			files.OS = must(disk.NewOS(into))
			err := task(&files)
			if files.hit && err == nil && files.unsync > 0 {
				t.Fatalf("operation %d: done though an fsync failed", files.at)
			}
			for id, is := range states(t, into) {
				if was, there := before[id]; is != want[id] && (!there || is != was) {
					t.Fatalf("operation %d, %v: run %s is neither as before nor as after", files.at, err, id)
				}
			}
			for id := range want {
				if _, there := states(t, into)[id]; before[id] != (runState{}) && !there {
					t.Fatalf("operation %d, %v: run %s is gone", files.at, err, id)
				}
			}
			files.healed = true
			if err := task(&files); err != nil {
				t.Fatalf("operation %d, again: %v", files.at, err)
			}
			if got := states(t, into); !maps.Equal(got, want) {
				t.Fatalf("operation %d: %d runs, want %d", files.at, len(got), len(want))
			}
			wholeStore(t, into)
			mustDo(t, os.RemoveAll(into))
			if !files.hit {
				break
			}
		}
	}
}

// root is the directory of the store.
func (f *faultyFiles) root() string { return string(f.Dir) }
