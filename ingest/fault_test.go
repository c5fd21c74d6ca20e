package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// faultyFiles fail one operation, or all from one on until healed.
type faultyFiles struct {
	disk.OS
	fault   error
	at      int  // how many operations go well before
	late    bool // the operation happens, and is reported as failed all the same
	lasting bool // so do all after it, until healed
	trace   []string
	healed  bool
	hit     bool
	unsync  int  // how many fsyncs failed
	quick   bool // those that do not fail do nothing

	linkless bool // the file system has no hard links
}

// do runs an operation or lets it fail.
func (f *faultyFiles) do(name string, operation func() error) error {
	if !f.fails(name) {
		return operation()
	}
	if f.late {
		_ = operation()
	}
	return f.fault
}

// counting is held while operations are counted: folders are listed side by side. faultyFiles are copied, so it is none
// of their own.
var counting sync.Mutex

// fails counts an operation and tells whether it is to fail.
func (f *faultyFiles) fails(name string) bool {
	counting.Lock()
	defer counting.Unlock()
	f.trace = append(f.trace, name)
	if f.healed || len(f.trace) <= f.at || f.hit && !f.lasting {
		return false
	}
	f.hit = true
	if strings.HasPrefix(name, "sync") {
		f.unsync++
	}
	return true
}

func (f *faultyFiles) Open(name string) (opened fs.File, err error) {
	err = f.do("read "+name, func() error { opened, err = f.OS.Open(name); return err })
	return opened, err
}

func (f *faultyFiles) MakeRoot() error { return f.do("make root", f.OS.MakeRoot) }

func (f *faultyFiles) MakeDir(name string) error {
	return f.do("mkdir "+name, func() error { return f.OS.MakeDir(name) })
}

func (f *faultyFiles) Create(name string) (disk.File, error) {
	var opened disk.File
	err := f.do("create "+name, func() (err error) { opened, err = f.OS.Create(name); return err })
	return &faultyFile{opened, name, f}, err
}

func (f *faultyFiles) OpenDir(name string) (disk.File, error) {
	var opened disk.File
	err := f.do("open "+name, func() (err error) { opened, err = f.OS.OpenDir(name); return err })
	return &faultyFile{opened, name, f}, err
}

func (f *faultyFiles) Link(from, to string) error {
	return f.do("link "+from+" "+to, func() error {
		if f.linkless {
			return syscall.EPERM
		}
		return f.OS.Link(from, to)
	})
}

func (f *faultyFiles) Rename(from, to string) error {
	return f.do("rename "+from+" "+to, func() error { return f.OS.Rename(from, to) })
}

func (f *faultyFiles) Remove(name string) error {
	return f.do("remove "+name, func() error { return f.OS.Remove(name) })
}

func (f *faultyFiles) Writable(name string) error {
	return f.do("access "+name, func() error { return f.OS.Writable(name) })
}

type faultyFile struct {
	disk.File
	name  string
	files *faultyFiles
}

// Write fails with half of the content written.
func (f *faultyFile) Write(content []byte) (n int, err error) {
	err = f.files.do("write "+f.name, func() error { n, err = f.File.Write(content); return err })
	if err != nil && n == 0 {
		n, _ = f.File.Write(content[:len(content)/2])
	}
	return n, err
}

// WriteAt fails with half of the content written.
func (f *faultyFile) WriteAt(content []byte, at int64) (n int, err error) {
	err = f.files.do("write "+f.name, func() error { n, err = f.File.WriteAt(content, at); return err })
	if err != nil && n == 0 {
		n, _ = f.File.WriteAt(content[:len(content)/2], at)
	}
	return n, err
}

func (f *faultyFile) Sync() error {
	sync := f.File.Sync
	if f.files.quick {
		sync = func() error { return nil }
	}
	return f.files.do("sync "+f.name, sync)
}

// Close closes in any case, as the system does.
func (f *faultyFile) Close() error {
	err := f.File.Close()
	return f.files.do("close "+f.name, func() error { return err })
}

// TestFaults lets every file operation of a short session fail in turn: in each way with NEUROLENS_LONG=1, else in some.
// After each failure the store lists cleanly, every run in it is whole, every acknowledged run is there; and once the
// cause is gone the session can be completed.
func TestFaults(t *testing.T) {
	t.Parallel()
	step := tier(15, 1, 1)
	for i, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.ENOENT, syscall.EPERM} {
		for mode, files := range map[string]faultyFiles{"early": {}, "late": {late: true}, "lasting": {lasting: true}} {
			t.Run(fmt.Sprintf("%v, %s", fault, mode), func(t *testing.T) {
				t.Parallel()
				files.fault, files.at = fault, i%step
				for failSession(t, files) {
					files.at += step
				}
				if files.at < 40 {
					t.Errorf("a session of %d file operations does not write much", files.at)
				}
			})
		}
	}
}

// failSession creates a store and appends two runs, and tells whether an operation failed.
func failSession(t *testing.T, files faultyFiles) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	files.OS, _ = disk.NewOS(dir)

	if err := initStore(&files); err != nil {
		checkError(t, err, &files)
		if _, err := schema.List(os.DirFS(dir), schema.Scope{}); err != nil && !errors.Is(err, schema.ErrNoStore) {
			t.Fatalf("operation %d, store after Init failed: %v", files.at, err)
		}
		files.healed = true
		if err := initStore(&files); err != nil {
			t.Fatalf("operation %d, second Init: %v", files.at, err)
		}
	}
	store, err := openStore(dir, "test", &files)
	if err != nil {
		checkError(t, err, &files)
		return true
	}
	defer store.Close()

	runs := []schema.Run{smallRun(), smallRun()}
	var failed []schema.Run
	for _, r := range runs {
		unsync := files.unsync
		err := store.Append(r)
		there := checkStore(t, dir)
		if err == nil && files.unsync > unsync {
			t.Fatalf("operation %d: acknowledged though an fsync failed", files.at)
		}
		if err != nil {
			checkError(t, err, &files)
			failed = append(failed, r)
		} else if there[r.RunID] != 1 {
			t.Fatalf("operation %d: acknowledged, but in the store %d times", files.at, there[r.RunID])
		}
	}
	files.healed = true
	mustAppend(t, store, failed...)
	there := checkStore(t, dir)
	if len(there) != 2 || there[runs[0].RunID] != 1 || there[runs[1].RunID] != 1 {
		t.Fatalf("operation %d: the store has %v", files.at, there)
	}
	return files.hit
}

func checkError(t *testing.T, err error, files *faultyFiles) {
	t.Helper()
	missing := files.fault == syscall.ENOENT && errors.Is(err, schema.ErrNoStore) // for a header that is not there
	twice := files.late && errors.Is(err, fs.ErrExist)                            // for what was done after all
	if !files.hit || !errors.Is(err, files.fault) && !missing && !twice {
		t.Fatalf("operation %d failed with %v; the error is %v", files.at, files.fault, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Fatalf("an error of more than one line: %v", err)
	}
}

// TestOrder holds the order of operations that the acknowledgement rests on.
func TestOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), healed: true}
	store, err := openStore(dir, "test", files)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	run := smallRun()
	mustAppend(t, store, run)
	segment := store.segment.path()
	at := 0 // each directory is durable before anything is put into it
	for _, operation := range []string{"mkdir " + schema.LiveDir, "sync .", "mkdir " + segment, "sync " + schema.LiveDir, "link "} {
		next := slices.IndexFunc(files.trace[at:], func(done string) bool { return strings.HasPrefix(done, operation) })
		if next < 0 {
			t.Fatalf("%q is not where it should be:\n%s", operation, strings.Join(files.trace, "\n"))
		}
		at += next + 1
	}

	files.trace = nil
	run = smallRun()
	mustAppend(t, store, run)
	temp := strings.TrimPrefix(files.trace[0], "create ")
	want := []string{
		"create " + temp, "write " + temp, "sync " + temp, "close " + temp,
		"link " + temp + " " + segment + "/" + run.RunID + ".parquet", "sync " + segment, "remove " + temp,
	}
	if !slices.Equal(files.trace, want) {
		t.Errorf("operations\n got %q\nwant %q", files.trace, want)
	}
}

// TestNoLinks appends to a file system without hard links.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	store, err := openStore(dir, "test", noLinkFiles{must(disk.NewOS(dir))})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	run := smallRun()
	mustAppend(t, store, run, smallRun())
	mustAppend(t, store, run) // the same one again
	if there := checkStore(t, dir); len(there) != 2 {
		t.Errorf("the store has %v, want 2 runs", there)
	}
	run.Error = "another"
	if err := store.Append(run); err == nil {
		t.Error("another run with the same id was taken")
	}
}

type noLinkFiles struct{ disk.OS }

func (noLinkFiles) Link(_, _ string) error { return syscall.EPERM }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
