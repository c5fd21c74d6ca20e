package ingest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMergeHeals has a copy of a store from before a repair: merging it brings back what was lost, and takes the marks
// away, wherever the copy has the runs.
func TestMergeHeals(t *testing.T) {
	t.Parallel()
	for _, zone := range storetest.DamagedZones {
		for _, compact := range []bool{false, true} {
			dir, good, _ := storetest.Damaged(t, open, zone)
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
			valuetest.DeepEqual(t, runfile.ReadLost(os.DirFS(dir)), nil, zone, "marked")
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
	dir, good, _ := storetest.Damaged(t, open, schema.SamplesDir)
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
	valuetest.DeepEqual(t, states(t, empty), want, "the third store is not healed")
}

// TestRestoreQuarantine puts a good copy in the place of a damaged file that was set aside.
func TestRestoreQuarantine(t *testing.T) {
	t.Parallel()
	for _, zone := range schema.TableFolders {
		dir, good, f := storetest.Damaged(t, open, zone)
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
		writeFile(t, filepath.Join(dir, disk.QuarantineDir, f.Path(zone)), must(os.ReadFile(filepath.Join(good, f.Path(zone)))))
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

// TestHealFaults lets every file operation of a merge that heals fail in turn. After each a reader meets every run that is not
// lost once, and none but marked ones lack rows; when the cause is gone the same merge does the rest.
func TestHealFaults(t *testing.T) {
	for _, zone := range storetest.DamagedZones {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			dir, good, _ := storetest.Damaged(t, open, zone)
			mustRepair(t, dir, false)
			storetest.EachFault(t, dir, func(files *faultyFiles) error {
				_, err := mergeFrom(must(disk.NewOS(good)), files, func(f LeftOut) { t.Fatalf("refused %+v", f) })
				return err
			}, states(t, good))
		})
	}
}
