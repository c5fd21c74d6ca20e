package ingest

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func smallRun() schema.Run     { return runtest.Small() }
func fullRun() schema.Run      { return runtest.Full() }
func realisticRun() schema.Run { return runtest.Realistic() }

// What these tests share with those of other packages, under short names.
var (
	errCrashed = storetest.ErrCrashed
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

type faultyFiles = storetest.Faulty

func must[T any](value T, err error) T { return valuetest.Must(value, err) }

// open returns how storetest opens a store, and makes one where there is none.
func open(dir string) (storetest.Store, error) {
	if err := Init(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Open(dir, "test")
}

func everything(t testing.TB) string { return storetest.Everything(t, open) }

func sealedStore(t testing.TB, runs ...schema.Run) (string, schema.SealedFile) {
	return storetest.Sealed(t, open, runs...)
}
