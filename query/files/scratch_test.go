package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func left(t *testing.T, dir string) []string {
	t.Helper()
	entries := valuetest.Must(os.ReadDir(dir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func makeDir(t *testing.T) *files.ScratchDir {
	t.Helper()
	d := valuetest.Must(new(files.ProcessScratch).Dir())
	return d
}

// TestPrivate: the directory is readable only by its owner, and is removed.
func TestPrivate(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	d := makeDir(t)
	info, err := os.Stat(d.Path)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	valuetest.OK(t, os.MkdirAll(filepath.Join(d.Path, "a", "b"), 0o700))
	if err := errors.Join(d.Remove(), d.Remove()); err != nil {
		t.Error(err)
	}
	if names := left(t, tmp); len(names) > 0 {
		t.Errorf("left %v", names)
	}
}

// TestSweep: directories of dead processes are removed; those of living ones, and everything else, remain.
func TestSweep(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	alive, dead := makeDir(t), makeDir(t)
	valuetest.OK(t, os.WriteFile(filepath.Join(dead.Path, "spill"), []byte("x"), 0o600))
	if err := dead.Lock.Close(); err != nil { // as the system does for a process that ends
		t.Fatal(err)
	}
	target := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"neurolens-tmp-file": func(path string) error { return os.WriteFile(path, nil, 0o700) },
		"neurolens-tmp-link": func(path string) error { return os.Symlink(target, path) },
		"neurolens-tmp-open": func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o755)) },
		"somebody-elses":     func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		valuetest.OK(t, make(filepath.Join(tmp, name)))
	}
	if err := files.SweepScratch(); err != nil {
		t.Error(err)
	}
	if names := left(t, tmp); len(names) != 5 {
		t.Errorf("left %v", names)
	}
	if _, err := os.Stat(alive.Path); err != nil {
		t.Error(err)
	}
	if err := alive.Remove(); err != nil {
		t.Error(err)
	}
}

// TestSweepRace: a sweep never removes a directory that is in use, however close the times are.
func TestSweepRace(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				d, err := new(files.ProcessScratch).Dir()
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(d.Path); err != nil {
					t.Errorf("swept while it was in use: %v", err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 200 {
				if err := files.SweepScratch(); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if names := left(t, tmp); len(names) > 0 {
		t.Errorf("left %v", names)
	}
}
