package check_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// packedEvents makes a store whose events are in a pack alone, as in a compacted store of a bucket. It returns the runs that are removed.
func packedEvents(t *testing.T) (dir, pack string, removed map[string]bool) {
	t.Helper()
	runs := []schema.Run{runtest.Small(), runtest.Small(), runtest.Small()}
	dir, _ = sealedStore(t, runs...)
	s := valuetest.Must(ingest.Open(dir, "test"))
	defer s.Close()
	var lines []byte
	for _, r := range runs[:2] {
		e := valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventRemove, Runs: []string{r.RunID}}))
		lines = append(lines, valuetest.Must(e.Encode())...)
	}
	pack = filepath.Join(dir, schema.PackedEvents(schema.NewULID(time.Now())))
	storetest.WriteFile(t, pack, lines)
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, schema.EventsDir)))
	storetest.WriteFile(t, filepath.Join(dir, schema.EventsDir, "same.jsonl"), lines)
	return dir, pack, map[string]bool{runs[0].RunID: true, runs[1].RunID: true}
}

func removedIn(dir string) map[string]bool { return runfile.ReadRemoved(schema.Dir(dir)) }

// TestPackedEvents: events that a pack alone has count for verify, repair, merge and compaction. Who writes makes files of them, whose
// number grows.
func TestPackedEvents(t *testing.T) {
	t.Parallel()
	dir, pack, removed := packedEvents(t)
	storetest.Whole(t, dir)
	valuetest.DeepEqual(t, removedIn(dir), removed)

	into := filepath.Join(t.TempDir(), "compacted")
	done := valuetest.Must(ingest.Compact(context.Background(), dir, into, "test", func(f ingest.LeftOut) { t.Errorf("left out: %+v", f) }))
	valuetest.DeepEqual(t, []int{done.Runs, done.Removed, done.Events}, []int{1, 2, 2})
	other, merged := newStore(t)
	valuetest.Equal(t, valuetest.Must(other.Merge(context.Background(), dir, ingest.Merging{})).Events, 2)
	for _, made := range []string{into, merged} {
		valuetest.DeepEqual(t, removedIn(made), removed)
		storetest.Whole(t, made)
	}
	valuetest.Equal(t, valuetest.Must(other.Merge(context.Background(), dir, ingest.Merging{})).Events, 0, "again")
	valuetest.Must(check.PlanRepair(context.Background(), dir, func(r check.Repair) { t.Errorf("would repair %+v", r) }))
	valuetest.Equal(t, len(valuetest.Must(schema.ListEvents(schema.Dir(dir))).Files), 0, "a reader makes no files of events")

	s := valuetest.Must(ingest.Open(dir, "test"))
	for run := range removed {
		valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventRestore, Runs: []string{run}}))
		delete(removed, run)
		break
	}
	valuetest.OK(t, s.Close())
	valuetest.OK(t, os.Remove(pack))
	valuetest.DeepEqual(t, removedIn(dir), removed)
	valuetest.Equal(t, len(valuetest.Must(schema.ListEvents(schema.Dir(dir))).Files), 3)
	storetest.Whole(t, dir)
}

// TestDamagedPackedEvents: where packs alone have the events, a damaged one is damage, and who needs it says so. Repair keeps what is intact.
func TestDamagedPackedEvents(t *testing.T) {
	t.Parallel()
	dir, pack, removed := packedEvents(t)
	content := valuetest.Must(os.ReadFile(pack))
	content[len(content)/4] ^= 1 // in the first event
	valuetest.OK(t, os.WriteFile(pack, content, 0o666))
	name := schema.PacksDir + "/" + filepath.Base(pack)

	s := valuetest.Must(ingest.Open(dir, "test"))
	_, err := s.Annotate(ingest.Annotation{Kind: schema.EventNote, Runs: []string{schema.NewULID(time.Now()).String()}, Value: "x"})
	valuetest.ErrorIs(t, err, schema.ErrDamaged)
	valuetest.Fails(t, err, name)
	valuetest.OK(t, s.Close())
	other, _ := newStore(t)
	valuetest.Fails(t, valuetest.Error(other.Merge(context.Background(), dir, ingest.Merging{})), name)
	valuetest.Fails(t, valuetest.Error(ingest.Compact(context.Background(), dir, t.TempDir(), "test", nil)), name)
	found := slices.DeleteFunc(storetest.Findings(t, dir), func(f check.Finding) bool { return f.Severity != check.SeverityDamage })
	valuetest.Equal(t, len(found), 1)
	valuetest.Equal(t, found[0].Path, name)
	mustRepair(t, dir, false)
	left := removedIn(dir)
	valuetest.Equal(t, len(left), 1)
	for run := range left {
		valuetest.Equal(t, removed[run], true)
	}
	storetest.Whole(t, dir)
}
