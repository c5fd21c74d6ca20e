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
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	before := snapshot(t, dir)
	var all []check.Finding
	done, err := check.Verify(context.Background(), dir, func(f check.Finding) { all = append(all, f) })
	if err != nil {
		t.Fatal(err)
	}
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
// NEUROLENS_TORTURE=1 for every one, and for other bits too.
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
