package ingest

import (
	"errors"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// TestAppendAllFaults lets every file operation of an import fail in turn: nothing is acknowledged that is not there,
// nothing is in the store twice, and once the cause is gone the import can be done again.
func TestAppendAllFaults(t *testing.T) {
	t.Parallel()
	runs := append(sweep(1, 12, 3), fullRun())
	for name, bulk := range bulkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, step := bulk.begin()
			for failImport(t, files, runs) {
				files.At += step
			}
			if files.At < 60 {
				t.Errorf("an import of %d file operations does not write much", files.At)
			}
		})
	}
}

// bulkFault is a way in which a file operation fails while many runs are written.
type bulkFault struct {
	faultyFiles
	first, step int // operations that fail: usually, from which one on; with NEUROLENS_TORTURE, every which one
}

// bulkFaults are the ways: with NEUROLENS_LONG=1 every third operation fails in one of them, and some in each of the others; with
// NEUROLENS_TORTURE=1 three times as many, so that each operation fails.
var bulkFaults = map[string]bulkFault{
	"disk":         {faultyFiles{Fault: syscall.EIO}, 0, 1},
	"disk, late":   {faultyFiles{Fault: syscall.EIO, Late: true}, 6, 2},
	"disk for now": {faultyFiles{Fault: syscall.EIO, Lasting: true}, 12, 5},
	"full":         {faultyFiles{Fault: syscall.ENOSPC, Lasting: true}, 18, 2},
	"forbidden":    {faultyFiles{Fault: syscall.EACCES}, 24, 3},
	"no links":     {faultyFiles{Fault: syscall.EPERM}, 30, 5},
}

// begin gives the files of the first failure, and how many operations further the next one is.
func (b bulkFault) begin() (files faultyFiles, step int) {
	files = b.faultyFiles
	files.At = tier(b.first, 0, 0)
	return files, tier(61, 3*b.step, b.step)
}

// failImport appends runs to a store in two files, and tells whether an operation failed.
func failImport(t *testing.T, files faultyFiles, runs []schema.Run) bool {
	t.Helper()
	sound, dir := newStore(t)
	mustAppend(t, sound, runs[0])
	if err := sound.Close(); err != nil {
		t.Fatal(err)
	}
	files.OS = must(disk.NewOS(dir))
	b := newBulk(&files, "test", 7*runSize(&runs[1]))
	err := b.all(each(runs...))
	there := storedRuns(t, dir)
	switch {
	case err == nil && files.Unsync > 0:
		t.Fatalf("operation %d: acknowledged though an fsync failed", files.At)
	case err != nil && (!files.Hit || !errors.Is(err, files.Fault)):
		t.Fatalf("operation %d failed with %v; the error is %v", files.At, files.Fault, err)
	case err == nil && len(there) != len(runs), b.done.Added > len(there):
		t.Fatalf("operation %d: %d runs added, %d are there", files.At, b.done.Added, len(there))
	}
	files.Healed = true
	again := newBulk(&files, "test", bulkBytes)
	if err := again.all(each(runs...)); err != nil {
		t.Fatalf("operation %d, the second time: %v", files.At, err)
	}
	mustHold(t, dir, runs...)
	return files.Hit
}
