package check

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// sealedStore has three runs in a sealed file.
func sealedStore(t *testing.T) (dir string, sealed schema.SealedFile) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	valuetest.OK(t, ingest.Init(dir))
	store := valuetest.Must(ingest.Open(dir, "test"))
	for _, run := range []schema.Run{runtest.Small(), runtest.Full(), runtest.Small()} {
		valuetest.OK(t, store.Append(run))
	}
	if n, err := store.Seal(t.Context()); n != 3 || err != nil {
		t.Fatalf("sealed %d, %v", n, err)
	}
	valuetest.OK(t, store.Close())
	if err := os.RemoveAll(filepath.Join(dir, schema.ClaimsDir)); err != nil { // which still has the runs
		t.Fatal(err)
	}
	files, err := schema.ListZone(schema.Dir(dir), schema.RunsDir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	return dir, files[0]
}

// damagesOf returns the files of a store in which Verify finds damage.
func damagesOf(t *testing.T, dir string) (paths []string, done Verified) {
	t.Helper()
	done = valuetest.Must(Verify(t.Context(), dir, func(f Finding) {
		if f.Severity == SeverityDamage {
			paths = append(paths, f.Path)
			if f.Remedy() == "" {
				t.Errorf("%s: no remedy is named", f.Path)
			}
		}
	}))
	return paths, done
}

// flipByte flips a bit at the first place of a text in a file.
func flipByte(t *testing.T, name, text string) {
	t.Helper()
	content := valuetest.Must(os.ReadFile(name))
	content[bytes.Index(content, []byte(text))] ^= 1
	valuetest.OK(t, os.WriteFile(name, content, 0o666))
}

// TestRepairSamples: a damaged file of samples and a damaged header are found, a plan changes nothing, and after the repair
// the store is whole: its runs are there, and those that lost samples are marked.
func TestRepairSamples(t *testing.T) {
	t.Parallel()
	dir, sealed := sealedStore(t)
	samples := sealed.Path(schema.SamplesDir)
	if paths, done := damagesOf(t, dir); len(paths) > 0 || done.Runs != 3 {
		t.Fatalf("a whole store: %v, %+v", paths, done)
	}
	flipByte(t, filepath.Join(dir, samples), "latency") // of a metric, in a page
	flipByte(t, filepath.Join(dir, schema.HeaderFile), "store_id")
	for range 2 { // the second time after a plan
		paths, done := damagesOf(t, dir)
		slices.Sort(paths)
		if !slices.Equal(paths, []string{schema.HeaderFile, samples}) || done.Loss.Runs > 0 || done.Loss.Samples == 0 {
			t.Fatalf("damage in %v, %+v", paths, done)
		}
		if planned, err := PlanRepair(t.Context(), dir, func(Repair) {}); err != nil || planned.Loss != done.Loss || planned.Left > 0 {
			t.Fatalf("planned %+v, %v", planned, err)
		}
	}
	r := valuetest.Must(OpenToRepair(dir, "test"))
	repaired, err := r.Repair(t.Context(), func(Repair) {})
	if err != nil || repaired.Left > 0 || repaired.Loss.Samples == 0 {
		t.Fatalf("repaired %+v, %v", repaired, err)
	}
	valuetest.OK(t, r.Close())
	if paths, done := damagesOf(t, dir); len(paths) > 0 || done.Runs != 3 || done.Lost != repaired.Loss.Samples || done.Aside != 2 {
		t.Errorf("after the repair: %v, %+v", paths, done)
	}
	inspected, err := Inspect(dir)
	if err != nil || inspected.Foreign > 0 || inspected.Unfinished > 0 {
		t.Errorf("%+v, %v", inspected, err)
	}
}

// TestVerifyStops with its context.
func TestVerifyStops(t *testing.T) {
	t.Parallel()
	dir, _ := sealedStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, dir, func(Finding) {}); err == nil {
		t.Error("a verification that was cancelled succeeds")
	}
}
