package check_test

import (
	"bytes"
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

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// everyByte returns the content of every file of a store, however it is called.
func everyByte(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	mustDo(t, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		if s.Entry.IsDir() {
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		all = append(all, string(content))
		return err
	}))
	slices.Sort(all)
	return all
}

// TestRepairEachFile damages one file of a store with every kind of file: after repair nothing is damaged, all other
// runs are there, and not a byte is gone.
func TestRepairEachFile(t *testing.T) {
	t.Parallel()
	whole := everything(t)
	want := contents(t, whole)
	var names []string
	mustDo(t, disk.Walk(os.DirFS(whole), func(s disk.StoreFile) error {
		if s.Kind != disk.KindHeader && s.Kind != disk.KindOut {
			names = append(names, s.Path)
		}
		return nil
	}))
	for _, name := range names {
		dir := copied(t, whole)
		flipByte(t, filepath.Join(dir, name))
		before := everyByte(t, dir)
		planned := snapshot(t, dir)
		dry, _ := mustRepair(t, dir, true)
		if snapshot(t, dir) != planned || len(dry) == 0 {
			t.Fatalf("%s: a dry run did something, or found nothing: %+v", name, dry)
		}
		done, left := mustRepair(t, dir, false)
		if left > 0 || !slices.ContainsFunc(done, func(r check.Repair) bool { return r.Action == check.ActionAside && r.Path == name }) {
			t.Errorf("%s: %d left, done %+v", name, left, done)
		}
		if !disk.IsThere(os.DirFS(dir), path.Join(disk.QuarantineDir, name)) {
			t.Errorf("%s is not in %s/", name, disk.QuarantineDir)
		}
		wholeStore(t, dir)
		after := everyByte(t, dir)
		for _, content := range before {
			if _, ok := slices.BinarySearch(after, content); !ok && !strings.Contains(content, `"pid"`) {
				t.Fatalf("%s: a file of %d bytes is gone", name, len(content))
			}
		}
		got := contents(t, dir)
		for id, says := range got {
			if want[id] != says {
				t.Errorf("%s: run %s changed", name, id)
			}
		}
		lost := 0
		if f := disk.Classify(name); f.Kind == disk.KindLive && (f.Live.Claim == nil || f.Live.Claim.Attempt == 3) {
			lost = 1
		}
		if len(got) != len(want)-lost {
			t.Errorf("%s: %d runs of %d; %+v", name, len(got), len(want), done)
		}
	}
}

// TestRepairSealed damages one of the files of a sealed file whose live files are gone, where it costs something.
func TestRepairSealed(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]struct {
		runs int // that are left, of three
		loss runfile.Loss
	}{
		schema.RunsDir:    {1, runfile.Loss{Runs: 2}},
		schema.SamplesDir: {3, runfile.Loss{Samples: 2}},
		schema.OpsDir:     {3, runfile.Loss{Ops: 1}},
	} {
		dir, f := sealedStore(t, fullRun(), smallRun())
		store := must(ingest.Open(dir, "test"))
		mustAppend(t, store, smallRun())
		mustDo(t, store.Close())
		storetest.FlipFirst(t, filepath.Join(dir, f.Path(zone)))
		before := snapshot(t, dir)
		planned := must(check.PlanRepair(context.Background(), dir, func(check.Repair) {}))
		if snapshot(t, dir) != before {
			t.Errorf("%s: a plan did something", zone)
		}
		var verified []check.Finding
		done, err := check.Verify(context.Background(), dir, func(f check.Finding) { verified = append(verified, f) })
		if err != nil || done.Loss != want.loss || done.Runs != want.runs || done.Damage != 1 {
			t.Errorf("%s: verified %+v, %+v: %v", zone, done, verified, err)
		}
		var actions []check.Repair
		repairer := must(check.OpenToRepair(dir, "test"))
		repaired, err := repairer.Repair(context.Background(), func(r check.Repair) { actions = append(actions, r) })
		mustDo(t, errors.Join(err, repairer.Close()))
		if repaired != (check.Repaired{Loss: want.loss}) || planned != repaired {
			t.Errorf("%s: repaired %+v, planned %+v: %+v", zone, repaired, planned, actions)
		}
		if !disk.IsThere(os.DirFS(dir), path.Join(disk.QuarantineDir, f.Path(zone))) {
			t.Errorf("%s is not in %s/", f.Path(zone), disk.QuarantineDir)
		}
		wholeStore(t, dir)
		if got := contents(t, dir); len(got) != want.runs {
			t.Errorf("%s: %d runs, want %d", zone, len(got), want.runs)
		}
		done = must(check.Verify(context.Background(), dir, func(check.Finding) {}))
		if done.Damage != 0 || done.Lost != want.loss.Samples+want.loss.Ops || done.Aside == 0 {
			t.Errorf("%s: afterwards %+v", zone, done)
		}
		if done, left := mustRepair(t, dir, false); left != 0 || len(done) != 0 {
			t.Errorf("%s: a second repair: %d left, done %+v", zone, left, done)
		}
	}
}

// TestRepairForeign moves what no store has and a glob over the tables finds, and nothing else.
func TestRepairForeign(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t, smallRun())
	stay := []string{".git/config", "notes.txt", "x.parquet", "live/notes/a/b", "events/x.json", "runs/notes.txt", "packs/x.parquet", "runs/old/a/notes"}
	for range 2 {
		for _, name := range append([]string{"runs/x.parquet", "runs/old/a/y.parquet"}, stay...) {
			writeFile(t, filepath.Join(dir, name), []byte("x"))
		}
		if done, left := mustRepair(t, dir, false); left != 0 || len(done) != 2 {
			t.Errorf("%d left, done %+v", left, done)
		}
	}
	for _, name := range []string{"runs/x.parquet", "runs/x.parquet.1", "runs/old/a/y.parquet", "runs/old/a/y.parquet.1"} {
		if !disk.IsThere(os.DirFS(dir), path.Join(disk.QuarantineDir, name)) {
			t.Errorf("%s is not there", name)
		}
	}
	for _, name := range stay {
		if !disk.IsThere(os.DirFS(dir), name) {
			t.Errorf("%s is gone", name)
		}
	}
	if found := findings(t, dir); len(damage(found)) > 0 || len(found) == 0 {
		t.Errorf("found %+v", found)
	}
}

// TestRepairSegments has a run in two segments, which nobody can list.
func TestRepairSegments(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	mustAppend(t, store, run)
	f := must(schema.List(os.DirFS(dir), schema.Scope{})).Live[0]
	again := f
	again.Segment = schema.NewULID(time.Now())
	writeFile(t, filepath.Join(dir, again.Path()), must(os.ReadFile(filepath.Join(dir, f.Path()))))
	if _, err := schema.List(os.DirFS(dir), schema.Scope{}); !errors.Is(err, schema.ErrDamaged) {
		t.Fatalf("listing: %v", err)
	}
	if done, left := mustRepair(t, dir, false); left != 0 || len(done) != 1 {
		t.Errorf("%d left, done %+v", left, done)
	}
	if got := contents(t, dir); len(got) != 1 {
		t.Errorf("%d runs", len(got))
	}
}

// TestRepairEvents puts a damaged event back from a pack.
func TestRepairEvents(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	name := schema.EventFile(must(schema.List(os.DirFS(dir), schema.Scope{})).Events.Files[0])
	want := must(os.ReadFile(filepath.Join(dir, name)))
	flipByte(t, filepath.Join(dir, name))
	done, _ := mustRepair(t, dir, false)
	if got := must(os.ReadFile(filepath.Join(dir, name))); !bytes.Equal(got, want) {
		t.Errorf("the event is %s; done %+v", got, done)
	}
}

// TestRepairClaim finishes an abandoned claim whose plan names a run that is damaged.
func TestRepairClaim(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	want := contents(t, dir)
	var claim schema.Claim
	for _, c := range must(disk.ListClaims(os.DirFS(dir))) {
		if c.Attempt == 3 {
			claim = c
		}
	}
	store := must(check.OpenToRepair(dir, "test"))
	defer store.Close()
	c := schema.Claim{ID: claim.ID, Attempt: claim.Attempt + 1}
	mustDo(t, os.Rename(filepath.Join(dir, claim.Path()), filepath.Join(dir, c.Path())))
	segments := must(disk.ListSegments(os.DirFS(dir), c.Path()))
	var runs []schema.ULID
	plan := schema.Plan{Dropped: []string{}}
	for _, run := range segments[0].Runs {
		runs = append(runs, run)
		plan.Runs = append(plan.Runs, run.String())
	}
	plan.File = schema.NewSealedFile(c.ID, runs).Name()
	writeFile(t, filepath.Join(dir, c.Path(), schema.PlanFile), must(plan.Encode()))
	broken := schema.LiveFile{Claim: &c, Segment: segments[0].ID, Run: runs[0]}.Path()
	flipByte(t, filepath.Join(dir, broken))

	var done []check.Repair
	repaired, err := store.Repair(context.Background(), func(r check.Repair) { done = append(done, r) })
	if err != nil || repaired.Left != 0 {
		t.Fatalf("%d left: %v", repaired.Left, err)
	}
	var actions []check.Action
	for _, r := range done {
		actions = append(actions, r.Action)
	}
	if !slices.Equal(actions, []check.Action{check.ActionAside, check.ActionReplan, check.ActionAside, check.ActionFinish}) {
		t.Errorf("done %+v", done)
	}
	wholeStore(t, dir)
	delete(want, runs[0].String())
	if got := contents(t, dir); !maps.Equal(got, want) {
		t.Errorf("%d runs, want %d", len(got), len(want))
	}
	for _, f := range must(schema.List(os.DirFS(dir), schema.Scope{})).Live {
		if f.Claim != nil && f.Claim.ID == c.ID {
			t.Errorf("%s is not sealed", f.Path())
		}
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	writeFile(t, filepath.Join(dir, schema.TmpDir, schema.NewULID(time.Now()).String()+disk.TempSuffix), []byte("x"))
	in := valuetest.Must(check.Inspect(dir))
	got := map[string]int{}
	for _, z := range in.Zones {
		got[z.Name] = z.Files
		if z.Files > 0 && z.Bytes == 0 {
			t.Errorf("%s has no bytes", z.Name)
		}
	}
	want := map[string]int{
		schema.LiveDir: 2, schema.ClaimsDir: 11, schema.RunsDir: 1, schema.SamplesDir: 1, schema.OpsDir: 1, schema.PacksDir: 2,
		schema.EventsDir: 2, schema.ArtifactsDir: 1, schema.TmpDir: 1, schema.TrashDir: 0, disk.QuarantineDir: 0,
	}
	if !maps.Equal(got, want) || in.Temporary != 1 || in.Unfinished != 1 || in.Foreign != 0 {
		t.Errorf("inspected %+v, want %v", in, want)
	}
}

// TestRepairWithoutEmptyDirs has a store that was copied by something that leaves empty directories out, as git does: a
// claim whose plan is damaged is planned again, and sealed.
func TestRepairWithoutEmptyDirs(t *testing.T) {
	t.Parallel()
	dir := claimedStore(t).dir
	want := states(t, dir)
	claim := must(disk.ListClaims(os.DirFS(dir)))[0]
	flipByte(t, filepath.Join(dir, claim.Path(), schema.PlanFile))
	mustDo(t, os.Remove(filepath.Join(dir, schema.LiveDir)))
	store := must(check.OpenToRepair(dir, "test"))
	if done, err := store.Repair(context.Background(), func(check.Repair) {}); err != nil || done != (check.Repaired{}) {
		t.Errorf("repaired %+v: %v", done, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	wholeStore(t, dir)
	if got := states(t, dir); !maps.Equal(got, want) {
		t.Errorf("%d runs, want %d", len(got), len(want))
	}
}

// TestRepairFaults lets every file operation of a repair fail in turn. After each a reader meets every run that is not lost
// once, and none but marked ones lack rows; when the cause is gone the same command does the rest.
func TestRepairFaults(t *testing.T) {
	for _, zone := range storetest.DamagedZones {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			dir, _, _ := storetest.Damaged(t, open, zone)
			repaired := copied(t, dir)
			mustRepair(t, repaired, false)
			storetest.EachFault(t, dir, func(files *storetest.Faulty) error {
				store, err := check.OpenFiles(files.Root(), "test", files)
				if err == nil {
					_, err = store.Repair(context.Background(), func(check.Repair) {})
				}
				return err
			}, states(t, repaired))
		})
	}
}

// TestEmptyClaims: a copy that was interrupted, or a clean-up, leaves a claim without its plan. Readers pass over it, verify names the folder if it
// is empty, and repair removes it. A claim that is being made stays.
func TestEmptyClaims(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	listing := valuetest.Must(schema.List(os.DirFS(dir), schema.Scope{}))
	claims := valuetest.Must(disk.ListClaims(os.DirFS(dir)))
	sealed := slices.IndexFunc(claims, func(c schema.Claim) bool { return c.ID == listing.Sealed[0].ID })
	if len(claims) != 2 || sealed < 0 {
		t.Fatalf("%v, %v", claims, listing.Sealed)
	}
	committed := claims[sealed]
	made := schema.Claim{ID: schema.NewULID(time.Now())}
	mustDo(t, os.Mkdir(filepath.Join(dir, made.Path()), 0o777))
	for _, rest := range []string{schema.PlanFile, schema.OwnerFile, "runs"} {
		mustDo(t, filepath.WalkDir(filepath.Join(dir, committed.Path()), func(name string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || rest != "runs" && e.Name() != rest {
				return err
			}
			return os.Remove(name)
		}))
		for _, scope := range []schema.Scope{{}, {Newest: 1}} {
			if again, err := schema.List(os.DirFS(dir), scope); err != nil || len(again.Sealed) != len(listing.Sealed) {
				t.Fatalf("without %s: %d sealed files, %v", rest, len(again.Sealed), err)
			}
		}
		contents(t, dir) // no run is there twice
	}
	findings := func() (named []string) {
		for _, f := range storetest.Findings(t, dir) {
			if f.Path == committed.Path() || f.Path == made.Path() {
				named = append(named, f.Path+" "+string(f.Severity)+" "+f.Remedy())
			}
		}
		return named
	}
	if got := findings(); len(got) != 1 || got[0] != committed.Path()+" notice store repair removes it" {
		t.Errorf("%q", got)
	}
	want := contents(t, dir)
	before := snapshot(t, dir)
	for _, dry := range []bool{true, false} {
		done, _ := mustRepair(t, dir, dry)
		removed := slices.IndexFunc(done, func(r check.Repair) bool { return r.Action == check.ActionRemove && r.Path == committed.Path() })
		if removed < 0 {
			t.Errorf("dry %t: %+v", dry, done)
		}
		if dry && snapshot(t, dir) != before {
			t.Error("a plan to repair changed something")
		}
		_, gone := os.Stat(filepath.Join(dir, committed.Path()))
		_, there := os.Stat(filepath.Join(dir, made.Path()))
		if os.IsNotExist(gone) == dry || there != nil {
			t.Errorf("dry %t: %v, %v", dry, gone, there)
		}
	}
	if got := findings(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := contents(t, dir); !maps.Equal(got, want) {
		t.Errorf("%d runs, want %d", len(got), len(want))
	}
}

// TestRepairHeader: a header of which one byte changed is again what it was, whichever byte that is; of one that is
// damaged otherwise there is a new one, and the runs are there.
func TestRepairHeader(t *testing.T) {
	t.Parallel()
	whole, _ := sealedStore(t, smallRun())
	header := must(os.ReadFile(filepath.Join(whole, schema.HeaderFile)))
	step := tier(97, 7, 1)
	for at := 0; at < len(header); at += step {
		changed := bytes.Clone(header)
		changed[at] ^= 1 << (at % 8)
		if got := repairedHeader(t, whole, changed); !bytes.Equal(got, header) {
			t.Errorf("byte %d: %q", at, got)
		}
		if got := repairedHeader(t, whole, header[:at]); bytes.Equal(got, header) {
			t.Errorf("cut off at byte %d: it is what it was", at)
		}
	}
	later := bytes.Replace(header, []byte(`"format":1`), []byte(`"format":2`), 1)
	var asItIs schema.Header
	if err := schema.ReadSignedJSON(later, &asItIs); err == nil {
		t.Fatal("a header of another format has a hash of its own")
	}
	if got := repairedHeader(t, whole, later); !bytes.Equal(got, header) {
		t.Errorf("the digit of the format: %q", got)
	}
}

// repairedHeader returns the header after a repair of a copy of a store that has another one, of which all else is as before.
func repairedHeader(t *testing.T, whole string, header []byte) []byte {
	t.Helper()
	dir := copied(t, whole)
	name := filepath.Join(dir, schema.HeaderFile)
	writeFile(t, name, header)
	if _, err := ingest.Open(dir, "test"); err == nil {
		t.Errorf("%q is a header", header)
	}
	planned := must(check.PlanRepair(context.Background(), dir, func(check.Repair) {}))
	store := must(check.OpenToRepair(dir, "test"))
	var actions []check.Action
	done := must(store.Repair(context.Background(), func(r check.Repair) { actions = append(actions, r.Action) }))
	mustDo(t, store.Close())
	if done != (check.Repaired{}) || planned != done || len(actions) != 2 || actions[0] != check.ActionAside || actions[1] != check.ActionKeep {
		t.Errorf("%q: planned %+v, done %+v, %v", header, planned, done, actions)
	}
	if found := damage(findings(t, dir)); len(found) > 0 {
		t.Errorf("%q: %+v", header, found)
	}
	if !maps.Equal(states(t, dir), states(t, whole)) {
		t.Errorf("%q: the runs are others", header)
	}
	if aside := must(os.ReadFile(filepath.Join(dir, disk.QuarantineDir, schema.HeaderFile))); !bytes.Equal(aside, header) {
		t.Errorf("%q was set aside", aside)
	}
	return must(os.ReadFile(name))
}

// TestRepairHeaderFaults lets each file operation of a repair of the header fail in turn: at any moment there is the damaged
// one or the one from before, and when the cause is gone the same command does the rest.
func TestRepairHeaderFaults(t *testing.T) {
	t.Parallel()
	whole, _ := sealedStore(t, smallRun())
	want := states(t, whole)
	header := must(os.ReadFile(filepath.Join(whole, schema.HeaderFile)))
	damaged := bytes.Replace(header, []byte("created"), []byte("Created"), 1)
	for _, plan := range []storetest.Faulty{{}, {Late: true}, {Lasting: true}} {
		plan.Fault, plan.Quick = storetest.ErrCrashed, true
		for plan.At = 1; ; plan.At += tier(11, 1, 1) {
			files, dir := plan, copied(t, whole)
			name := filepath.Join(dir, schema.HeaderFile)
			writeFile(t, name, damaged)
			files.OS = must(disk.NewOS(dir))
			repair := func() error {
				store, err := check.OpenFiles(dir, "test", &files)
				if err == nil {
					_, err = store.Repair(context.Background(), func(check.Repair) {})
				}
				return err
			}
			err := repair()
			if now := must(os.ReadFile(name)); !bytes.Equal(now, header) && !bytes.Equal(now, damaged) {
				t.Fatalf("operation %d, %v: the header is %q", files.At, err, now)
			}
			files.Healed = true
			mustDo(t, repair())
			if !bytes.Equal(must(os.ReadFile(name)), header) || !maps.Equal(states(t, dir), want) {
				t.Fatalf("operation %d: the store is not what it was", files.At)
			}
			if !files.Hit {
				break
			}
		}
	}
}

// TestRepairNewer: the header of a later version stays as it is, and so does the store.
func TestRepairNewer(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t, smallRun())
	writeFile(t, filepath.Join(dir, schema.HeaderFile), must(schema.SignJSON(schema.Header{Format: schema.Format + 1})))
	before := snapshot(t, dir)
	if _, err := check.OpenToRepair(dir, "test"); err == nil {
		t.Error("it is opened")
	}
	if snapshot(t, dir) != before {
		t.Error("something changed")
	}
}
