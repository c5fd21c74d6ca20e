package ingest

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// linkOut moves what is at a path of a store elsewhere and leaves a link.
func linkOut(t testing.TB, dir, name string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(name))
	mustDo(t, os.Rename(filepath.Join(dir, name), out))
	mustDo(t, os.Symlink(out, filepath.Join(dir, name)))
}

// linked gives copies of a store of which parts are links to elsewhere.
func linked(t *testing.T, whole string) map[string]string {
	stores := map[string]string{"zones": copied(t, whole), "months": copied(t, whole), "files": copied(t, whole)}
	for _, e := range must(os.ReadDir(stores["zones"])) {
		linkOut(t, stores["zones"], e.Name())
	}
	f := must(schema.List(os.DirFS(whole), schema.Scope{})).Sealed[0]
	for _, zone := range schema.TableZones {
		if month := path.Dir(f.Path(zone)); isThere(os.DirFS(whole), month) {
			linkOut(t, stores["months"], month)
		}
	}
	for name := range snapshotFiles(t, whole) {
		linkOut(t, stores["files"], name)
	}
	return stores
}

// snapshotFiles are the files of a store that have its names.
func snapshotFiles(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	mustDo(t, walkStore(os.DirFS(dir), func(s stored) error {
		info, err := s.entry.Info()
		if err == nil {
			sizes[s.path] = info.Size()
		}
		return err
	}))
	return sizes
}

// TestLinks has stores parts of which are links, which readers follow: all that looks at a store does, and repair moves
// none.
func TestLinks(t *testing.T) {
	whole := everything(t)
	claims := must(listClaims(os.DirFS(whole)))
	for _, c := range claims {
		mustDo(t, os.RemoveAll(filepath.Join(whole, c.Path())))
	}
	want, inspected := contents(t, whole), must(Inspect(whole))
	for name, dir := range linked(t, whole) {
		t.Run(name, func(t *testing.T) {
			if found := findings(t, os.DirFS(dir)); len(found) > 0 {
				t.Errorf("found %+v", found)
			}
			if in := must(Inspect(dir)); !slices.Equal(in.Zones, inspected.Zones) || in.Foreign != 0 {
				t.Errorf("inspected %+v, want %+v", in, inspected)
			}
			done, err := Compact(context.Background(), dir, filepath.Join(t.TempDir(), "new"), "test")
			if err != nil || done.Runs+done.Removed != len(want) {
				t.Errorf("compacted %+v of %d: %v", done, len(want), err)
			}
			into, target := newStore(t)
			merged, err := into.Merge(context.Background(), dir, func(f Finding) { t.Errorf("refused %+v", f) })
			if err != nil || merged.Added != len(want) || merged.Artifacts != 1 {
				t.Errorf("merged %+v of %d: %v", merged, len(want), err)
			}
			wholeStore(t, target)
			if done, left := mustRepair(t, dir, false); len(done) > 0 || left > 0 {
				t.Errorf("%d left, done %+v", left, done)
			}
			if got := contents(t, dir); len(got) != len(want) {
				t.Errorf("%d runs, want %d", len(got), len(want))
			}
		})
	}
}

// TestLinksDamage damages files behind links: repair moves the files, or the links to them.
func TestLinksDamage(t *testing.T) {
	dir, f := sealedStore(t, smallRun(), smallRun())
	for _, broken := range []string{f.Path(schema.RunsDir), f.Path(schema.SamplesDir)} {
		for name, dir := range linked(t, dir) {
			flipByte(t, filepath.Join(dir, broken))
			before := must(os.ReadFile(filepath.Join(dir, broken)))
			done, left := mustRepair(t, dir, false)
			after, err := os.ReadFile(filepath.Join(dir, QuarantineDir, broken))
			if left > 0 || len(done) != 2 || err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s, %s: %d left, done %+v; %v", name, broken, left, done, err)
			}
			for _, folder := range []string{schema.RunsDir, path.Dir(f.Path(schema.RunsDir))} {
				if !isThere(os.DirFS(dir), folder) {
					t.Errorf("%s, %s: %s is gone", name, broken, folder)
				}
			}
			wholeStore(t, dir)
		}
	}
}

// TestLinksStay has links that lead nowhere, back, or to a directory that no store has: verify ends, and repair moves no
// link that leads to a directory or did.
func TestLinksStay(t *testing.T) {
	dir, f := sealedStore(t, smallRun())
	month := path.Dir(f.Path(schema.RunsDir))
	event := schema.EventFile(schema.NewULID(time.Now()))
	mustDo(t, os.MkdirAll(filepath.Join(dir, schema.EventsDir), 0o777))
	links := map[string]struct {
		to       string
		severity Severity // none: nothing is found
	}{
		QuarantineDir:       {dir, ""},
		"runs/latest":       {filepath.Join(dir, month), SeverityNotice},
		"runs/up":           {dir, SeverityNotice},
		"runs/all.parquet":  {dir, SeverityNotice},
		"notes":             {dir, SeverityNotice},
		"live/notes":        {dir, SeverityNotice},
		"ops":               {filepath.Join(dir, "not mounted"), SeverityDamage},
		"runs/2020-01":      {"2020-01", SeverityDamage},
		"samples/2020-01":   {filepath.Join(dir, "not mounted"), SeverityDamage},
		"samples/x.parquet": {filepath.Join(dir, "not mounted"), SeverityDamage},
		event:               {dir, SeverityDamage},
	}
	for name, link := range links {
		mustDo(t, os.Symlink(link.to, filepath.Join(dir, name)))
	}
	for _, found := range findings(t, os.DirFS(dir)) {
		if links[found.Path].severity != found.Severity {
			t.Errorf("found %+v", found)
		}
	}
	mustDo(t, os.Remove(filepath.Join(dir, QuarantineDir)))
	done, left := mustRepair(t, dir, false)
	if left != 5 || slices.ContainsFunc(done, func(r Repair) bool { return r.Action != ActionLeave || !strings.Contains(r.Reason, "link") }) {
		t.Errorf("%d left, done %+v", left, done)
	}
	for name, link := range links {
		if to, err := os.Readlink(filepath.Join(dir, name)); name != QuarantineDir && (err != nil || to != link.to) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLinksAlias has a second name for the folder of a month: its files stand there under names that no folder of that
// month has, and have to stay where they are.
func TestLinksAlias(t *testing.T) {
	dir, f := sealedStore(t, smallRun())
	mustDo(t, os.Symlink(path.Base(path.Dir(f.Path(schema.RunsDir))), filepath.Join(dir, "runs", "2020-01")))
	if found := damage(findings(t, os.DirFS(dir))); len(found) != 1 || path.Dir(found[0].Path) != "runs/2020-01" {
		t.Errorf("found %+v", found)
	}
	if done, left := mustRepair(t, dir, false); left != 1 || len(contents(t, dir)) != 1 {
		t.Errorf("%d left, done %+v", left, done)
	}
}

// TestRepairAcross has the runs on another file system, from which nothing can be renamed into the store.
func TestRepairAcross(t *testing.T) {
	other, err := os.MkdirTemp("/dev/shm", "neurolens")
	if err != nil {
		t.Skipf("there is no other file system: %v", err)
	}
	defer os.RemoveAll(other)
	dir, f := sealedStore(t, smallRun())
	probe := filepath.Join(dir, schema.TmpDir, "probe")
	writeFile(t, probe, nil)
	if os.Rename(probe, filepath.Join(other, "probe")) == nil {
		t.Skip("/dev/shm is on the file system of the store")
	}
	mustDo(t, os.Remove(probe))
	mustDo(t, os.CopyFS(other, os.DirFS(filepath.Join(dir, schema.RunsDir))))
	mustDo(t, os.RemoveAll(filepath.Join(dir, schema.RunsDir)))
	mustDo(t, os.Symlink(other, filepath.Join(dir, schema.RunsDir)))
	flipByte(t, filepath.Join(dir, f.Path(schema.RunsDir)))
	done, left := mustRepair(t, dir, false)
	if left != 1 || len(done) != 1 || !strings.Contains(done[0].Reason, "another file system") {
		t.Errorf("%d left, done %+v", left, done)
	}
	for _, zone := range []string{schema.RunsDir, schema.SamplesDir} {
		if !isThere(os.DirFS(dir), f.Path(zone)) {
			t.Errorf("%s is gone", f.Path(zone))
		}
	}
}
