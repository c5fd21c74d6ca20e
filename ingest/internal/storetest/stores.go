package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Store has the methods of ingest.Store that tests use.
type Store interface {
	Append(run schema.Run) error
	Seal(ctx context.Context) (int, error)
	Close() error
}

// Opener opens the store in a directory, and creates it if there is none. Tests of package ingest itself cannot import it
// here.
type Opener func(dir string) (Store, error)

// open opens a store until the test ends.
func (o Opener) open(t testing.TB, dir string) Store {
	t.Helper()
	store := valuetest.Must(o(dir))
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func appendTo(t testing.TB, s Store, runs ...schema.Run) {
	t.Helper()
	for _, r := range runs {
		valuetest.OK(t, s.Append(r))
	}
}

// Everything creates a store with every kind of file that a store can have: a finished claim with its sealed file, a
// claim that is not committed, live runs, a pack, events and packed events, an artifact.
func Everything(t testing.TB, open Opener) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	store := open.open(t, dir)
	appendTo(t, store, runtest.Small(), runtest.Full(), runtest.Small())
	valuetest.Equal(t, valuetest.Must(store.Seal(context.Background())), 3, "sealed")
	runs := []schema.Run{runtest.Small(), runtest.Full()}
	appendTo(t, store, runs...)
	files := valuetest.Must(disk.NewOS(dir))
	for _, e := range []schema.Event{
		{Kind: schema.EventRemove, Runs: []string{runs[0].RunID}},
		{Kind: schema.EventTag, Runs: []string{runs[1].RunID}, Key: "k", Value: "v"},
	} {
		valuetest.Must(runfile.AppendEvent(files, e, time.Now()))
	}
	claim := schema.Claim{ID: schema.NewULID(time.Now()), Attempt: 3}
	MakeClaim(t, dir, claim)
	segment := schema.NewULID(time.Now()).String()
	live := valuetest.Must(schema.List(files, schema.Scope{})).Live
	valuetest.OK(t, os.Rename(filepath.Join(dir, path.Dir(live[0].Path())), filepath.Join(dir, claim.Path(), segment)))
	WriteFile(t, filepath.Join(dir, claim.Path(), disk.OutName(schema.Runs, claim.Attempt)), []byte("half of i"))
	appendTo(t, open.open(t, dir), runtest.Small())

	listing := valuetest.Must(schema.List(files, schema.Scope{}))
	PackSealed(t, dir, listing.Sealed)
	var lines []byte
	for _, id := range listing.Events.Files {
		lines = append(lines, valuetest.Must(fs.ReadFile(files, schema.EventFile(id)))...)
	}
	WriteFile(t, filepath.Join(dir, schema.PackedEvents(schema.NewULID(time.Now()))), lines)
	content := []byte("what a run produced")
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	WriteFile(t, filepath.Join(dir, schema.ArtifactsDir, sum[:2], sum+".log"), content)
	return dir
}

// Sealed makes a store with one sealed file of runs.
func Sealed(t testing.TB, open Opener, runs ...schema.Run) (string, schema.SealedFile) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	store := open.open(t, dir)
	appendTo(t, store, runs...)
	valuetest.Equal(t, valuetest.Must(store.Seal(context.Background())), len(runs), "sealed")
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, schema.ClaimsDir)))
	return dir, valuetest.Must(schema.List(os.DirFS(dir), schema.Scope{})).Sealed[0]
}

// Damaged returns a store with two sealed files and a live run, in which one damaged file loses data, with a copy from before.
func Damaged(t testing.TB, open Opener, zone string) (dir, good string, f schema.SealedFile) {
	t.Helper()
	dir, f = Sealed(t, open, runtest.Full(), runtest.Small(), runtest.Small())
	store := valuetest.Must(open(dir))
	appendTo(t, store, runtest.Small())
	valuetest.OK(t, store.Close())
	good = Copied(t, dir)
	if zone == ARunLess {
		Rewrite(t, dir, f, schema.Runs, func(rows [][]any) [][]any { return rows[:len(rows)-1] })
	} else {
		FlipFirst(t, filepath.Join(dir, f.Path(zone)))
	}
	return dir, good, f
}

// ARunLess is damage that leaves some runs of a file.
const ARunLess = "a run less"

// DamagedZones are the zones that Damaged can damage.
var DamagedZones = []string{schema.RunsDir, schema.SamplesDir, schema.OpsDir, ARunLess}
