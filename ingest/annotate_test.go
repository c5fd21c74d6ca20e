package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// minRunSet is the number of runs from which on an event has a run set: see FORMAT.md.
const minRunSet = 4096

// eventsOf reads the events of a store.
func eventsOf(t *testing.T, dir string) []schema.Event {
	t.Helper()
	listed := must(schema.List(os.DirFS(dir), schema.Scope{}))
	var all []schema.Event
	for _, id := range listed.Events.Files {
		line := must(fs.ReadFile(os.DirFS(dir), schema.EventFile(id)))
		e := must(schema.DecodeEvent(line))
		valuetest.Equal(t, e.EventID, id.String(), id, e)
		all = append(all, e)
	}
	return all
}

// TestAnnotate: what is said later counts, also where the clock has gone back.
func TestAnnotate(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := schema.NewULID(time.Now()).String()
	now := time.Now()
	for i, kind := range []schema.EventKind{schema.EventRemove, schema.EventRestore, schema.EventRemove} {
		must(runfile.AppendEvent(store.files, schema.Event{Kind: kind, Runs: []string{run}}, now.Add(-time.Duration(i)*time.Hour)))
	}
	if all := eventsOf(t, dir); len(all) != 3 || !schema.Annotate(all).Removed[run] {
		t.Errorf("%+v", all)
	}
	for _, bad := range []Annotation{{}, {Kind: schema.EventTag, Runs: []string{run}}, {Kind: schema.EventNote, Value: "x"}} {
		valuetest.Fails(t, valuetest.Error(store.Annotate(bad)), "", bad, "is accepted")
	}
	valuetest.Equal(t, len(eventsOf(t, dir)), 3)
}

// TestAnnotateFaults lets every file operation fail in turn: what was acknowledged is there, and nothing is half there, nor is the form
// of an event of very many runs.
func TestAnnotateFaults(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{1, minRunSet} {
		said := schema.Event{Kind: schema.EventRemove}
		for range runs {
			said.Runs = append(said.Runs, schema.NewULID(time.Now()).String())
		}
		for _, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprint(runs, fault, late), func(t *testing.T) {
					at := 0
					for annotateFails(t, said, faultyFiles{Fault: fault, At: at, Late: late}) {
						at++
					}
				})
			}
		}
	}
}

// annotateFails adds an event to a new store, and tells whether an operation failed.
func annotateFails(t *testing.T, said schema.Event, faulty faultyFiles) bool {
	t.Helper()
	store, dir := newStore(t)
	faulty.OS = store.files.(disk.OS)
	e, err := runfile.AppendEvent(&faulty, said, time.Now())
	if n := len(eventsOf(t, dir)); err == nil && n != 1 || n > 1 {
		t.Fatalf("operation %d: %v, and %d events", faulty.At, err, n)
	}
	if faulty.Unsync > 0 && err == nil && !said.HasRunSet() { // of a form it may fail
		t.Fatalf("operation %d: acknowledged after an fsync that failed", faulty.At)
	}
	if err != nil && !errors.Is(err, faulty.Fault) {
		t.Fatalf("operation %d: %v", faulty.At, err)
	}
	id, _ := schema.ParseULID(e.EventID) // an operation before it has one may fail
	switch form, err := schema.ReadWholeRunSet(schema.Dir(dir), id); {
	case errors.Is(err, fs.ErrNotExist) && (faulty.Hit || !said.HasRunSet()):
	case err != nil || len(form.Runs) != len(said.Runs):
		t.Fatalf("operation %d: the form has %d runs, %v", faulty.At, len(form.Runs), err)
	}
	return faulty.Hit
}

// TestUnpackFaults lets every file operation fail in turn while an event is added to events that a pack alone has: these count at any time,
// and the next writer goes on.
func TestUnpackFaults(t *testing.T) {
	t.Parallel()
	store, packed := newStore(t)
	var lines []byte
	removed := map[string]bool{}
	for range 2 {
		run := schema.NewULID(time.Now()).String()
		e := must(store.Annotate(Annotation{Kind: schema.EventRemove, Runs: []string{run}}))
		removed[run], lines = true, append(lines, must(e.Encode())...)
	}
	mustDo(t, os.RemoveAll(filepath.Join(packed, schema.EventsDir)))
	writeFile(t, filepath.Join(packed, schema.PackedEvents(schema.NewULID(time.Now()))), lines)
	writeFile(t, filepath.Join(packed, schema.EventsDir, "same.jsonl"), lines)
	note := schema.Event{Kind: schema.EventNote, Runs: slices.Collect(maps.Keys(removed)), Value: "x"}
	for _, late := range []bool{false, true} {
		for at, hit := 0, true; hit; at++ {
			dir := copied(t, packed)
			faulty := faultyFiles{OS: must(disk.NewOS(dir)), Fault: syscall.EIO, At: at, Late: late}
			_, err := runfile.AppendEvent(&faulty, note, time.Now())
			hit = faulty.Hit
			if err != nil && !errors.Is(err, faulty.Fault) {
				t.Fatalf("operation %d: %v", at, err)
			}
			valuetest.DeepEqual(t, runfile.ReadRemoved(schema.Dir(dir)), removed, at)
			mustDo(t, valuetest.Error(runfile.AppendEvent(must(disk.NewOS(dir)), note, time.Now())))
			valuetest.DeepEqual(t, runfile.ReadRemoved(schema.Dir(dir)), removed, at)
			if n := len(must(schema.ListEvents(schema.Dir(dir))).Files); n < 3 || err == nil && n != 4 {
				t.Fatalf("operation %d: %v, and then %d events", at, err, n)
			}
		}
	}
}

// TestAnnotateInOrder says one thing after another within a millisecond: the last one counts.
func TestAnnotateInOrder(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	mustAppend(t, store, run)
	now := time.Now().Truncate(time.Millisecond)
	for i := range 20 {
		kind := []schema.EventKind{schema.EventRemove, schema.EventRestore}[i%2]
		must(runfile.AppendEvent(store.files, schema.Event{Kind: kind, Runs: []string{run.RunID}}, now.Add(time.Duration(i)*time.Microsecond)))
		if removed := schema.Annotate(eventsOf(t, dir)).Removed[run.RunID]; removed != (kind == schema.EventRemove) {
			t.Fatalf("event %d: %s does not count", i, kind)
		}
	}
}

// TestRunSetFile: an event of very many runs has a form of its own in packs, which packing makes anew where it is gone, of the event or
// of the last copy of it, and no pack of lines has it too.
func TestRunSetFile(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := make([]string, minRunSet)
	for i := range runs {
		runs[i] = schema.NewULID(time.UnixMilli(int64(i))).String()
	}
	e := must(store.Annotate(Annotation{Kind: schema.EventTag, Runs: runs, Key: "k", Value: "v"}))
	id := must(schema.ParseULID(e.EventID))
	line := must(e.Encode())
	event, form := filepath.Join(dir, schema.EventFile(id)), filepath.Join(dir, schema.RunSetFile(id))
	packed := filepath.Join(dir, schema.PackedEvents(schema.NewULID(time.Now().Add(-time.Hour))))
	write := func(name string, content []byte) error { return os.WriteFile(name, content, 0o666) }
	for _, c := range []struct {
		name   string
		before func() error
	}{
		{"that was just said", func() error { return nil }},
		{"without its form", func() error { return os.Remove(form) }},
		{"in a pack, as an earlier version has it", func() error { return errors.Join(os.Remove(form), write(packed, line)) }},
		{"damaged, but in a pack", func() error { return errors.Join(os.Remove(form), write(packed, line), write(event, line[:99])) }},
	} {
		mustDo(t, c.before())
		mustDo(t, store.Pack())
		if got, err := schema.ReadWholeRunSet(schema.Dir(dir), id); err != nil || len(got.Runs) != len(runs) || got.Key != "k" {
			t.Errorf("an event %s: %d runs, %v", c.name, len(got.Runs), err)
		}
		valuetest.ErrorIs(t, valuetest.Error(os.Stat(packed)), fs.ErrNotExist, "an event", c.name, "a pack still has it")
	}
}
