package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemFiles: what is read of this system is what package os reads, and what is not there is missed in the same words.
func TestSystemFiles(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("line\n", 10_000)
	if err := os.WriteFile(filepath.Join(dir, "long"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	root, inside := systemRoot(), strings.TrimPrefix(dir, "/")
	got, err := readText(root, inside+"/long")
	if err != nil || got != strings.TrimSpace(text[:maxText]) {
		t.Errorf("%d B, %v: want %d B", len(got), err, maxText)
	}
	for _, name := range []string{"proc/self/limits", "proc/self/status", "etc/passwd"} {
		want, err := os.ReadFile("/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readText(root, name)
		if first, _, _ := strings.Cut(string(want), "\n"); err != nil || !strings.HasPrefix(got, first) {
			t.Errorf("%s: %.40q, %v: want %q", name, got, err, first)
		}
	}
	for _, name := range []string{inside + "/none", inside + "/long/none", inside} {
		_, err := readText(root, name)
		if _, want := readText(os.DirFS("/"), name); reason(err) != reason(want) || errors.Is(err, fs.ErrNotExist) != errors.Is(want, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := root.Open("../etc"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%v", err)
	}
	under, err := fs.Sub(root, inside)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(under, ".")
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
