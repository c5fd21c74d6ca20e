package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// everything makes a store with every kind of file that a store can have: a claim that waits for its end with its sealed
// file, a claim that is not committed, live runs, a pack, events and packed events, an artifact.
func everything(t testing.TB) string {
	t.Helper()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun(), fullRun(), smallRun())
	if n, err := store.Seal(context.Background()); err != nil || n != 3 {
		t.Fatalf("sealed %d runs: %v", n, err)
	}
	runs := []schema.Run{smallRun(), fullRun()}
	mustAppend(t, store, runs...)
	for _, a := range []Annotation{
		{Kind: schema.EventRemove, Runs: []string{runs[0].RunID}},
		{Kind: schema.EventTag, Runs: []string{runs[1].RunID}, Key: "k", Value: "v"},
	} {
		if _, err := store.Annotate(a); err != nil {
			t.Fatal(err)
		}
	}
	files := must(disk.NewOS(dir))
	claim := schema.Claim{ID: schema.NewULID(time.Now()), Attempt: 3}
	makeClaim(t, dir, claim)
	segment := schema.NewULID(time.Now()).String()
	mustDo(t, os.Rename(filepath.Join(dir, store.segment.path()), filepath.Join(dir, claim.Path(), segment)))
	store.leaveSegment()
	writeFile(t, filepath.Join(dir, claim.Path(), layout.OutName(schema.Runs, claim.Attempt)), []byte("half of i"))
	mustAppend(t, store, smallRun())

	listing := must(schema.List(files, schema.Scope{}))
	packSealed(t, dir, listing.Sealed)
	var lines []byte
	for _, id := range listing.Events.Files {
		lines = append(lines, must(fs.ReadFile(files, schema.EventFile(id)))...)
	}
	writeFile(t, filepath.Join(dir, schema.PackedEvents(schema.NewULID(time.Now()))), lines)
	content := []byte("what a run produced")
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	writeFile(t, filepath.Join(dir, schema.ArtifactsDir, sum[:2], sum+".log"), content)
	return dir
}

// makeClaim makes a claim of this process without segments.
func makeClaim(t testing.TB, dir string, c schema.Claim) {
	t.Helper()
	writeFile(t, filepath.Join(dir, c.Path(), schema.OwnerFile), must(sealing.Self("", time.Now()).Encode()))
}

// packSealed writes a pack of sealed files that do not overlap.
func packSealed(t testing.TB, dir string, sealed []schema.SealedFile) string {
	t.Helper()
	var covers, runs []schema.ULID
	var rows [][]any
	slices.SortFunc(sealed, func(a, b schema.SealedFile) int { return a.ID.Compare(b.ID) })
	for _, f := range sealed {
		covers = append(covers, f.ID)
		r := runfile.ReadSealed(os.DirFS(dir), f)
		for live, err := r.Next(); err == nil; live, err = r.Next() {
			rows, runs = append(rows, live.Run), append(runs, must(schema.ParseULID(live.RunID)))
		}
		r.Close()
	}
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	name := filepath.Join(dir, schema.NewSealedFile(schema.NewClaim(time.Now(), runs), runs).Path(schema.PacksDir))
	mustDo(t, os.MkdirAll(filepath.Dir(name), 0o777))
	out := must(os.Create(name))
	w := table.NewWriter(out, schema.Runs, "test", covers)
	for _, row := range rows {
		mustDo(t, w.Write(row))
	}
	mustDo(t, w.Close())
	mustDo(t, out.Close())
	return name
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t testing.TB, name string, content []byte) {
	t.Helper()
	mustDo(t, os.MkdirAll(filepath.Dir(name), 0o777))
	mustDo(t, os.WriteFile(name, content, 0o666))
}

// findings verifies a store.
func findings(t testing.TB, f fs.FS) []check.Finding {
	t.Helper()
	var all []check.Finding
	if _, err := check.VerifyFiles(context.Background(), f, func(found check.Finding) { all = append(all, found) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func damage(all []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f check.Finding) bool { return f.Severity != check.SeverityDamage })
}

func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	before := snapshot(t, dir)
	var all []check.Finding
	done, err := check.Verify(context.Background(), dir, func(f check.Finding) { all = append(all, f) })
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Severity != check.SeverityNotice || !layout.IsOut(path.Base(all[0].Path)) {
		t.Errorf("a whole store has %+v", all)
	}
	if done.Runs != 6 || done.Damage != 0 || done.Files < 20 {
		t.Errorf("verified %+v, want 6 runs", done)
	}
	if snapshot(t, dir) != before {
		t.Error("Verify changed the store")
	}
}

// TestVerifyFlips changes every byte of every file of a store with every kind of file, one at a time, and each change is
// found, in that file. What has nothing to do with the file is left away for speed. NEUROLENS_LONG=1 asks for every byte,
// NEUROLENS_TORTURE=1 for other bits too.
func TestVerifyFlips(t *testing.T) {
	t.Parallel()
	masks, step := []byte{0x20}, tier(151, 1, 1) // the bit that tells the cases of letters apart, to which JSON is blind in places
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
	mustDo(t, layout.Walk(os.DirFS(dir), func(s layout.File) error {
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		all[s.Path] = &fstest.MapFile{Data: content, Mode: 0o666, ModTime: time.Now()}
		return err
	}))
	stores := map[string]fstest.MapFS{}
	for name, file := range all {
		of := layout.Classify(name)
		if of.Kind == layout.KindOut { // nobody relies on it
			continue
		}
		store := fstest.MapFS{schema.HeaderFile: all[schema.HeaderFile]}
		for other, f := range all {
			kind := layout.Classify(other).Kind
			if of.Kind == layout.KindSealed && kind == layout.KindSealed || of.Kind == layout.KindPackedEvents && kind == layout.KindEvent {
				store[other] = f
			}
		}
		store[name] = &fstest.MapFile{Data: bytes.Clone(file.Data), Mode: 0o666, ModTime: file.ModTime}
		stores[name] = store
	}
	kinds := map[layout.Kind]bool{}
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		kinds[layout.Classify(name).Kind] = true
		if found := damage(findings(t, stores[name])); len(found) > 0 {
			t.Fatalf("%s alone: %+v", name, found)
		}
	}
	if len(kinds) != 9 {
		t.Fatalf("the store has files of %d kinds, want 9", len(kinds))
	}
	return stores
}
