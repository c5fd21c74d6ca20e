package ingest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// startedAt returns a run that started then.
func startedAt(r schema.Run, at time.Time) schema.Run {
	r.StartedAt = at
	r.RunID = schema.NewULID(at).String()
	return r
}

// pair are two stores that have something in common, and no run with two digests.
type pair struct {
	a, b string
	all  []string // ids
}

// newPair makes two stores that share a sealed file, runs in other sealed files, live runs, and runs that one has live
// and the other one sealed; each has runs of its own, live and sealed, events and artifacts.
func newPair(t testing.TB) pair {
	t.Helper()
	year := time.Date(2026, 1, 31, 23, 0, 0, 0, time.UTC)
	var runs []schema.Run
	for i := range 12 {
		runs = append(runs, startedAt(smallRun(), year.Add(time.Duration(i)*30*time.Minute)))
	}
	runs[3] = startedAt(fullRun(), runs[3].StartedAt)
	a, dirA := newStore(t)
	b, dirB := newStore(t)
	seal := func(s *Store, of ...schema.Run) {
		mustAppend(t, s, of...)
		valuetest.Equal(t, must(s.Seal(context.Background())), len(of), "sealed")
	}
	seal(a, runs[0:2]...)
	copyTree(t, dirA, dirB, schema.RunsDir, schema.SamplesDir)
	seal(a, runs[2], runs[3], runs[4])
	seal(b, runs[3], runs[4], runs[5]) // two of them are in the other store
	seal(b, runs[6], runs[7])
	mustAppend(t, a, runs[6], runs[8], runs[9])
	mustAppend(t, b, runs[2], runs[9], runs[10], runs[11])
	for s, run := range map[*Store]string{a: runs[0].RunID, b: runs[6].RunID} {
		must(s.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{run}, Value: "x"}))
	}
	for dir, text := range map[string]string{dirA: "one", dirB: "two"} {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		writeFile(t, filepath.Join(dir, schema.ArtifactsDir, sum[:2], sum), []byte(text))
	}
	p := pair{a: dirA, b: dirB}
	for _, r := range runs {
		p.all = append(p.all, r.RunID)
	}
	return p
}

func mergeFrom(from fs.FS, into disk.Files, refused func(LeftOut)) (Merged, error) {
	m := &merging{from: from, into: into, version: "test", refused: refused, list: listWhole}
	err := m.merge(context.Background())
	return m.done, err
}

func mustMerge(t testing.TB, from, into string) Merged {
	t.Helper()
	done := must(mergeFrom(must(disk.NewOS(from)), must(disk.NewOS(into)), func(f LeftOut) { t.Errorf("refused %+v", f) }))
	return done
}

func TestMerge(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	ab, ba := copied(t, p.a), copied(t, p.b)
	before := snapshot(t, p.b)
	valuetest.Equal(t, mustMerge(t, p.b, ab), (Merged{Added: 4, Skipped: 7, Events: 1, Artifacts: 1}), "merged")
	valuetest.Equal(t, snapshot(t, p.b), before, "the source changed")
	mustMerge(t, p.a, ba)
	for _, dir := range []string{ab, ba} {
		wholeStore(t, dir)
	}
	got := contents(t, ab)
	valuetest.DeepEqual(t, got, contents(t, ba), "merging is not commutative")
	valuetest.DeepEqual(t, slices.Sorted(maps.Keys(got)), p.all, "the runs")
	events := must(schema.List(os.DirFS(ab), schema.Scope{})).Events.Files
	valuetest.Equal(t, len(events), 2)
	again := snapshot(t, ab)
	for _, from := range []string{p.a, p.b, ba} {
		if done := mustMerge(t, from, ab); done.Added+done.Events+done.Artifacts != 0 {
			t.Errorf("a second merge of %s: %+v", from, done)
		}
	}
	if got := contents(t, ab); len(got) != len(p.all) || strings.Count(snapshot(t, ab), "parquet") != strings.Count(again, "parquet") {
		t.Error("a second merge changed something")
	}
}

// TestMergeAbsent: a merge says once that removed runs may be in no file, where it brings removals without their runs, and never where it
// brings the runs too.
func TestMergeAbsent(t *testing.T) {
	t.Parallel()
	store, from := newStore(t)
	runs := sweep(1, 6, 1)
	mustAppend(t, store, runs...)
	for _, removed := range []int{1, 4, 1} { // one of them twice
		must(store.Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{runs[removed].RunID}}))
	}
	mustDo(t, store.Close())
	compacted := filepath.Join(t.TempDir(), "compacted")
	must(Compact(context.Background(), from, compacted, "test", noDamage(t)))
	for name, c := range map[string]struct {
		from string
		want int
	}{"runs and removals": {from, 0}, "removals without runs": {compacted, 1}} {
		empty, into := newStore(t)
		mustDo(t, empty.Close())
		for range 2 {
			mustMerge(t, c.from, into)
			said := 0
			for _, e := range allEvents(t, into, must(schema.List(os.DirFS(into), schema.Scope{})).Events) {
				if e.Kind == schema.EventAbsent {
					said++
				}
			}
			valuetest.Equal(t, said, c.want, name)
		}
	}
}

// TestMergeRefuses has what a merge cannot take: damage, and runs with two digests. All the rest is taken.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	other := startedAt(smallRun(), time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC))
	changed := other
	changed.Error = "another"
	a, b := must(Open(p.a, "test")), must(Open(p.b, "test"))
	defer a.Close()
	defer b.Close()
	mustAppend(t, a, other)
	mustAppend(t, b, changed)
	want := len(contents(t, p.a)) + 3
	flip := func(name string) {
		name = filepath.Join(p.b, name)
		content := must(os.ReadFile(name))
		content[len(content)/3] ^= 1
		mustDo(t, os.WriteFile(name, content, 0o666))
	}
	listing := must(schema.List(os.DirFS(p.b), schema.Scope{}))
	flip(schema.EventFile(listing.Events.Files[0]))
	var refused []string
	done := must(mergeFrom(must(disk.NewOS(p.b)), must(disk.NewOS(p.a)), func(f LeftOut) { refused = append(refused, f.Path+": "+f.Problem) }))
	if done.Refused != 2 || len(refused) != 2 || !strings.Contains(strings.Join(refused, "\n"), other.RunID) {
		t.Errorf("refused %d: %q", done.Refused, refused)
	}
	wholeStore(t, p.a)
	valuetest.Equal(t, len(contents(t, p.a)), want+1)
}

// TestMergeSealedDamage leaves a damaged sealed file away, with all of its runs.
func TestMergeSealedDamage(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{schema.RunsDir, schema.SamplesDir} {
		from, f := sealedStore(t, smallRun(), smallRun())
		_, into := newStore(t)
		name := filepath.Join(from, f.Path(zone))
		content := must(os.ReadFile(name))
		content[len(content)/3] ^= 1
		mustDo(t, os.WriteFile(name, content, 0o666))
		refused := 0
		done, err := mergeFrom(must(disk.NewOS(from)), must(disk.NewOS(into)), func(found LeftOut) {
			refused++
			valuetest.Equal(t, found.Path, f.Path(zone), "refused", found)
		})
		if err != nil || done.Refused != 1 || refused != 1 || done.Added != 0 || len(contents(t, into)) != 0 {
			t.Errorf("%s: merged %+v: %v", zone, done, err)
		}
	}
}

// TestMergeFaults lets every file operation of a merge fail in turn, on either side. After each failure the store is
// whole, and when the cause is gone merging again makes it complete.
func TestMergeFaults(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	merged := copied(t, p.a)
	mustMerge(t, p.b, merged)
	want := contents(t, merged)
	faultLoop(t, func(t *testing.T, files *faultyFiles, reading bool) {
		into := copied(t, p.a)
		defer os.RemoveAll(into)
		from, to := must(disk.NewOS(p.b)), must(disk.NewOS(into))
		var err error
		refuse := func(f LeftOut) { t.Fatalf("operation %d: refused %+v", files.At, f) }
		if reading {
			files.OS = from
			_, err = mergeFrom(files, to, refuse)
		} else {
			files.OS = to
			_, err = mergeFrom(from, files, refuse)
		}
		checkFault(t, files, err)
		wholeStore(t, into)
		if err != nil {
			mustMerge(t, p.b, into)
			wholeStore(t, into)
		}
		valuetest.DeepEqual(t, contents(t, into), want, "operation", files.At, len(want))
	})
}
