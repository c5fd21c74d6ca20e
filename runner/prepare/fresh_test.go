package prepare

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
)

// TestSameFile: a file that is replaced, written or removed is another one; one that is read is not.
func TestSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	h := New(Options{Sweep: &sweep.Sweep{}})
	write := func(text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, c := range []struct {
		name    string
		do      func() error
		changed bool
	}{
		{"made", write("one"), true},
		{"read", func() error { _, err := os.ReadFile(path); return err }, false},
		{"longer", write("four"), true},
		{"replaced", func() error {
			info := infoOf(path)
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			if err := write("FOUR")(); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		}, true},
		{"removed", func() error { return os.Remove(path) }, true},
	} {
		if _, err := h.sha256(path); (err == nil) != (infoOf(path) != nil) {
			t.Fatal(err)
		}
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if changed := h.forgetChanged(); changed != c.changed {
			t.Errorf("%s: changed %v", c.name, changed)
		}
	}
}

// TestHashFile: a pipe is not waited for, and a device without an end is not read.
func TestHashFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		if hash, err := hashFile(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %q, %v", path, hash, err)
		}
	}
	if hash, err := hashFile(os.Args[0]); err != nil || len(hash) != 64 {
		t.Errorf("%q, %v", hash, err)
	}
}
