package check_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
)

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

// liveAndSealed is a store with a live run and a sealed file.
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

// ofFormat is a file that says that it is of another format, with a hash that matches.
func ofFormat(t *testing.T, content []byte, digit byte) []byte {
	t.Helper()
	content = bytes.Clone(content)
	key := []byte("neurolens.format\x18\x01")
	content[bytes.LastIndex(content, key)+len(key)] = digit
	copy(content[must(schema.FileHashPlace(content)):], schema.EmptyFileHash)
	mustDo(t, schema.PutFileHash(content))
	return content
}
