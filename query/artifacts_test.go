package query

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// storeWith returns a store with one run that left files, by path and content, and the run.
func storeWith(t *testing.T, started time.Time, files map[string]string) (dir string, run schema.Run) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	valuetest.OK(t, ingest.Init(dir))
	run = runtest.Small()
	run.RunID, run.StartedAt, run.Artifacts = schema.NewULID(started).String(), started, nil
	appendTo(t, dir, &run, files)
	return dir, run
}

func appendTo(t *testing.T, dir string, run *schema.Run, files map[string]string) {
	t.Helper()
	s := valuetest.Must(ingest.Open(dir, "test"))
	defer s.Close()
	for path, text := range files {
		hash, size, err := s.KeepArtifact(strings.NewReader(text))
		valuetest.OK(t, err)
		run.Artifacts = append(run.Artifacts, schema.Artifact{Kind: schema.ArtifactFile, Path: path, SHA256: hash, Bytes: &size})
	}
	valuetest.OK(t, s.Append(*run))
}

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db := valuetest.Must(Open(t.Context(), []string{dir}, Options{}))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// of returns the artifacts of a run that is stored.
func of(t *testing.T, db *DB, id string) []Artifact {
	t.Helper()
	detail := valuetest.Must(db.Show(t.Context(), id))
	all := valuetest.Must(Artifacts(t.Context(), db, &detail.Run))
	return all
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestSave: stored files are restored unchanged, under their paths.
func TestSave(t *testing.T) {
	text := strings.Repeat("a trace\n", 1<<17)
	dir, run := storeWith(t, day, map[string]string{"deep/er/trace.txt": text, "/var/tmp/empty": ""})
	db, into := open(t, dir), t.TempDir()
	files, bytes, err := SaveArtifacts(t.Context(), of(t, db, run.RunID), into)
	valuetest.DeepEqual(t, []any{err, files, bytes}, []any{nil, 2, int64(len(text))})
	for name, want := range map[string]string{"deep/er/trace.txt": text, "var/tmp/empty": ""} {
		valuetest.Equal(t, string(valuetest.Must(os.ReadFile(filepath.Join(into, name)))), want, name)
	}
}

// TestSaveNames: no path leaves the directory, and two files with one path are both written.
func TestSaveNames(t *testing.T) {
	for path, want := range map[string]string{
		"../out": "out", "a/../../out": "out", "/../out": "out", ".": "file", "/": "file", "": "file", "./x": "x", "x": "x~2",
	} {
		files := map[string]string{path: "text"}
		dir, run := storeWith(t, day, files)
		all := of(t, open(t, dir), run.RunID)
		if path == "x" {
			all = append([]Artifact{all[0]}, all...)
		}
		into := filepath.Join(t.TempDir(), "in")
		n, _, err := SaveArtifacts(t.Context(), all, into)
		if text, missing := os.ReadFile(filepath.Join(into, want)); err != nil || n != len(all) || missing != nil || string(text) != "text" {
			t.Errorf("%q: %d files, %v; %s: %v", path, n, err, want, missing)
		}
		if around, err := os.ReadDir(filepath.Dir(into)); err != nil || len(around) != 1 {
			t.Errorf("%q: %v lie beside the folder, %v", path, around, err)
		}
	}
}

// TestSaveKinds: the kind of a file without a path is no way out of the directory, and neither are links that are there already.
func TestSaveKinds(t *testing.T) {
	dir, run := storeWith(t, day, map[string]string{"x": "text"})
	stored := of(t, open(t, dir), run.RunID)[0]
	for kind, want := range map[string]string{
		"profile": "profile", "": "file", "../../.bash_profile": "file", "..": "file", "/etc/x": "file", "a/b": "file", ".hidden": "file", "a\nb": "file", "é": "file",
	} {
		for _, path := range []string{"", ".", "/", "../.."} {
			around := t.TempDir()
			stored.Kind, stored.Path = kind, path
			into := filepath.Join(around, "a", "b", "in")
			if n, _, err := SaveArtifacts(t.Context(), []Artifact{stored}, into); n != 1 || err != nil {
				t.Errorf("kind %q, path %q: %d files, %v", kind, path, n, err)
			}
			var found []string
			err := filepath.WalkDir(around, func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					found = append(found, name)
				}
				return err
			})
			if err != nil || len(found) != 1 || found[0] != filepath.Join(into, want) {
				t.Errorf("kind %q, path %q: %q, %v", kind, path, found, err)
			}
		}
	}
	stored.Kind = schema.ArtifactFile
	for _, path := range []string{"link/new", "link/deep/new", "up/../new", "link"} {
		elsewhere, into := t.TempDir(), t.TempDir()
		valuetest.OK(t, errors.Join(os.Symlink(elsewhere, filepath.Join(into, "link")), os.Symlink("..", filepath.Join(into, "up"))))
		stored.Path = path
		n, _, err := SaveArtifacts(t.Context(), []Artifact{stored}, into)
		if path == "up/../new" { // it is cleaned as a text
			valuetest.DeepEqual(t, []any{n, err}, []any{1, nil}, path)
		} else if n != 0 || !errors.Is(err, answer.ErrInput) {
			t.Errorf("%s: %d files, %v", path, n, err)
		}
		valuetest.DeepEqual(t, valuetest.Must(os.ReadDir(elsewhere)), nil, path)
	}
}

// TestSaveSize: a file that unpacks to more or less than its run says is damaged. Nothing of it is kept, and no more is unpacked.
func TestSaveSize(t *testing.T) {
	const size = 8 << 20
	dir, run := storeWith(t, day, map[string]string{"x": strings.Repeat("\x00", size)})
	stored := of(t, open(t, dir), run.RunID)[0]
	for said, want := range map[int64]string{
		0: "more bytes", 6: "more bytes", size - 1: "more bytes", -1: "more bytes", math.MinInt64: "more bytes",
		size + 1: "1 bytes less", math.MaxInt64: "bytes less", size: "",
	} {
		stored.Bytes = new(said)
		content := valuetest.Must(stored.Open())
		n, err := io.Copy(io.Discard, content)
		if err := content.Close(); err != nil || n > max(said, 0)+1 && said < size {
			t.Errorf("%d: %d bytes are unpacked, %v", said, n, err)
		}
		if damaged := errors.Is(err, schema.ErrDamaged); damaged != (want != "") || damaged && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", said, err)
		}
		into := t.TempDir()
		_, _, _ = SaveArtifacts(t.Context(), []Artifact{stored}, into)
		valuetest.Equal(t, (len(valuetest.Must(os.ReadDir(into))) > 0), (want == ""), said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	into := t.TempDir()
	if n, _, err := SaveArtifacts(ctx, []Artifact{stored}, into); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %d files, %v", n, err)
	}
	valuetest.DeepEqual(t, valuetest.Must(os.ReadDir(into)), nil, "interrupted")
}

// TestSaveRefuses: existing files are not overwritten; then no file is written at all.
func TestSaveRefuses(t *testing.T) {
	dir, run := storeWith(t, day, map[string]string{"a/b": "text", "fine": "text"})
	into := t.TempDir()
	valuetest.OK(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(into, "fine")))
	if _, _, err := SaveArtifacts(t.Context(), of(t, open(t, dir), run.RunID), into); !errors.Is(err, answer.ErrInput) || !strings.HasSuffix(err.Error(), "fine is already there") {
		t.Errorf("over a link: %v", err)
	}
	valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(into, "a"))), "", "another file was written all the same")
	if _, _, err := SaveArtifacts(t.Context(), of(t, open(t, dir), run.RunID), "/proc/neurolens"); !errors.Is(err, answer.ErrInput) {
		t.Errorf("where no folder can be made: %v", err)
	}
}

// TestSaveDamaged: a file with a changed byte is reported as damaged, and not left behind.
func TestSaveDamaged(t *testing.T) {
	dir, run := storeWith(t, day, map[string]string{"x": strings.Repeat("what a run produced, ", 100)})
	name := filepath.Join(dir, schema.ArtifactPath(run.Artifacts[0].SHA256))
	stored := valuetest.Must(os.ReadFile(name))
	all := of(t, open(t, dir), run.RunID)
	for at := range stored {
		damaged := append([]byte(nil), stored...)
		damaged[at] ^= 1
		for _, content := range [][]byte{damaged, stored[:at], append(stored[:len(stored):len(stored)], 'x')} {
			valuetest.OK(t, os.WriteFile(name, content, 0o666))
			into := t.TempDir()
			_, _, err := SaveArtifacts(t.Context(), all, into)
			if _, there := os.Stat(filepath.Join(into, "x")); !errors.Is(err, schema.ErrDamaged) || there == nil {
				t.Fatalf("byte %d: %v, left behind: %t", at, err, there == nil)
			}
		}
	}
}

// TestStates: a file that does not exist is pruned if an event says so, and otherwise missing.
func TestStates(t *testing.T) {
	dir, run := storeWith(t, day, map[string]string{"x": "text"})
	db := open(t, dir)
	if got := of(t, db, run.RunID)[0]; got.State != ArtifactStored || *got.Stored == 0 {
		t.Errorf("%+v", got)
	}
	name := filepath.Join(dir, schema.ArtifactPath(run.Artifacts[0].SHA256))
	valuetest.OK(t, os.Chtimes(name, day, day))
	s := valuetest.Must(ingest.Open(dir, "test"))
	defer s.Close()
	began := time.Now().Truncate(time.Microsecond) // as times are stored
	valuetest.Equal(t, valuetest.Must(s.PruneArtifacts(t.Context(), ingest.Pruning{Before: time.Now()})).Files, 1)
	if got := of(t, db, run.RunID)[0]; got.State != ArtifactPruned || got.Pruned.Before(began) {
		t.Errorf("%+v", got)
	}
	other, run := storeWith(t, day, map[string]string{"x": "text"})
	valuetest.OK(t, os.RemoveAll(filepath.Join(other, schema.ArtifactsDir)))
	valuetest.Equal(t, of(t, open(t, other), run.RunID)[0].State, ArtifactMissing)
}

// TestKeptSince: a young run keeps its files, as do a run with an unknown start and a removed one.
func TestKeptSince(t *testing.T) {
	dir, old := storeWith(t, day, map[string]string{"x": "both", "y": "old"})
	young := runtest.Small()
	young.RunID, young.StartedAt = schema.NewULID(day.AddDate(0, 1, 0)).String(), day.AddDate(0, 1, 0)
	appendTo(t, dir, &young, map[string]string{"x": "both", "z": "young"})
	timeless := runtest.Small()
	timeless.RunID, timeless.StartedAt = schema.NewULID(time.UnixMilli(0)).String(), time.Time{}
	appendTo(t, dir, &timeless, map[string]string{"t": "timeless"})
	s := valuetest.Must(ingest.Open(dir, "test"))
	defer s.Close()
	valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventRemove, Runs: []string{young.RunID}}))
	kept := valuetest.Must(ArtifactsKeptSince(t.Context(), open(t, dir), day.AddDate(0, 0, 1)))
	want := map[string]bool{}
	for _, a := range append(young.Artifacts, timeless.Artifacts...) {
		want[a.SHA256] = true
	}
	for _, a := range append(old.Artifacts, append(young.Artifacts, timeless.Artifacts...)...) {
		valuetest.Equal(t, kept[a.SHA256], want[a.SHA256], a.Path, a.SHA256, "kept")
	}
}

// TestOtherEnding: a file that another writer has stored uncompressed is restored unchanged.
func TestOtherEnding(t *testing.T) {
	dir, run := storeWith(t, day, map[string]string{"x": "text"})
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("a log")))
	name := filepath.Join(dir, schema.ArtifactsDir, sum[:2], sum+".log")
	valuetest.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte("a log"), 0o666)))
	run.Artifacts = []schema.Artifact{{Kind: "log", Path: "out.log", SHA256: sum}}
	run.StartedAt = day.Add(time.Hour)
	run.RunID = schema.NewULID(run.StartedAt).String()
	appendTo(t, dir, &run, nil)
	into := t.TempDir()
	if n, _, err := SaveArtifacts(t.Context(), of(t, open(t, dir), run.RunID), into); n != 1 || err != nil {
		t.Fatalf("%d files, %v", n, err)
	}
	valuetest.Equal(t, string(valuetest.Must(os.ReadFile(filepath.Join(into, "out.log")))), "a log")
	valuetest.OK(t, os.WriteFile(name, []byte("a Log"), 0o666))
	if _, _, err := SaveArtifacts(t.Context(), of(t, open(t, dir), run.RunID), t.TempDir()); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
}
