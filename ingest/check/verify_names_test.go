package check_test

import (
	"os"
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
	"github.com/neurolens/neurolens/schema/table"
)

// TestVerifyContent has files whose hashes match, and whose content is not what it has to be.
func TestVerifyContent(t *testing.T) {
	t.Parallel()
	set := func(of *schema.Table, column string, value any) func([][]any) [][]any {
		return func(rows [][]any) [][]any {
			at := 0
			if of == schema.Samples {
				at = slices.IndexFunc(rows, func(row []any) bool { return row[schema.Samples.Place("metric")] == "latency" })
			}
			rows[at][of.Place(column)] = value
			return rows
		}
	}
	for name, test := range map[string]struct {
		of     *schema.Table
		change func([][]any) [][]any
		want   string // in the problem
	}{
		"a measured value": {schema.Runs, set(schema.Runs, "benchmark", "another"), "digest"},
		"a digest":         {schema.Runs, set(schema.Runs, "digest", strings.Repeat("0", 32)), "digest"},
		"a sample":         {schema.Samples, set(schema.Samples, "ticks", []int64{9, 9, 9}), "digest"},
		"an op":            {schema.Ops, set(schema.Ops, "duration_ns", int64(1)), "digest"},
		"number":           {schema.Samples, set(schema.Samples, "n_samples", int64(7)), "samples of latency, but its summary counts 7"},
		"summary":          {schema.Samples, set(schema.Samples, "mean", 1.5), "differ in the summary of latency"},
		"unit of runs":     {schema.Runs, set(schema.Runs, "unit", "s"), "differ in the summary of latency"},
		"order":            {schema.Runs, func(rows [][]any) [][]any { slices.Reverse(rows); return rows }, ""},
		"order of samples": {schema.Samples, func(rows [][]any) [][]any { slices.Reverse(rows); return rows }, ""},
		"a row less":       {schema.Runs, func(rows [][]any) [][]any { return rows[:len(rows)-1] }, "run"},
		"a row twice":      {schema.Runs, func(rows [][]any) [][]any { return append(rows, rows[len(rows)-1]) }, "order"},
		"foreign samples": {schema.Samples, func(rows [][]any) [][]any {
			row := slices.Clone(rows[len(rows)-1])
			row[0] = schema.NewULID(time.Now().Add(time.Hour)).String()
			return append(rows, row)
		}, "which is not in the file of runs"},
		"no samples": {schema.Samples, func(rows [][]any) [][]any { return nil }, "digest"},
	} {
		t.Run(name, func(t *testing.T) {
			full := fullRun()
			dir, f := sealedStore(t, full, smallRun(), smallRun())
			storetest.Rewrite(t, dir, f, test.of, test.change)
			found := damage(findings(t, dir))
			if len(found) != 1 || !strings.Contains(found[0].Problem, test.want) {
				t.Errorf("found %+v, want %q", found, test.want)
			}
		})
	}
}

// TestVerifyNames has files of other names than their content.
func TestVerifyNames(t *testing.T) {
	t.Parallel()
	renamed := func(t *testing.T, dir string, f, to schema.SealedFile) {
		for _, zone := range schema.TableZones {
			if disk.IsThere(os.DirFS(dir), f.Path(zone)) {
				mustDo(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, to.Path(zone))), 0o777))
				mustDo(t, os.Rename(filepath.Join(dir, f.Path(zone)), filepath.Join(dir, to.Path(zone))))
			}
		}
	}
	for name, change := range map[string]func(*schema.SealedFile){
		"rows":  func(f *schema.SealedFile) { f.Rows++ },
		"first": func(f *schema.SealedFile) { f.First-- },
		"last":  func(f *schema.SealedFile) { f.Last++ },
		"id":    func(f *schema.SealedFile) { f.ID = schema.NewULID(time.UnixMilli(f.First - 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, f := sealedStore(t, smallRun(), smallRun())
			to := f
			change(&to)
			renamed(t, dir, f, to)
			if found := damage(findings(t, dir)); len(found) != 1 || !strings.Contains(found[0].Problem, "name") {
				t.Errorf("found %+v", found)
			}
		})
	}
	t.Run("lost", func(t *testing.T) {
		dir, f := sealedStore(t, smallRun(), smallRun())
		mustDo(t, os.Remove(filepath.Join(dir, f.Path(schema.SamplesDir))))
		if found := damage(findings(t, dir)); len(found) != 1 || found[0].Path != f.Path(schema.SamplesDir) || found[0].Loss != (runfile.Loss{Samples: 2}) {
			t.Errorf("samples: found %+v", found)
		}
		mustDo(t, os.Remove(filepath.Join(dir, f.Path(schema.RunsDir))))
		if found := findings(t, dir); len(found) != 0 {
			t.Errorf("an empty store: found %+v", found)
		}
	})
	t.Run("orphan", func(t *testing.T) {
		dir, f := sealedStore(t, smallRun(), smallRun())
		mustDo(t, os.Remove(filepath.Join(dir, f.Path(schema.RunsDir))))
		if found := findings(t, dir); len(found) != 1 || found[0].Severity != check.SeverityNotice || found[0].Path != f.Path(schema.SamplesDir) ||
			!strings.Contains(found[0].Problem, "2 runs") || !strings.Contains(found[0].Problem, "import was interrupted") {
			t.Errorf("found %+v", found)
		}
	})
}

// TestVerifyTwice has a run in several files.
func TestVerifyTwice(t *testing.T) {
	t.Parallel()
	run := smallRun()
	dir, f := sealedStore(t, run, smallRun())
	again, _ := sealedStore(t, run, smallRun())
	copyTree(t, again, dir, schema.RunsDir, schema.SamplesDir)
	found := findings(t, dir)
	if len(found) != 1 || found[0].Severity != check.SeverityDamage || !strings.Contains(found[0].Problem, "1 of its runs, such as "+run.RunID) ||
		!strings.Contains(found[0].Problem, "store compact") {
		t.Errorf("equal runs: found %+v", found)
	}
	both := must(schema.List(os.DirFS(dir), schema.Scope{})).Sealed
	pack := storetest.PackSealed(t, dir, []schema.SealedFile{f})
	if found := findings(t, dir); len(found) != 1 {
		t.Errorf("a pack of one of them: found %+v", found)
	}
	mustDo(t, os.Remove(pack))

	other := run
	other.Error = "another"
	third, _ := sealedStore(t, other)
	copyTree(t, third, dir, schema.RunsDir, schema.SamplesDir)
	if found := damage(findings(t, dir)); len(found) != 2 || !strings.Contains(found[1].Problem, "different digests") {
		t.Errorf("different runs: found %+v", found)
	}
	if len(both) != 2 {
		t.Fatalf("the store has %d sealed files", len(both))
	}
	store := must(ingest.Open(dir, "test"))
	defer store.Close()
	live := run
	mustDo(t, os.RemoveAll(filepath.Join(dir, schema.RunsDir)))
	copyTree(t, again, dir, schema.RunsDir)
	mustAppend(t, store, live)
	noticed := func(f check.Finding) bool {
		return f.Severity == check.SeverityNotice && strings.Contains(f.Problem, run.RunID)
	}
	if found := findings(t, dir); !slices.ContainsFunc(found, noticed) || len(damage(found)) > 0 {
		t.Errorf("a live one too: found %+v", found)
	}
	for _, zone := range []string{schema.RunsDir, schema.SamplesDir} {
		mustDo(t, os.RemoveAll(filepath.Join(dir, zone)))
	}
	alone, _ := sealedStore(t, run) // by its time the live one comes first
	for _, from := range []string{alone, duplicateStore(t, alone)} {
		copyTree(t, from, dir, schema.RunsDir, schema.SamplesDir)
	}
	if found := findings(t, dir); len(damage(found)) != 1 || !slices.ContainsFunc(found, noticed) {
		t.Errorf("a live one and two sealed ones: found %+v", found)
	}
}

// duplicateStore is a store with the sealed file of another under another id.
func duplicateStore(t *testing.T, of string) string {
	t.Helper()
	dir := copied(t, of)
	f := must(schema.List(os.DirFS(dir), schema.Scope{})).Sealed[0]
	to := f
	to.ID[len(to.ID)-1]++
	for _, zone := range []string{schema.RunsDir, schema.SamplesDir} {
		mustDo(t, os.Rename(filepath.Join(dir, f.Path(zone)), filepath.Join(dir, to.Path(zone))))
	}
	return dir
}

// TestVerifyPack has packs that do not hold the rows of the files that they cover.
func TestVerifyPack(t *testing.T) {
	t.Parallel()
	dir, f := sealedStore(t, smallRun(), smallRun(), smallRun())
	more, g := sealedStore(t, smallRun())
	copyTree(t, more, dir, schema.RunsDir, schema.SamplesDir)
	storetest.PackSealed(t, dir, []schema.SealedFile{f, g})
	if found := findings(t, dir); len(found) > 0 {
		t.Fatalf("a whole store: found %+v", found)
	}
	storetest.Rewrite(t, dir, f, schema.Runs, func(rows [][]any) [][]any { // what no digest covers
		rows[1][schema.Runs.Place("warnings")] = []string{"drift"}
		return rows
	})
	if found := damage(findings(t, dir)); len(found) != 1 || !strings.HasPrefix(found[0].Path, schema.PacksDir) {
		t.Errorf("a row that differs: found %+v", found)
	}
	for _, zone := range schema.TableZones {
		_ = os.Remove(filepath.Join(dir, f.Path(zone)))
	}
	if found := findings(t, dir); len(found) != 1 || found[0].Severity != check.SeverityNotice || !strings.Contains(found[0].Problem, f.ID.String()) {
		t.Errorf("a file that is not there: found %+v", found)
	}
}

// TestCheckRowTime compares the time in a run's id with that at which it started.
func TestCheckRowTime(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*schema.Run){
		"later":   func(r *schema.Run) { r.StartedAt = r.StartedAt.Add(time.Millisecond) },
		"unknown": func(r *schema.Run) { r.StartedAt = time.Time{} },
	} {
		run := smallRun()
		if err := runfile.CheckRow(&table.Live{RunID: run.RunID, Run: schema.RunRow(&run, "")}); err != nil {
			t.Error(err)
		}
		change(&run)
		if err := runfile.CheckRow(&table.Live{RunID: run.RunID, Run: schema.RunRow(&run, "")}); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
	old := smallRun()
	old.StartedAt = time.Date(1965, 1, 1, 0, 0, 0, 0, time.UTC) // an id has no time before 1970
	old.RunID = schema.ULIDFrom(old.StartedAt, [10]byte{1}).String()
	if err := runfile.CheckRow(&table.Live{RunID: old.RunID, Run: schema.RunRow(&old, "")}); err != nil {
		t.Error(err)
	}
}

// TestLaterEvents: an event with a member or of a kind that a later version added is no damage to anybody, and stays.
func TestLaterEvents(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	run := must(schema.List(os.DirFS(dir), schema.Scope{})).Live[0].Run.String()
	for i, kind := range []schema.EventKind{schema.EventNote, "explode", "sleep"} {
		id := schema.NewULID(time.Now().Add(time.Duration(i) * time.Second))
		e := schema.Event{EventID: id.String(), Kind: kind, At: time.Now().UTC(), Value: "a <b> & c"}
		if kind != "sleep" {
			e.Runs = []string{run}
		}
		line := must(schema.SignJSON(struct {
			schema.Event
			Author string `json:"author"`
		}{e, "ada"}))
		writeFile(t, filepath.Join(dir, schema.EventFile(id)), line)
	}
	if found := findings(t, dir); len(found) > 0 {
		t.Errorf("verify finds %+v", found)
	}
	leftOut := func(f ingest.LeftOut) { t.Errorf("left out: %+v", f) }
	merged, _ := newStore(t)
	if done := must(merged.Merge(t.Context(), dir, ingest.Merging{Refused: leftOut})); done.Events != 3 || done.Refused > 0 {
		t.Errorf("merged %+v", done)
	}
	compact := filepath.Join(t.TempDir(), "compact")
	if done, err := ingest.Compact(t.Context(), dir, compact, "test", leftOut); err != nil || done.Events != 3 {
		t.Errorf("compacted %+v, %v", done, err)
	}
	if done, left := mustRepair(t, dir, false); left != 0 || len(done) > 0 {
		t.Errorf("repaired %+v, %d left", done, left)
	}
}
