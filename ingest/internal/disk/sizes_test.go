package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSizes: a directory is read with the sizes that Info gives: of files, and of links themselves. An entry that is gone by then is.
func TestSizes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"a": "", "b": "four", "c": "it is gone"} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	valuetest.OK(t, errors.Join(os.Mkdir(filepath.Join(dir, "in"), 0o700), os.Symlink("/no/such/place", filepath.Join(dir, "link"))))
	files := Sizes{OS{schema.Dir(dir)}}
	entries, err := fs.ReadDir(files, ".")
	if err != nil || len(entries) != 5 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		info := valuetest.Must(os.Lstat(filepath.Join(dir, e.Name())))
		_, measured := e.(*sized)
		if n, err := Size(e); n != info.Size() || err != nil || measured == e.IsDir() {
			t.Errorf("%s has %d bytes, want %d, %v; measured with the directory: %v", e.Name(), n, info.Size(), err, measured)
		}
	}
	if _, err := fs.ReadDir(files, "link"); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("a link: %v", err)
	}
	opened := valuetest.Must(os.Open(dir))
	defer opened.Close()
	if entries, err = opened.ReadDir(-1); err != nil {
		t.Fatal(err)
	}
	valuetest.OK(t, os.Remove(filepath.Join(dir, "c")))
	measure(opened, entries)
	for _, e := range entries {
		if _, err := Size(e); errors.Is(err, fs.ErrNotExist) != (e.Name() == "c") {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
