package prepare

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
)

// TestCachedBytecode: Python writes its cache anew whenever it likes, so that only its source says whether a build has written the code.
func TestCachedBytecode(t *testing.T) {
	dir := t.TempDir()
	source, cached := filepath.Join(dir, "m.py"), filepath.Join(dir, "__pycache__", "m.cpython-312.pyc")
	if err := os.Mkdir(filepath.Dir(cached), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{source, cached} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	targets := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{{Root: t.TempDir()}, {Root: t.TempDir()}}})
	around := time.Now()
	targets.builds.times[1] = []span{{around.Add(-time.Hour), around.Add(time.Hour)}}
	sub, read := Subject{&sweep.Point{}, 0}, task.File{Path: cached}
	if !targets.isOverwritten(sub, read) {
		t.Error("bytecode whose source a build has written is not overwritten")
	}
	if err := os.Remove(source); err != nil {
		t.Fatal(err)
	}
	if targets.isOverwritten(sub, read) {
		t.Error("bytecode whose source no build has written is overwritten")
	}
}
