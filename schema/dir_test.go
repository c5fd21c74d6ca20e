package schema_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDirLinks: a store may be named by a link, and inside it none is followed, whatever part of a path it is.
func TestDirLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := schema.Dir(filepath.Join(base, "link"))
	for _, err := range []error{
		os.MkdirAll(filepath.Join(base, "store", "runs", "2026-11"), 0o777),
		os.WriteFile(filepath.Join(base, "store", "runs", "2026-11", "file"), []byte("text"), 0o666),
		os.Symlink("store", string(dir)),
		os.Symlink("runs", filepath.Join(base, "store", "samples")),
		os.Symlink("2026-11/file", filepath.Join(base, "store", "runs", "file")),
	} {
		valuetest.OK(t, err)
	}
	if text, err := fs.ReadFile(dir, "runs/2026-11/file"); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	if entries, err := fs.ReadDir(dir, "."); err != nil || len(entries) != 2 {
		t.Errorf("listed %v, %v", entries, err)
	}
	for name, about := range map[string]string{"samples": "samples", "samples/2026-11": "samples", "samples/2026-11/file": "samples", "runs/file": "runs/file"} {
		for what, do := range map[string]func(string) error{
			"open":   func(name string) error { _, err := dir.Open(name); return err },
			"path":   func(name string) error { _, err := dir.DirPath(name); return err },
			"folder": func(name string) error { _, err := dir.OpenDir(name); return err },
			"lock":   func(name string) error { _, err := dir.OpenToLock(name); return err },
		} {
			err := do(name)
			at, ok := errors.AsType[*fs.PathError](err)
			if !errors.Is(err, schema.ErrDamaged) || !ok || at.Path != about || !strings.Contains(err.Error(), "a link") {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	if _, err := dir.PathToChange("samples/new"); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("beyond a link: %v", err)
	}
	if _, err := dir.Open("runs/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

// TestLongFiles: the length that a file of JSON claims to have is not believed beyond a limit, and packed events are read
// line by line.
func TestLongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{"small": 64 << 10, "long": 64<<10 + 1, "huge": 10 << 30} {
		valuetest.OK(t, errors.Join(os.WriteFile(filepath.Join(dir, name), nil, 0o666), os.Truncate(filepath.Join(dir, name), size)))
	}
	store := schema.Dir(dir)
	if text, err := schema.ReadSmall(store, "small"); err != nil || len(text) != 64<<10 {
		t.Errorf("read %d bytes, %v", len(text), err)
	}
	for _, name := range []string{"long", "huge"} {
		if _, err := schema.ReadSmall(store, name); !errors.Is(err, schema.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := schema.ReadNames(store, "huge"); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("huge: %v", err)
	}
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "lines"), []byte("a\n\nbc\nd"), 0o666))
	var lines [][]byte
	err := schema.ReadPackedEvents(store, "lines", func(line []byte) error { lines = append(lines, bytes.Clone(line)); return nil })
	if err != nil || string(bytes.Join(lines, []byte("|"))) != "a\n|\n|bc\n|d" {
		t.Errorf("read %q, %v", lines, err)
	}
}
