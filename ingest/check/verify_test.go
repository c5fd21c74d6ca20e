package check_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	before := snapshot(t, dir)
	var all []check.Finding
	done := valuetest.Must(check.Verify(context.Background(), dir, func(f check.Finding) { all = append(all, f) }))
	if len(all) != 1 || all[0].Severity != check.SeverityNotice || !disk.IsOut(path.Base(all[0].Path)) {
		t.Errorf("a whole store has %+v", all)
	}
	if done.Runs != 6 || done.Damage != 0 || done.Files < 20 {
		t.Errorf("verified %+v, want 6 runs", done)
	}
	if snapshot(t, dir) != before {
		t.Error("Verify changed the store")
	}
}

// TestVerifyFlips changes bytes of every file of a store with every kind of file, one at a time, and each change is
// found, in that file. What has nothing to do with the file is left away for speed. NEUROLENS_LONG=1 asks for every seventh byte,
// NEUROLENS_LONG=all for every one, and for other bits too.
func TestVerifyFlips(t *testing.T) {
	t.Parallel()
	masks, step := []byte{0x20}, tier(151, 7, 1) // the bit that tells the cases of letters apart, to which JSON is blind in places
	if tier(0, 0, 1) > 0 {
		masks = []byte{0x01, 0x20, 0x80, 0xff}
	}
	for name, store := range kin(t, everything(t)) {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			for at := 0; at < len(store[name].Data); at += step {
				for _, mask := range masks {
					store[name].Data[at] ^= mask
					found := false
					_, err := check.VerifyFiles(context.Background(), store, func(f check.Finding) { found = found || f.Path == name && f.Severity == check.SeverityDamage })
					store[name].Data[at] ^= mask
					refused := name == schema.HeaderFile && errors.Is(err, schema.ErrFormat)
					if !found && !refused {
						t.Fatalf("byte %d of %d, mask %#x: not found; the error is %v", at, len(store[name].Data), mask, err)
					}
				}
			}
		})
	}
}

// kin gives, for every file of a store, a copy of the store with what is needed to tell whether that file is whole.
func kin(t *testing.T, dir string) map[string]fstest.MapFS {
	all := fstest.MapFS{}
	mustDo(t, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		all[s.Path] = &fstest.MapFile{Data: content, Mode: 0o666, ModTime: time.Now()}
		return err
	}))
	stores := map[string]fstest.MapFS{}
	for name, file := range all {
		of := disk.Classify(name)
		if of.Kind == disk.KindOut { // nobody relies on it
			continue
		}
		store := fstest.MapFS{schema.HeaderFile: all[schema.HeaderFile]}
		for other, f := range all {
			kind := disk.Classify(other).Kind
			if of.Kind == disk.KindSealed && kind == disk.KindSealed || of.Kind == disk.KindPackedEvents && kind == disk.KindEvent {
				store[other] = f
			}
		}
		store[name] = &fstest.MapFile{Data: bytes.Clone(file.Data), Mode: 0o666, ModTime: file.ModTime}
		stores[name] = store
	}
	kinds := map[disk.Kind]bool{}
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		kinds[disk.Classify(name).Kind] = true
		if found := damage(findingsIn(t, stores[name])); len(found) > 0 {
			t.Fatalf("%s alone: %+v", name, found)
		}
	}
	if len(kinds) != 9 {
		t.Fatalf("the store has files of %d kinds, want 9", len(kinds))
	}
	return stores
}

// TestVerifyForeign has files that no store has.
func TestVerifyForeign(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	event := schema.NewULID(time.Now())
	old := filepath.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+disk.TempSuffix)
	want := map[string]check.Severity{
		"notes.txt": check.SeverityNotice, "live/x": check.SeverityNotice, "runs/2026-13": check.SeverityNotice, "runs/x": check.SeverityNotice, "other": check.SeverityNotice,
		"runs/2026-11/x.parquet": check.SeverityDamage, "samples/x.parquet": check.SeverityDamage, "ops/2026-11/.x.parquet": check.SeverityDamage,
		"events/x.json": check.SeverityNotice, "artifacts/ab/cd": check.SeverityNotice, old: check.SeverityNotice,
		"runs/old": check.SeverityNotice, "runs/old/a/x.parquet": check.SeverityDamage, "ops/2026-11/old.parquet": check.SeverityDamage,
		"live/old": check.SeverityNotice, schema.EventFile(event): check.SeverityDamage, "samples/2026-12": check.SeverityDamage,
		disk.QuarantineDir: check.SeverityNotice,
	}
	for name := range want {
		switch name {
		case disk.QuarantineDir:
		case "runs/old", "ops/2026-11/old.parquet", "live/old", schema.EventFile(event):
			writeFile(t, filepath.Join(dir, name, "a", "y.txt"), []byte("x"))
		default:
			writeFile(t, filepath.Join(dir, name), []byte("x"))
		}
	}
	mustDo(t, os.Chtimes(filepath.Join(dir, old), time.Time{}, time.Now().Add(-2*disk.TempAge)))
	writeFile(t, filepath.Join(dir, disk.QuarantineDir, "runs", "x.parquet"), nil)
	writeFile(t, filepath.Join(dir, schema.TmpDir, schema.NewULID(time.Now()).String()+disk.TempSuffix), nil)
	for _, f := range findings(t, dir) {
		if want[f.Path] != f.Severity {
			t.Errorf("found %+v", f)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// liveAndSealed returns a store with a live run and a sealed file.
func liveAndSealed(t *testing.T) (dir, live string, f schema.SealedFile) {
	t.Helper()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	live = must(schema.List(os.DirFS(dir), schema.Scope{})).Live[0].Path()
	sealed, f := sealedStore(t, smallRun(), smallRun())
	copyTree(t, sealed, dir, schema.RunsDir, schema.SamplesDir)
	return dir, live, f
}

// TestVerifyFormat has files that are whole and say that they are of another format than the store.
func TestVerifyFormat(t *testing.T) {
	t.Parallel()
	dir, live, f := liveAndSealed(t)
	pack := must(filepath.Rel(dir, storetest.PackSealed(t, dir, []schema.SealedFile{f})))
	for _, name := range []string{live, f.Path(schema.RunsDir), f.Path(schema.SamplesDir), filepath.ToSlash(pack)} {
		whole := must(os.ReadFile(filepath.Join(dir, name)))
		writeFile(t, filepath.Join(dir, name), ofFormat(t, whole, '9'))
		found := findings(t, dir)
		if len(found) != 1 || found[0].Path != name || found[0].Severity != check.SeverityNewer || !strings.Contains(found[0].Problem, `format "9"`) {
			t.Errorf("%s: found %+v", name, found)
		}
		writeFile(t, filepath.Join(dir, name), whole)
	}
	writeFile(t, filepath.Join(dir, live), ofFormat(t, must(os.ReadFile(filepath.Join(dir, live))), '9'))
	before := snapshot(t, dir)
	if done, left := mustRepair(t, dir, false); left != 1 || len(done) != 1 || done[0].Action != check.ActionLeave || snapshot(t, dir) != before {
		t.Errorf("%d left, done %+v", left, done)
	}
}

// unreadable is a store of which one file cannot be opened.
type unreadable struct {
	fs.FS
	name  string
	cause error
}

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: u.cause}
	}
	return u.FS.Open(name)
}

// TestVerifyUnreadable has files that the system does not let be read, for what they hold or for want of something:
// that is no damage, and costs nothing.
func TestVerifyUnreadable(t *testing.T) {
	t.Parallel()
	dir, live, f := liveAndSealed(t)
	for _, name := range []string{live, f.Path(schema.RunsDir), f.Path(schema.SamplesDir)} {
		for _, cause := range []error{syscall.EIO, syscall.EACCES, syscall.EMFILE} {
			all := findingsIn(t, unreadable{os.DirFS(dir), name, cause})
			if len(all) != 1 || all[0].Severity != check.SeverityUnreadable || all[0].Path != name || all[0].Loss != (runfile.Loss{}) || !strings.Contains(all[0].Problem, cause.Error()) {
				t.Errorf("%s, %v: found %+v", name, cause, all)
			}
		}
	}
}

// ofFormat returns a file that says that it is of another format, with a hash that matches.
func ofFormat(t *testing.T, content []byte, digit byte) []byte {
	t.Helper()
	content = bytes.Clone(content)
	key := []byte("neurolens.format\x18\x01")
	content[bytes.LastIndex(content, key)+len(key)] = digit
	copy(content[must(schema.FileHashPlace(content)):], schema.EmptyFileHash)
	mustDo(t, schema.PutFileHash(content))
	return content
}

// FuzzClassify reads names: what they are taken for has this name, and nothing else has.
func FuzzClassify(f *testing.F) {
	mustDo(f, disk.Walk(os.DirFS(everything(f)), func(s disk.StoreFile) error {
		f.Add(s.Path)
		return nil
	}))
	for _, name := range []string{"", "/", "live", "live//x.parquet", "runs/2026-11/", "artifacts/ab/ab", "claims/x.0/plan.json", "tmp/a/b.part"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := disk.Classify(name)
		again := name
		switch s.Kind {
		case disk.KindLive:
			again = s.Live.Path()
		case disk.KindSealed, disk.KindPack:
			again = s.Sealed.Path(s.Zone)
		case disk.KindEvent:
			again = schema.EventFile(s.ID)
		case disk.KindRunSet:
			again = schema.RunSetFile(s.ID)
		case disk.KindFolderSizes:
			again = schema.FolderSizesFile(s.ID)
		case disk.KindPackedEvents:
			again = schema.PackedEvents(s.ID)
		case disk.KindPlan:
			again = s.Claim.Path() + "/" + schema.PlanFile
		}
		if again != name {
			t.Errorf("%q is taken for %q", name, again)
		}
	})
}

// FuzzVerify has sealed files whose hash matches whatever is in them: verifying ends, and finds damage or a run as it
// was sealed.
func FuzzVerify(f *testing.F) {
	dir, sealed := sealedStore(f, fullRun(), smallRun())
	whole := fstest.MapFS{}
	mustDo(f, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		whole[s.Path] = &fstest.MapFile{Data: content}
		return err
	}))
	for table := range runfile.Tables {
		f.Add(uint8(table), uint16(100), uint8(1), []byte(nil))
		f.Add(uint8(table), uint16(1000), uint8(0), []byte("xyz"))
	}
	f.Fuzz(func(t *testing.T, of uint8, at uint16, mask uint8, more []byte) {
		name := sealed.Path(schema.TableFolders[runfile.Tables[int(of)%len(runfile.Tables)]])
		content := bytes.Clone(whole[name].Data)
		place := int(at) % len(content)
		content[place] ^= mask
		copy(content[place:], more)
		hash, err := schema.FileHashPlace(content)
		if err != nil {
			return
		}
		copy(content[hash:], schema.EmptyFileHash)
		if err := schema.PutFileHash(content); err != nil {
			return
		}
		store := fstest.MapFS{}
		for other, file := range whole {
			store[other] = file
		}
		store[name] = &fstest.MapFile{Data: content}
		valuetest.Must(check.VerifyFiles(context.Background(), store, func(check.Finding) {}))
	})
}

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
		for _, zone := range schema.TableFolders {
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

// duplicateStore returns a store with the sealed file of another under another id.
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
	for _, zone := range schema.TableFolders {
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
