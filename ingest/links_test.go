package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// linkOut moves what is at a path of a store elsewhere and leaves a link. It gives where it is now.
func linkOut(t testing.TB, dir, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(name))
	mustDo(t, os.Rename(filepath.Join(dir, name), out))
	mustDo(t, os.Symlink(out, filepath.Join(dir, name)))
	return out
}

// places returns the files of a store and the directories that they stand in, in order.
func places(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	mustDo(t, disk.Walk(schema.Dir(dir), func(s disk.StoreFile) error {
		for name := s.Path; name != "."; name = filepath.Dir(name) {
			all = append(all, name)
		}
		return nil
	}))
	slices.Sort(all)
	return slices.Compact(all)
}

// TestLinks puts a link in the place of every file and directory of a store, to what stood there: verify names it, no
// compacted store takes it in, and whatever is written, sealed, packed or repaired, nothing changes where it leads to.
func TestLinks(t *testing.T) {
	t.Parallel()
	whole := everything(t)
	for i, name := range places(t, whole) {
		if i%tier(4, 1, 1) != 0 {
			continue
		}
		dir := copied(t, whole)
		out := linkOut(t, dir, name)
		before := snapshot(t, out)
		found := damage(findings(t, dir))
		if !slices.ContainsFunc(found, func(f check.Finding) bool { return f.Path == name && strings.Contains(f.Problem, "is a link") }) {
			t.Errorf("%s: found %+v", name, found)
		}
		left := false // out of the new store
		_, err := Compact(context.Background(), dir, filepath.Join(t.TempDir(), "new"), "test", func(f LeftOut) { left = left || f.Path == name })
		if err == nil && !left && !unread(name) {
			t.Errorf("%s: compacted", name)
		}
		writeThrough(dir)
		valuetest.Equal(t, snapshot(t, out), before, name, "what it leads to was changed")
	}
}

// unread tells whether a name is one that is not needed to read the runs.
func unread(name string) bool {
	kind := disk.Classify(name).Kind
	zone, _, _ := strings.Cut(name, "/")
	return kind == disk.KindOwner || kind == disk.KindOut || kind == disk.KindPlan || zone == schema.PacksDir || zone == schema.TmpDir || zone == schema.TrashDir
}

// writeThrough does all that changes a store, as far as it can be done.
func writeThrough(dir string) {
	store, err := Open(dir, "test")
	if err != nil {
		return
	}
	store.sealer.Rules.Dead = func(sealing.Owner) bool { return true }
	_ = store.Append(smallRun())
	_, _ = store.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{smallRun().RunID}, Value: "text"})
	_, _ = store.Seal(context.Background())
	_ = store.Close()
	if repairer, err := check.OpenToRepair(dir, "test"); err == nil {
		_, _ = repairer.Repair(context.Background(), func(check.Repair) {})
		_ = repairer.Close()
	}
}

// TestLinkedDirectories has an old temporary file, an abandoned segment and a claim where links in the place of a store's
// directories lead to: nothing there is removed or moved.
func TestLinkedDirectories(t *testing.T) {
	t.Parallel()
	for _, zone := range disk.Zones {
		whole := everything(t)
		mustDo(t, os.MkdirAll(filepath.Join(whole, zone), 0o777))
		old := filepath.Join(whole, zone, schema.NewULID(time.Now()).String()+disk.TempSuffix)
		writeFile(t, old, []byte("mine"))
		past := time.Now().Add(-100 * disk.TempAge)
		mustDo(t, os.Chtimes(old, past, past))
		out := linkOut(t, whole, zone)
		before := snapshot(t, out)
		writeThrough(whole)
		valuetest.Equal(t, snapshot(t, out), before, zone, "what it leads to was changed")
		_, err := Open(whole, "test")
		valuetest.Equal(t, zone == schema.TmpDir || zone == schema.LiveDir, errors.Is(err, schema.ErrDamaged), zone, "opened with", err)
	}
}

// TestLinksStay has links that lead nowhere, back, or to a directory that no store has: verify ends, and repair moves
// none that has the name of a part of a store.
func TestLinksStay(t *testing.T) {
	t.Parallel()
	dir, f := sealedStore(t, smallRun())
	month := filepath.Dir(f.Path(schema.RunsDir))
	event := schema.EventFile(schema.NewULID(time.Now()))
	mustDo(t, os.MkdirAll(filepath.Join(dir, schema.EventsDir), 0o777))
	away := filepath.Join(dir, "not mounted")
	links := map[string]struct {
		to       string
		severity check.Severity
		moved    bool
	}{
		"runs/latest":       {filepath.Join(dir, month), check.SeverityNotice, false},
		"runs/up":           {dir, check.SeverityNotice, false},
		"notes":             {dir, check.SeverityNotice, false},
		"live/notes":        {dir, check.SeverityNotice, false},
		"runs/all.parquet":  {dir, check.SeverityDamage, true},
		"samples/x.parquet": {away, check.SeverityDamage, true},
		"ops":               {away, check.SeverityDamage, false},
		"runs/2020-01":      {"2020-01", check.SeverityDamage, false},
		"samples/2020-01":   {away, check.SeverityDamage, false},
		event:               {dir, check.SeverityDamage, false},
	}
	for name, link := range links {
		mustDo(t, os.Symlink(link.to, filepath.Join(dir, name)))
	}
	found := findings(t, dir)
	for _, found := range found {
		if links[found.Path].severity != found.Severity && found.Path != f.Path(schema.RunsDir) { // whose ops are beyond a link
			t.Errorf("found %+v", found)
		}
	}
	valuetest.Equal(t, len(found), len(links)+1, "found", found)
	done, left := mustRepair(t, dir, false)
	valuetest.Equal(t, left, 5, done)
	valuetest.Equal(t, len(done), 7, done)
	for name, link := range links {
		if to, err := os.Readlink(filepath.Join(dir, name)); !link.moved && (err != nil || to != link.to) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
