package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFaults lets every file operation of a short session fail in turn: in each way with NEUROLENS_LONG=1, else in some.
// After each failure the store lists cleanly, every run in it is whole, every acknowledged run is there; and once the
// cause is gone the session can be completed.
func TestFaults(t *testing.T) {
	t.Parallel()
	step := tier(15, 1, 1)
	for i, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.ENOENT, syscall.EPERM} {
		for mode, files := range map[string]faultyFiles{"early": {}, "late": {Late: true}, "lasting": {Lasting: true}} {
			t.Run(fmt.Sprintf("%v, %s", fault, mode), func(t *testing.T) {
				t.Parallel()
				files.Fault, files.At = fault, i%step
				for failSession(t, files) {
					files.At += step
				}
				if files.At < 40 {
					t.Errorf("a session of %d file operations does not write much", files.At)
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
			t.Fatalf("operation %d, store after Init failed: %v", files.At, err)
		}
		files.Healed = true
		mustDo(t, initStore(&files), "operation", files.At, "second Init")
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
		unsync := files.Unsync
		err := store.Append(r)
		there := checkStore(t, dir)
		if err == nil && files.Unsync > unsync {
			t.Fatalf("operation %d: acknowledged though an fsync failed", files.At)
		}
		if err != nil {
			checkError(t, err, &files)
			failed = append(failed, r)
		} else if there[r.RunID] != 1 {
			t.Fatalf("operation %d: acknowledged, but in the store %d times", files.At, there[r.RunID])
		}
	}
	files.Healed = true
	mustAppend(t, store, failed...)
	there := checkStore(t, dir)
	if len(there) != 2 || there[runs[0].RunID] != 1 || there[runs[1].RunID] != 1 {
		t.Fatalf("operation %d: the store has %v", files.At, there)
	}
	return files.Hit
}

func checkError(t *testing.T, err error, files *faultyFiles) {
	t.Helper()
	missing := files.Fault == syscall.ENOENT && errors.Is(err, schema.ErrNoStore) // for a header that is not there
	twice := files.Late && errors.Is(err, fs.ErrExist)                            // for what was done after all
	if !files.Hit || !errors.Is(err, files.Fault) && !missing && !twice {
		t.Fatalf("operation %d failed with %v; the error is %v", files.At, files.Fault, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Fatalf("an error of more than one line: %v", err)
	}
}

// TestOrder holds the order of operations that the acknowledgement rests on.
func TestOrder(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	files := &faultyFiles{OS: must(disk.NewOS(dir)), Healed: true}
	store := must(openStore(dir, "test", files))
	defer store.Close()
	run := smallRun()
	mustAppend(t, store, run)
	segment := store.segment.path()
	at := 0 // each directory is durable before anything is put into it
	for _, operation := range []string{"mkdir " + schema.LiveDir, "sync .", "mkdir " + segment, "sync " + schema.LiveDir, "link "} {
		next := slices.IndexFunc(files.Trace[at:], func(done string) bool { return strings.HasPrefix(done, operation) })
		if next < 0 {
			t.Fatalf("%q is not where it should be:\n%s", operation, strings.Join(files.Trace, "\n"))
		}
		at += next + 1
	}

	files.Trace = nil
	run = smallRun()
	mustAppend(t, store, run)
	temp := strings.TrimPrefix(files.Trace[0], "create ")
	want := []string{
		"create " + temp, "write " + temp, "sync " + temp, "close " + temp,
		"link " + temp + " " + segment + "/" + run.RunID + ".parquet", "sync " + segment, "remove " + temp,
	}
	valuetest.DeepEqual(t, files.Trace, want, "operations")
}

// TestNoLinks appends to a file system without hard links.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	store := must(openStore(dir, "test", noLinkFiles{must(disk.NewOS(dir))}))
	defer store.Close()
	run := smallRun()
	mustAppend(t, store, run, smallRun())
	mustAppend(t, store, run) // the same one again
	if there := checkStore(t, dir); len(there) != 2 {
		t.Errorf("the store has %v, want 2 runs", there)
	}
	run.Error = "another"
	valuetest.Fails(t, store.Append(run), "", "another run with the same id was taken")
}

type noLinkFiles struct{ disk.OS }

func (noLinkFiles) Link(_, _ string) error { return syscall.EPERM }
