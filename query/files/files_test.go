package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestReplace: a file is replaced atomically; if that fails, the old file is unchanged and there is no other file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, text := range []string{"first", "second, longer", "third"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Replace(taken, []byte("text")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := Replace(filepath.Join(dir, "none", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v are left", left, err)
	}
}

// TestJSON: what a text has stays as it is.
func TestJSON(t *testing.T) {
	text, err := JSON(map[string]string{"a": "<b> & c"})
	if err != nil || string(text) != "{\n  \"a\": \"<b> & c\"\n}\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := JSON(func() {}); err == nil {
		t.Error("a function is no JSON")
	}
}
