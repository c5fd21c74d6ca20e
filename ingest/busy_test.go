package ingest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// busyStore returns a store to which runs are appended, sealed every few, until stop is called. Claims end at once.
func busyStore(t *testing.T) (dir string, runs *atomic.Int64, stop func()) {
	t.Helper()
	store, dir := newStore(t)
	store.sealer.Rules.Runs, store.sealer.Rules.Grace = 5, 0
	done, ended := make(chan struct{}), make(chan error, 1)
	runs = new(atomic.Int64)
	go func() {
		var err error
		for err == nil {
			select {
			case <-done:
				ended <- nil
				return
			default:
			}
			if err = store.Append(smallRun()); err == nil {
				if runs.Add(1)%7 == 0 {
					_, err = store.Seal(context.Background())
				}
			}
		}
		ended <- err
	}()
	return dir, runs, func() {
		close(done)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// busyRuns returns how many runs are appended while something is tried again and again.
func busyRuns() int64 { return int64(tier(30, 200, 200)) }

// TestVerifyBusy: what writers and sealers do meanwhile is no damage, and no run is there twice.
func TestVerifyBusy(t *testing.T) {
	t.Parallel()
	dir, runs, stop := busyStore(t)
	for times := 0; times < 3 || runs.Load() < busyRuns(); times++ {
		must(check.Verify(context.Background(), dir, func(f check.Finding) {
			if f.Severity == check.SeverityDamage || len(f.Problem) > 0 && f.Path[:4] == "runs" {
				t.Errorf("found %+v", f)
			}
		}))
	}
	stop()
}

// TestMergeBusy merges a store while it is written to and sealed: what was there is there, once.
func TestMergeBusy(t *testing.T) {
	t.Parallel()
	dir, runs, stop := busyStore(t)
	_, into := newStore(t)
	for times := 0; times < 3 || runs.Load() < busyRuns(); times++ {
		must(mergeFrom(must(disk.NewOS(dir)), must(disk.NewOS(into)), func(f LeftOut) { t.Errorf("refused %+v", f) }))
		wholeStore(t, into)
	}
	stop()
	mustMerge(t, dir, into)
	wholeStore(t, into)
	if got := contents(t, into); int64(len(got)) != runs.Load() || !maps.Equal(got, contents(t, dir)) {
		t.Errorf("%d runs of %d", len(got), runs.Load())
	}
}

// TestCompactBusy compacts a store while it is written to and sealed.
func TestCompactBusy(t *testing.T) {
	t.Parallel()
	dir, runs, stop := busyStore(t)
	for times := 0; times < 3 || runs.Load() < busyRuns(); times++ {
		into := filepath.Join(t.TempDir(), fmt.Sprint(times))
		before := listedRuns(t, dir)
		done := must(Compact(context.Background(), dir, into, "test", noDamage(t)))
		if found := findings(t, into); len(found) > 0 || done.Runs < before {
			t.Errorf("%d runs of %d; found %+v", done.Runs, before, found)
		}
		valuetest.ErrorIs(t, valuetest.Error(os.Stat(filepath.Join(into, schema.LiveDir))), fs.ErrNotExist)
	}
	stop()
}

// listedRuns counts the runs of a store by their names.
func listedRuns(t *testing.T, dir string) int {
	t.Helper()
	l := must(schema.List(os.DirFS(dir), schema.Scope{}))
	n := len(l.Live)
	for _, f := range l.Sealed {
		n += f.Rows
	}
	return n
}

// TestMergeTogether has two merge a store into one, again and again, while it is written to: each run is there once.
func TestMergeTogether(t *testing.T) {
	t.Parallel()
	dir, runs, stop := busyStore(t)
	_, into := newStore(t)
	var merging sync.WaitGroup
	for range 2 {
		merging.Go(func() {
			store, err := Open(into, "test")
			for times := 0; err == nil && (times < 3 || runs.Load() < busyRuns()); times++ {
				_, err = store.Merge(context.Background(), dir, Merging{Refused: func(f LeftOut) { t.Errorf("refused %+v", f) }})
			}
			valuetest.NoError(t, err)
		})
	}
	merging.Wait()
	stop()
	mustMerge(t, dir, into)
	wholeStore(t, into)
	listed := 0
	for _, f := range must(schema.List(os.DirFS(into), schema.Scope{})).Sealed {
		listed += f.Rows
	}
	if got := contents(t, into); len(got) != listed || int64(listed) != runs.Load() {
		t.Errorf("%d rows of %d runs, where %d were written", listed, len(got), runs.Load())
	}
}
