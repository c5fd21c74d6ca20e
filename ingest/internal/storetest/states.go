package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// RunState is the stored content of a run: hashes of its rows of each table, one after another.
type RunState struct{ Run, Samples, Ops string }

// States reads every run of a store, even if it is damaged.
func States(t testing.TB, dir string) map[string]RunState {
	t.Helper()
	return StatesIn(t, valuetest.Must(disk.NewOS(dir)))
}

func StatesIn(t testing.TB, f fs.FS) map[string]RunState {
	t.Helper()
	listing := valuetest.Must(schema.List(f, schema.Scope{}))
	all := map[string]RunState{}
	add := func(id string, run []any, samples, ops [][]any) {
		if _, twice := all[id]; twice {
			t.Fatalf("run %s is there twice", id)
		}
		all[id] = RunState{hashRows([][]any{run}), hashRows(samples), hashRows(ops)}
	}
	for _, file := range listing.Sealed {
		valuetest.Must(runfile.Salvage(runfile.InputOf(f, file), runfile.ReadLost(f), func(r runfile.Salvaged) error {
			add(r.RunID, r.Run, r.Samples, r.Ops)
			return nil
		}))
	}
	for _, file := range listing.Live {
		live := valuetest.Must(runfile.ReadLiveFile(f, file))
		add(live.RunID, live.Run, live.Samples, live.Ops)
	}
	return all
}

func hashRows(rows [][]any) string {
	var all []byte
	for _, row := range rows {
		hash := schema.RowHash(row)
		all = append(all, hash[:]...)
	}
	return string(all)
}

// Contents returns the stored content of every run by id: the hash of its row and its digest.
func Contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	f := valuetest.Must(disk.NewOS(dir))
	listing := valuetest.Must(schema.List(f, schema.Scope{}))
	slices.Reverse(listing.Live)
	readers := []runfile.Reader{&runfile.LiveRuns{FS: f, Files: listing.Live}}
	for _, s := range listing.Sealed {
		r := runfile.ReadSealed(f, s)
		r.Lost = runfile.ReadLost(f)
		readers = append(readers, r)
	}
	all := map[string]string{}
	runs := runfile.Merge(readers)
	defer runs.Close()
	if err := runfile.EachRun(context.Background(), runs, func(live *table.Live) error {
		all[live.RunID] = fmt.Sprintf("%x %s %d %d", schema.RowHash(live.Run), live.Digest, len(live.Samples), len(live.Ops))
		return nil
	}); err != nil {
		t.Fatalf("reading store %s: %v", dir, err)
	}
	return all
}
