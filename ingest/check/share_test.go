package check_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func smallRun() schema.Run { return runtest.Small() }
func fullRun() schema.Run  { return runtest.Full() }

// What these tests share with those of other packages, under short names.
var (
	tier       = storetest.Tier
	mustDo     = valuetest.OK
	snapshot   = storetest.Snapshot
	writeFile  = storetest.WriteFile
	flipByte   = storetest.FlipByte
	copyTree   = storetest.CopyTree
	copied     = storetest.Copied
	contents   = storetest.Contents
	states     = storetest.States
	findings   = storetest.Findings
	damage     = storetest.Damage
	mustRepair = storetest.Repair
	wholeStore = storetest.Whole
)

func must[T any](value T, err error) T { return valuetest.Must(value, err) }

// open returns how storetest opens a store, and makes one where there is none.
func open(dir string) (storetest.Store, error) {
	if err := ingest.Init(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return ingest.Open(dir, "test")
}

func everything(t testing.TB) string { return storetest.Everything(t, open) }

func sealedStore(t testing.TB, runs ...schema.Run) (string, schema.SealedFile) {
	return storetest.Sealed(t, open, runs...)
}

func newStore(t testing.TB) (*ingest.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, ingest.Init(dir))
	store := must(ingest.Open(dir, "test"))
	t.Cleanup(func() { _ = store.Close() })
	return store, dir
}

func mustAppend(t testing.TB, s *ingest.Store, runs ...schema.Run) {
	t.Helper()
	for _, r := range runs {
		mustDo(t, s.Append(r))
	}
}

// findingsIn returns what verify says of a store of these files.
func findingsIn(t testing.TB, f fs.FS) []check.Finding {
	t.Helper()
	var all []check.Finding
	valuetest.Must(check.VerifyFiles(context.Background(), f, func(found check.Finding) { all = append(all, found) }))
	return all
}
