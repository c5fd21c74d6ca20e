package check_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
)

// TestRepairHeader: a header of which one byte changed is again what it was, whichever byte that is; of one that is
// damaged otherwise there is a new one, and the runs are there.
func TestRepairHeader(t *testing.T) {
	t.Parallel()
	whole, _ := sealedStore(t, smallRun())
	header := must(os.ReadFile(filepath.Join(whole, schema.HeaderFile)))
	step := tier(97, 7, 1)
	for at := 0; at < len(header); at += step {
		changed := bytes.Clone(header)
		changed[at] ^= 1 << (at % 8)
		if got := repairedHeader(t, whole, changed); !bytes.Equal(got, header) {
			t.Errorf("byte %d: %q", at, got)
		}
		if got := repairedHeader(t, whole, header[:at]); bytes.Equal(got, header) {
			t.Errorf("cut off at byte %d: it is what it was", at)
		}
	}
	later := bytes.Replace(header, []byte(`"format":1`), []byte(`"format":2`), 1)
	var asItIs schema.Header
	if err := schema.ReadSignedJSON(later, &asItIs); err == nil {
		t.Fatal("a header of another format has a hash of its own")
	}
	if got := repairedHeader(t, whole, later); !bytes.Equal(got, header) {
		t.Errorf("the digit of the format: %q", got)
	}
}

// repairedHeader is the header after a repair of a copy of a store that has another one, of which all else is as before.
func repairedHeader(t *testing.T, whole string, header []byte) []byte {
	t.Helper()
	dir := copied(t, whole)
	name := filepath.Join(dir, schema.HeaderFile)
	writeFile(t, name, header)
	if _, err := ingest.Open(dir, "test"); err == nil {
		t.Errorf("%q is a header", header)
	}
	planned := must(check.PlanRepair(context.Background(), dir, func(check.Repair) {}))
	store := must(check.OpenToRepair(dir, "test"))
	var actions []check.Action
	done := must(store.Repair(context.Background(), func(r check.Repair) { actions = append(actions, r.Action) }))
	mustDo(t, store.Close())
	if done != (check.Repaired{}) || planned != done || len(actions) != 2 || actions[0] != check.ActionAside || actions[1] != check.ActionKeep {
		t.Errorf("%q: planned %+v, done %+v, %v", header, planned, done, actions)
	}
	if found := damage(findings(t, dir)); len(found) > 0 {
		t.Errorf("%q: %+v", header, found)
	}
	if !maps.Equal(states(t, dir), states(t, whole)) {
		t.Errorf("%q: the runs are others", header)
	}
	if aside := must(os.ReadFile(filepath.Join(dir, disk.QuarantineDir, schema.HeaderFile))); !bytes.Equal(aside, header) {
		t.Errorf("%q was set aside", aside)
	}
	return must(os.ReadFile(name))
}

// TestRepairHeaderFaults lets each file operation of a repair of the header fail in turn: at any moment there is the damaged
// one or the one from before, and when the cause is gone the same command does the rest.
func TestRepairHeaderFaults(t *testing.T) {
	t.Parallel()
	whole, _ := sealedStore(t, smallRun())
	want := states(t, whole)
	header := must(os.ReadFile(filepath.Join(whole, schema.HeaderFile)))
	damaged := bytes.Replace(header, []byte("created"), []byte("Created"), 1)
	for _, plan := range []storetest.Faulty{{}, {Late: true}, {Lasting: true}} {
		plan.Fault, plan.Quick = storetest.ErrCrashed, true
		for plan.At = 1; ; plan.At += tier(11, 1, 1) {
			files, dir := plan, copied(t, whole)
			name := filepath.Join(dir, schema.HeaderFile)
			writeFile(t, name, damaged)
			files.OS = must(disk.NewOS(dir))
			repair := func() error {
				store, err := check.OpenFiles(dir, "test", &files)
				if err == nil {
					_, err = store.Repair(context.Background(), func(check.Repair) {})
				}
				return err
			}
			err := repair()
			if now := must(os.ReadFile(name)); !bytes.Equal(now, header) && !bytes.Equal(now, damaged) {
				t.Fatalf("operation %d, %v: the header is %q", files.At, err, now)
			}
			files.Healed = true
			mustDo(t, repair())
			if !bytes.Equal(must(os.ReadFile(name)), header) || !maps.Equal(states(t, dir), want) {
				t.Fatalf("operation %d: the store is not what it was", files.At)
			}
			if !files.Hit {
				break
			}
		}
	}
}

// TestRepairNewer: the header of a later version stays as it is, and so does the store.
func TestRepairNewer(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t, smallRun())
	writeFile(t, filepath.Join(dir, schema.HeaderFile), must(schema.SignJSON(schema.Header{Format: schema.Format + 1})))
	before := snapshot(t, dir)
	if _, err := check.OpenToRepair(dir, "test"); err == nil {
		t.Error("it is opened")
	}
	if snapshot(t, dir) != before {
		t.Error("something changed")
	}
}
