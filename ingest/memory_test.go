package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSealRemembers: the Store that has appended runs seals the same bytes as another one, which reads their files.
func TestSealRemembers(t *testing.T) {
	t.Parallel()
	runs := []schema.Run{fullRun(), smallRun(), realisticRun(), smallRun()}
	store, dir := newStore(t)
	mustAppend(t, store, runs...)
	valuetest.Equal(t, must(store.Seal(t.Context())), len(runs))
	other, otherDir := newStore(t)
	mustAppend(t, other, runs...)
	valuetest.Equal(t, mustSeal(t, otherDir), len(runs))
	got, want := sealedBytes(t, dir), sealedBytes(t, otherDir)
	if len(got) == 0 || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%d sealed files, and %d others", len(got), len(want))
	}
}

// TestSealReadsWhatItRemembers: a run whose file was damaged since it was appended is not sealed, although it is in memory.
func TestSealReadsWhatItRemembers(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	good, bad := smallRun(), smallRun()
	mustAppend(t, store, good, bad)
	breakFile(t, dir, bad)
	valuetest.Equal(t, must(store.Seal(t.Context())), 1)
	if _, sealed, _ := whereRuns(t, dir); !slices.Equal(sealed, ids(good)) {
		t.Errorf("sealed %v", sealed)
	}
}

// sealedBytes returns the contents of the sealed files, by table.
func sealedBytes(t *testing.T, dir string) (all [][]byte) {
	t.Helper()
	for _, zone := range []string{"runs", "samples", "ops"} {
		found := must(filepath.Glob(filepath.Join(dir, zone, "*.parquet")))
		deeper := must(filepath.Glob(filepath.Join(dir, zone, "*", "*.parquet")))
		for _, name := range append(found, deeper...) {
			all = append(all, must(os.ReadFile(name)))
		}
	}
	return all
}
