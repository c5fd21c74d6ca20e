package ingest

import (
	"errors"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestAppendAllFaults lets every file operation of an import fail in turn: nothing is acknowledged that is not there,
// nothing is in the store twice, and once the cause is gone the import can be done again.
func TestAppendAllFaults(t *testing.T) {
	runs := append(sweep(1, 12, 3), fullRun())
	for name, bulk := range bulkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := bulk.faultyFiles
			for failImport(t, files, runs) {
				files.at += bulk.step
			}
			if files.at < 60 {
				t.Errorf("an import of %d file operations does not write much", files.at)
			}
		})
	}
}

// bulkFaults are the ways in which a file operation fails while many runs are written: each of them in turn for one of
// the ways, and each in some of the others.
var bulkFaults = map[string]struct {
	faultyFiles
	step int
}{
	"disk":         {faultyFiles{fault: syscall.EIO}, 1},
	"disk, late":   {faultyFiles{fault: syscall.EIO, late: true}, 2},
	"disk for now": {faultyFiles{fault: syscall.EIO, lasting: true}, 5},
	"full":         {faultyFiles{fault: syscall.ENOSPC, lasting: true}, 2},
	"forbidden":    {faultyFiles{fault: syscall.EACCES}, 3},
	"no links":     {faultyFiles{fault: syscall.EPERM}, 5},
}

// failImport appends runs to a store in two files, and tells whether an operation failed.
func failImport(t *testing.T, files faultyFiles, runs []schema.Run) bool {
	t.Helper()
	sound, dir := newStore(t)
	mustAppend(t, sound, runs[0])
	if err := sound.Close(); err != nil {
		t.Fatal(err)
	}
	files.osFiles = must(newOSFiles(dir))
	b := newBulk(&files, "test", 7*runSize(&runs[1]))
	err := b.all(each(runs...))
	there := storedRuns(t, dir)
	switch {
	case err == nil && files.unsync > 0:
		t.Fatalf("operation %d: acknowledged though an fsync failed", files.at)
	case err != nil && (!files.hit || !errors.Is(err, files.fault)):
		t.Fatalf("operation %d failed with %v; the error is %v", files.at, files.fault, err)
	case err == nil && len(there) != len(runs), b.done.Added > len(there):
		t.Fatalf("operation %d: %d runs added, %d are there", files.at, b.done.Added, len(there))
	}
	files.healed = true
	again := newBulk(&files, "test", bulkBytes)
	if err := again.all(each(runs...)); err != nil {
		t.Fatalf("operation %d, the second time: %v", files.at, err)
	}
	mustHold(t, dir, runs...)
	return files.hit
}
