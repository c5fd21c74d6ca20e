package ingest

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// each gives runs one after the other.
func each(runs ...schema.Run) iter.Seq2[schema.Run, error] {
	return func(yield func(schema.Run, error) bool) {
		for _, r := range runs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// sweep makes runs of a sweep.
func sweep(seed uint64, n, samples int) []schema.Run {
	s := runtest.NewSweep(seed, samples)
	runs := make([]schema.Run, n)
	for i := range runs {
		runs[i] = s.Next()
	}
	return runs
}

// storedRuns reads a whole store, sealed files included, and gives how often each run is in it.
func storedRuns(t testing.TB, dir string) map[string]int {
	t.Helper()
	listing, err := schema.List(os.DirFS(dir), schema.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, f := range listing.Live {
		content, err := os.ReadFile(filepath.Join(dir, f.Path()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.CheckFileHash(content); err != nil {
			t.Fatal(err)
		}
		runs[f.Run.String()]++
	}
	for _, f := range listing.Sealed {
		for _, id := range checkSealed(t, dir, f) {
			runs[id]++
		}
	}
	return runs
}

// mustHold fails unless the store has each of the runs once, and nothing else.
func mustHold(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	there := storedRuns(t, dir)
	for _, r := range runs {
		if there[r.RunID] != 1 {
			t.Fatalf("run %s is in the store %d times", r.RunID, there[r.RunID])
		}
	}
	if len(there) != len(runs) {
		t.Fatalf("%d runs are in the store, want %d", len(there), len(runs))
	}
}

// TestAppendAll stores runs that are there, twice, and new ones; the second time nothing is added.
func TestAppendAll(t *testing.T) {
	store, dir := newStore(t)
	runs := append(sweep(1, 300, 20), fullRun(), smallRun())
	bare := smallRun()
	bare.Primary, bare.Metrics, bare.Status = "", nil, schema.StatusLost
	runs = append(runs, bare)
	slices.Reverse(runs)
	mustAppend(t, store, runs[10], runs[20])
	before := runs[0].Metrics

	for round, want := range [][2]int{{len(runs) - 2, 3}, {0, len(runs) + 1}} {
		added, skipped, err := store.AppendAll(each(append(slices.Clone(runs), runs[5])...))
		if err != nil || added != want[0] || skipped != want[1] {
			t.Fatalf("round %d: %d added, %d skipped, %v; want %v", round, added, skipped, err, want)
		}
		mustHold(t, dir, runs...)
		if files := sealedFiles(t, dir); len(files) != 1 {
			t.Errorf("round %d: %d sealed files", round, len(files))
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, schema.TmpDir)); err != nil || len(left) > 0 {
		t.Errorf("%d files are left in tmp, %v", len(left), err)
	}
	if fmt.Sprint(before) != fmt.Sprint(runs[0].Metrics) {
		t.Error("AppendAll changed the caller's run")
	}
}

func sealedFiles(t testing.TB, dir string) []schema.SealedFile {
	t.Helper()
	files, err := schema.ListZone(os.DirFS(dir), schema.RunsDir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAppendAllFiles: what does not fit into memory becomes many files.
func TestAppendAllFiles(t *testing.T) {
	store, dir := newStore(t)
	runs := sweep(1, 1000, 100)
	b := bulk{files: store.files, version: "test", bytes: 2 * 50 * runSize(&runs[0]), synced: map[string]bool{}}
	if err := b.all(each(runs...)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, runs...)
	if n := len(sealedFiles(t, dir)); n < 19 || n > 21 || b.added != len(runs) {
		t.Errorf("%d files, %d runs added", n, b.added)
	}
}

// TestAppendAllClaimed: runs in claims are there too.
func TestAppendAllClaimed(t *testing.T) {
	store, dir := newStore(t)
	run := smallRun()
	mustAppend(t, store, run)
	claim := schema.Claim{ID: schema.NewULID(time.Now())}
	if err := os.MkdirAll(filepath.Join(dir, claim.Path()), 0o777); err != nil {
		t.Fatal(err)
	}
	segment := store.segment.id.String()
	if err := os.Rename(filepath.Join(dir, schema.LiveDir, segment), filepath.Join(dir, claim.Path(), segment)); err != nil {
		t.Fatal(err)
	}
	if added, skipped, err := store.AppendAll(each(run)); added != 0 || skipped != 1 || err != nil {
		t.Errorf("%d added, %d skipped, %v", added, skipped, err)
	}
	mustHold(t, dir, run)
}

// TestAppendAllRefused: a run that does not validate, or an error of the caller's, ends it; nothing is half there.
func TestAppendAllRefused(t *testing.T) {
	store, dir := newStore(t)
	good, bad := smallRun(), smallRun()
	bad.Status = "fine"
	broken := errors.New("broken")
	for _, test := range []struct {
		runs iter.Seq2[schema.Run, error]
		want string
	}{
		{each(good, bad), `appending to store ` + dir + `: run ` + bad.RunID + `: status "fine": want one of`},
		{func(yield func(schema.Run, error) bool) { _ = yield(good, nil) && yield(schema.Run{}, broken) }, "appending to store " + dir + ": broken"},
	} {
		added, skipped, err := store.AppendAll(test.runs)
		if added+skipped != 0 || err == nil || len(err.Error()) < len(test.want) || err.Error()[:len(test.want)] != test.want {
			t.Errorf("%d added, %d skipped, %v; want %q", added, skipped, err, test.want)
		}
	}
	mustHold(t, dir)
	if added, _, err := store.AppendAll(each()); added != 0 || err != nil {
		t.Errorf("nothing: %d added, %v", added, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.AppendAll(each(good)); err == nil {
		t.Error("a closed store takes runs")
	}
}

// TestAppendAllNoLinks: without hard links sealed files are renamed into their places.
func TestAppendAllNoLinks(t *testing.T) {
	_, dir := newStore(t)
	store, err := openStore(dir, "test", noLinkFiles{must(newOSFiles(dir))})
	if err != nil {
		t.Fatal(err)
	}
	runs := sweep(1, 10, 3)
	if added, _, err := store.AppendAll(each(runs...)); added != 10 || err != nil {
		t.Fatalf("%d added, %v", added, err)
	}
	mustHold(t, dir, runs...)
}

// TestAppendAllOrder holds the order of operations that the acknowledgement rests on: every file is whole on disk before
// it has its name, those of samples and ops have theirs before that of runs, and each name is on disk in the end. A run
// that is skipped is on disk too.
func TestAppendAllOrder(t *testing.T) {
	_, dir := newStore(t)
	files := &faultyFiles{osFiles: must(newOSFiles(dir)), healed: true}
	store, err := openStore(dir, "test", files)
	if err != nil {
		t.Fatal(err)
	}
	runs := []schema.Run{fullRun(), smallRun()}
	if _, _, err := store.AppendAll(each(runs...)); err != nil {
		t.Fatal(err)
	}
	name := sealedFiles(t, dir)[0]
	var steps []string
	for _, zone := range []string{schema.SamplesDir, schema.OpsDir, schema.RunsDir} {
		link := slices.IndexFunc(files.trace, func(op string) bool {
			return strings.HasPrefix(op, "link ") && strings.HasSuffix(op, " "+name.Path(zone))
		})
		if link < 0 {
			t.Fatalf("no file of %s:\n%s", zone, strings.Join(files.trace, "\n"))
		}
		temp := strings.Fields(files.trace[link])[1]
		steps = append(steps, "sync "+temp, files.trace[link], "sync "+zone+"/"+name.Month())
	}
	at := 0
	for _, temp := range []int{0, 3, 6} { // the files are completed in any order, before the first has its name
		sync, link := slices.Index(files.trace, steps[temp]), slices.Index(files.trace, steps[1])
		if sync < 0 || sync > link {
			t.Errorf("%q is operation %d, %q is %d", steps[temp], sync, steps[1], link)
		}
	}
	for _, step := range slices.Concat(steps[1:3], steps[4:6], steps[7:]) {
		next := slices.Index(files.trace[at:], step)
		if next < 0 {
			t.Fatalf("%q is missing, or not in its place:\n%s", step, strings.Join(files.trace, "\n"))
		}
		at += next + 1
	}

	files.trace = nil
	if _, skipped, err := store.AppendAll(each(runs...)); skipped != 2 || err != nil {
		t.Fatalf("%d skipped, %v", skipped, err)
	}
	for _, step := range []string{steps[2], steps[5], steps[8]} {
		if !slices.Contains(files.trace, step) {
			t.Errorf("runs are skipped without %q", step)
		}
	}
}

// TestAppendAllAgain: what was cut off before its commit and is done again leaves no second samples behind.
func TestAppendAllAgain(t *testing.T) {
	store, dir := newStore(t)
	runs := sweep(1, 5, 3)
	bulkFiles(t, store, 5, runs)
	first := sealedFiles(t, dir)
	if err := os.Remove(filepath.Join(dir, first[0].Path(schema.RunsDir))); err != nil {
		t.Fatal(err)
	}
	bulkFiles(t, store, 5, runs)
	samples, err := schema.ListZone(os.DirFS(dir), schema.SamplesDir)
	if err != nil || len(samples) != 1 || !slices.Equal(sealedFiles(t, dir), first) {
		t.Errorf("%d files of samples, %v", len(samples), err)
	}
	mustHold(t, dir, runs...)
}
