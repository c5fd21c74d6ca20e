package prepare

import (
	"os"
	"path/filepath"
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
