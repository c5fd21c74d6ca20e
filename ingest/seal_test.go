package ingest

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
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
	store, err := openStore(dir, "test", files)
	if err != nil {
		t.Fatal(err)
	}
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
	runs, err := store.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	n, err := store.Seal(t.Context())
	if err != nil || n != 4 {
		t.Fatalf("%d, %v", n, err)
	}
	live, sealed, claims := whereRuns(t, dir)
	if len(live) > 0 || !slices.Equal(sealed, ids(runs...)) || len(claims) != 1 {
		t.Errorf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
	if n, err := store.Seal(t.Context()); err != nil || n != 0 {
		t.Errorf("once more: %d, %v", n, err)
	}
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
	if entries, err := os.ReadDir(filepath.Join(dir, schema.TrashDir)); err != nil || len(entries) > 0 {
		t.Errorf("trash has %v, %v", entries, err)
	}
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
			if entries, err := os.ReadDir(filepath.Join(dir, schema.TrashDir)); err != nil || len(entries) > 0 {
				t.Errorf("trash has %v, %v", entries, err)
			}
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
			if len(sealed) != c.sealed || len(live) != c.runs-c.sealed {
				t.Errorf("%d live, %d sealed, want %d sealed", len(live), len(sealed), c.sealed)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			live, sealed, _ = whereRuns(t, dir)
			if len(sealed) != c.after || len(live) != c.runs-c.after {
				t.Errorf("after Close %d live, %d sealed, want %d sealed", len(live), len(sealed), c.after)
			}
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
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := schema.List(os.DirFS(dir), schema.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Live) > 8 || len(listed.Sealed) > 3 || len(listed.Sealed) < 2 {
		t.Errorf("%d live files and %d sealed ones", len(listed.Live), len(listed.Sealed))
	}
	if there := checkStore(t, dir); len(there) != 26 {
		t.Errorf("%d runs", len(there))
	}
}

// TestSealLeavesOthers: what a living process appends to is not sealed by another one, until nobody touched it for long.
func TestSealLeavesOthers(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	other, err := Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := other.Seal(t.Context()); err != nil || n != 0 {
		t.Fatalf("%d, %v", n, err)
	}
	segment := filepath.Join(dir, filepath.FromSlash(store.segment.path()))
	for _, name := range []string{segment, filepath.Join(segment, schema.OwnerFile)} {
		old := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := other.Seal(t.Context()); err != nil || n != 1 {
		t.Fatalf("after 25 hours: %d, %v", n, err)
	}
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
	if _, err := store.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.Error = "another"
	fresh := smallRun()
	mustAppend(t, store, same, other, fresh)
	if n, err := store.Seal(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	store.sealer.Rules.Grace = 0
	for range 2 {
		if n, err := store.Seal(t.Context()); err != nil || n != 0 {
			t.Fatalf("once more: %d, %v", n, err)
		}
	}
	live, sealed, claims := whereRuns(t, dir)
	if !slices.Equal(live, ids(other)) || !slices.Equal(slices.Sorted(slices.Values(sealed)), ids(same, other, fresh)) || len(claims) > 0 {
		t.Errorf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
}

// breakFile flips a byte in the file of a run.
func breakFile(t *testing.T, dir string, run schema.Run) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "live", "*", run.RunID+".parquet"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(found[0], content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestSealDamaged: a damaged run stays, byte for byte, and does not keep the others from being sealed; what holds
// nothing else is left alone.
func TestSealDamaged(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	good, bad := smallRun(), smallRun()
	mustAppend(t, store, good, bad)
	breakFile(t, dir, bad)
	if n := mustSeal(t, dir); n != 1 {
		t.Fatalf("%d runs sealed", n)
	}
	mustSeal(t, dir)
	live, sealed, claims := whereRuns(t, dir)
	if !slices.Equal(live, ids(bad)) || !slices.Equal(sealed, ids(good)) || len(claims) > 0 {
		t.Fatalf("live %v, sealed %v, claims %v", live, sealed, claims)
	}
	before := snapshot(t, dir)
	mustSeal(t, dir)
	if snapshot(t, dir) != before {
		t.Error("sealing again changed something")
	}
}

// TestStraggler: a run that comes into a claim after it was planned goes back, and is sealed the next time.
func TestStraggler(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := []schema.Run{smallRun(), smallRun()}
	mustAppend(t, store, runs[0])
	segment := store.segment
	store.segment = nil
	if n := mustSealKeeping(t, dir); n != 1 {
		t.Fatalf("%d runs sealed", n)
	}
	_, _, claims := whereRuns(t, dir)
	into := path.Join(claims[0].Path(), segment.id.String())
	late := openWith(t, dir, quickFiles(dir), sealing.StandardRules())
	mustAppend(t, late, runs[1])
	from := schema.LiveFile{Segment: late.segment.id, Run: must(schema.ParseULID(runs[1].RunID))}.Path()
	if err := late.files.Rename(from, path.Join(into, path.Base(from))); err != nil {
		t.Fatal(err)
	}
	if live, sealed, _ := whereRuns(t, dir); !slices.Equal(live, ids(runs[1])) || !slices.Equal(sealed, ids(runs[0])) {
		t.Fatalf("live %v, sealed %v", live, sealed)
	}
	if n := mustSeal(t, dir) + mustSeal(t, dir); n != 1 {
		t.Errorf("%d runs sealed", n)
	}
	if live, sealed, _ := whereRuns(t, dir); len(live) > 0 || !slices.Equal(slices.Sorted(slices.Values(sealed)), ids(runs...)) {
		t.Errorf("live %v, sealed %v", live, sealed)
	}
}

// mustSealKeeping seals everything and keeps the claims.
func mustSealKeeping(t *testing.T, dir string) int {
	t.Helper()
	r := heirRules()
	r.Grace = time.Hour
	runs, err := openWith(t, dir, must(disk.NewOS(dir)), r).Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return runs
}
