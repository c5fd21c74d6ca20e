package storetest

import (
	"errors"
	"maps"
	"os"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// EachFault runs a task on copies of a store. In each copy another file operation fails; then the task runs again without
// a fault.
func EachFault(t *testing.T, dir string, task func(*Faulty) error, want map[string]RunState) {
	before := States(t, dir)
	step := Tier(199, 1, 1)
	for _, plan := range []Faulty{{}, {Late: true}, {Lasting: true}} {
		plan.Fault, plan.Quick = ErrCrashed, true
		for plan.At = 1; ; plan.At += step {
			files := plan
			into := Copied(t, dir)
			files.OS = valuetest.Must(disk.NewOS(into))
			err := task(&files)
			if files.Hit && err == nil && files.Unsync > 0 {
				t.Fatalf("operation %d: done though an fsync failed", files.At)
			}
			for id, is := range States(t, into) {
				if was, there := before[id]; is != want[id] && (!there || is != was) {
					t.Fatalf("operation %d, %v: run %s is neither as before nor as after", files.At, err, id)
				}
			}
			for id := range want {
				if _, there := States(t, into)[id]; before[id] != (RunState{}) && !there {
					t.Fatalf("operation %d, %v: run %s is gone", files.At, err, id)
				}
			}
			files.Healed = true
			valuetest.OK(t, task(&files), "operation", files.At, "again")
			if got := States(t, into); !maps.Equal(got, want) {
				t.Fatalf("operation %d: %d runs, want %d", files.At, len(got), len(want))
			}
			Whole(t, into)
			valuetest.OK(t, os.RemoveAll(into))
			if !files.Hit {
				break
			}
		}
	}
}

// Root returns the directory of the store.
func (f *Faulty) Root() string { return string(f.Dir) }

// ErrCrashed is the error of every operation of a process after its crash, so that it ends without doing anything more.
var ErrCrashed = errors.New("the process has crashed")
