package foreign

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// TestManyFiles: files that are named, by a pattern of the shell, hold none open that is not read.
func TestManyFiles(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	var names []string
	for i := range 50 {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		names = append(names, filepath.Join(dir, "result.json"))
		if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(names[i], []byte("{}"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	before := open()
	sources, err := Sources(append(names, filepath.Dir(names[0]), os.DevNull, os.DevNull), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		in, err := s.Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !in.Beside("result.json") && s.Name != os.DevNull {
			t.Errorf("%s: it does not stand beside itself", s.Name)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if after := open(); after > before || len(sources) != 53 {
		t.Errorf("%d sources, %d files open, %d before", len(sources), after, before)
	}
}

// TestPassThrough: a file in a folder that cannot be listed is read, without its side files.
func TestPassThrough(t *testing.T) {
	if os.Getuid() == 0 { // who may list every folder
		const nobody = 65534
		runtime.LockOSThread() // and never unlocked: the thread ends with the test
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	name := filepath.Join(dir, "r.json")
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(name, []byte("{}"), 0o666), os.Chmod(dir, 0o311), os.Chmod(filepath.Dir(dir), 0o311)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(os.Chmod(filepath.Dir(dir), 0o777), os.Chmod(dir, 0o777)) }()
	sources, err := Sources([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := sources[0].Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(in.Text()); string(text) != "{}" || err != nil || in.Beside("r.json") || in.Close() != nil {
		t.Errorf("%q, %v", text, err)
	}
}
