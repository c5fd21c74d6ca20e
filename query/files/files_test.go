package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReplace: a file is replaced atomically; if that fails, the old file is unchanged and there is no other file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, text := range []string{"first", "second, longer", "third"} {
		valuetest.OK(t, Replace(path, []byte(text)))
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	taken := filepath.Join(dir, "taken")
	valuetest.OK(t, os.Mkdir(taken, 0o777))
	if err := OfPlace(Replace(taken, []byte("text"))); !errors.Is(err, ErrPlace) {
		t.Errorf("a folder was replaced: %v", err)
	}
	none := filepath.Join(dir, "none", "a")
	if err := OfPlace(Replace(none, nil)); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrPlace) || err.Error() != "writing "+none+": no such file or directory" {
		t.Errorf("in no folder: %v", err)
	}
	if err := OfPlace(Replace(filepath.Join(path, "a"), nil)); !errors.Is(err, ErrPlace) {
		t.Errorf("in a file: %v", err)
	}
	full := OfPlace(Write(path, func(io.Writer) error { return syscall.ENOSPC }))
	if !errors.Is(full, syscall.ENOSPC) || errors.Is(full, ErrPlace) {
		t.Errorf("a full disk: %v", full)
	}
	if err := OfPlace(nil); err != nil {
		t.Error(err)
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

// TestRead: Read refuses links, folders, pipes and files above its limit.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path, link, pipe, large := filepath.Join(dir, "a.json"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o666), os.Symlink(path, link), syscall.Mkfifo(pipe, 0o666), os.WriteFile(large, nil, 0o666), os.Truncate(large, maxRead+1)); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(path); string(text) != "{}" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for _, path := range []string{link, pipe, large, dir} {
		if text, err := Read(path); text != nil || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
