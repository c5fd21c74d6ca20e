package task

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
)

// TestFilesSurviveCollector collects garbage between the opening of the files of what a supervisor starts and a start:
// a file that is known by its number alone would be closed by then, and its number somebody else's.
func TestFilesSurviveCollector(t *testing.T) {
	dir := t.TempDir()
	names := []string{os.DevNull, filepath.Join(dir, stdoutFile), filepath.Join(dir, stderrFile)}
	for _, name := range names[1:] {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &supervisor{dir: dir, job: &job{}}
	if err := s.openFiles(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := debug.SetCrashOutput(nil, debug.CrashOptions{}); err != nil {
			t.Error(err)
		}
		for _, f := range s.files {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	s.attr = s.procAttr()
	collect()
	for i, name := range names {
		var got, want syscall.Stat_t
		if err := syscall.Stat(name, &want); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Fstat(int(s.attr.Files[i]), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Dev != want.Dev || got.Ino != want.Ino {
			t.Errorf("%s: its number is another file's", name)
		}
	}
}

// collect collects garbage and returns when all finalizers of it have run. They run one after the other, but those of
// one collection in any order: only when the second one has found something to run are those of the first done.
func collect() {
	for range 2 {
		done := make(chan struct{})
		runtime.SetFinalizer(&struct{ link *int }{new(int)}, func(any) { close(done) })
		runtime.GC()
		<-done
	}
}
