package ingest

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// withStart returns runs of an import without a start, and the same runs with one.
func withStart(n int) (all []schema.Run, pairs []Replaced) {
	for i := range n {
		old := smallRun()
		old.StartedAt, old.TimeSource, old.Tags = time.Time{}, "", map[string]string{"own": "o", "gone": "g"}
		old.RunID = schema.ULIDFrom(time.Time{}, [10]byte{1, byte(i)}).String()
		now := smallRun()
		now.StartedAt, now.TimeSource, now.Tags = time.Unix(1_700_000_000, 0).UTC(), schema.TimeFile, nil
		now.RunID = schema.ULIDFrom(now.StartedAt, [10]byte{2, byte(i)}).String()
		all, pairs = append(all, old, now), append(pairs, Replaced{old.RunID, now.RunID})
	}
	return all, pairs
}

// annotated makes a store of such runs in which the old ones have tags, a note, and a baseline.
func annotated(t *testing.T) (*Store, string, []Replaced) {
	t.Helper()
	store, dir := newStore(t)
	all, pairs := withStart(3)
	must(store.AppendAll(each(all...)))
	old := []string{pairs[0].Old, pairs[1].Old, pairs[2].Old}
	for _, a := range []Annotation{
		{Kind: schema.EventTag, Runs: old[:2], Key: "k", Value: "v"},
		{Kind: schema.EventUntag, Runs: old, Key: "gone"},
		{Kind: schema.EventNote, Runs: old, Value: "first"},
		{Kind: schema.EventNote, Runs: old[1:], Value: "second"},
		{Kind: schema.EventBless, Runs: old[:1], Key: "base"},
	} {
		must(store.Annotate(a))
	}
	return store, dir, pairs
}

// checkReplaced checks what a replacement comes to.
func checkReplaced(t *testing.T, dir string, pairs []Replaced) {
	t.Helper()
	said := schema.Annotate(eventsOf(t, dir))
	for i, one := range pairs {
		if !said.Removed[one.Old] || said.Removed[one.New] {
			t.Fatalf("run %d: removed %v, %v", i, said.Removed[one.Old], said.Removed[one.New])
		}
		var notes []string
		for _, n := range said.Notes[one.New] {
			notes = append(notes, n.Text)
		}
		want := []string{"first", "second"}[:min(1+i, 2)]
		tags := said.Tags[one.New]
		if !slices.Equal(notes, want) || tags["own"] != "o" || tags["gone"] != "" || (tags["k"] == "v") != (i < 2) {
			t.Errorf("run %d: notes %q, want %q; tags %v", i, notes, want, tags)
		}
	}
	valuetest.DeepEqual(t, said.Baselines["base"], []string{pairs[0].New}, "the baseline")
}

// TestReplace: tags, notes and baselines go over, the old runs are removed with the reason, and a second time nothing is written. What takes
// the place of a removed run again is shown again.
func TestReplace(t *testing.T) {
	t.Parallel()
	store, dir, pairs := annotated(t)
	valuetest.Equal(t, must(store.Replace(pairs)), 3)
	checkReplaced(t, dir, pairs)
	events := eventsOf(t, dir)
	if last := events[len(events)-1]; last.Kind != schema.EventRemove || last.Value != replacedReason {
		t.Errorf("%+v", last)
	}
	if n, err := store.Replace(pairs); n != 0 || err != nil || len(eventsOf(t, dir)) != len(events) {
		t.Errorf("again: %d, %v", n, err)
	}
	back := []Replaced{{Old: pairs[0].New, New: pairs[0].Old}}
	valuetest.Equal(t, must(store.Replace(back)), 1)
	if said := schema.Annotate(eventsOf(t, dir)); said.Removed[pairs[0].Old] || !said.Removed[pairs[0].New] {
		t.Errorf("%+v", said.Removed)
	}
}

// TestReplaceKeepsEdits: what a user did to the replaced run is true of the new one, also if that one had another state before. A removed run stays
// removed, until it is restored.
func TestReplaceKeepsEdits(t *testing.T) {
	t.Parallel()
	store, dir, pairs := annotated(t)
	annotate := func(a Annotation) {
		t.Helper()
		must(store.Annotate(a))
	}
	replace := func(old, now string) schema.Annotations {
		t.Helper()
		must(store.Replace([]Replaced{{old, now}}))
		return schema.Annotate(eventsOf(t, dir))
	}
	a, b := pairs[0].Old, pairs[0].New
	annotate(Annotation{Kind: schema.EventTag, Runs: []string{a}, Key: "late", Value: "l"})
	replace(a, b)
	annotate(Annotation{Kind: schema.EventTag, Runs: []string{b}, Key: "k", Value: "no"})
	annotate(Annotation{Kind: schema.EventUntag, Runs: []string{b}, Key: "late"})
	annotate(Annotation{Kind: schema.EventUntag, Runs: []string{b}, Key: "own"})
	said := replace(b, a)
	if tags := said.Tags[a]; tags["k"] != "no" || tags["late"] != "" || !slices.Contains(said.Untagged[a], "own") || said.Removed[a] || !said.Removed[b] {
		t.Errorf("tags %v, without %v, removed %v", tags, said.Untagged[a], said.Removed)
	}

	a, b = pairs[1].Old, pairs[1].New
	annotate(Annotation{Kind: schema.EventRemove, Runs: []string{a}})
	if said := replace(a, b); !said.Removed[a] || !said.Removed[b] {
		t.Errorf("removed: %v", said.Removed)
	}
	annotate(Annotation{Kind: schema.EventRestore, Runs: []string{b}})
	if said := replace(a, b); said.Removed[b] {
		t.Error("a restored run was removed")
	}
}

// TestReplaceFaults lets every file operation of a replacement fail in turn: one of two runs is always there, and the same replacement is
// complete the next time, with nothing twice.
func TestReplaceFaults(t *testing.T) {
	t.Parallel()
	for at, hit := 0, true; hit; at += tier(7, 1, 1) {
		sound, dir, pairs := annotated(t)
		mustDo(t, sound.Close())
		files := faultyFiles{Fault: syscall.EIO, At: at}
		files.OS = must(disk.NewOS(dir))
		store := &Store{dir: dir, files: &files}
		_, err := store.Replace(pairs)
		if hit = files.Hit; hit && err != nil && !errors.Is(err, syscall.EIO) || !hit && err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		said := schema.Annotate(eventsOf(t, dir))
		for _, one := range pairs {
			if said.Removed[one.New] || err == nil && !said.Removed[one.Old] {
				t.Fatalf("operation %d: %v, removed %+v", at, err, said.Removed)
			}
		}
		files.Healed = true
		mustDo(t, valuetest.Error(store.Replace(pairs)), "operation", at, "the second time")
		checkReplaced(t, dir, pairs)
		must(os.Stat(dir))
	}
}

// TestTag: a tag is set once, and neither over one that was set nor over one that was removed.
func TestTag(t *testing.T) {
	t.Parallel()
	store, dir, pairs := annotated(t)
	tags := map[[2]string][]string{{"k", "w"}: {pairs[0].Old, pairs[2].Old}, {"gone", "g"}: {pairs[0].Old}}
	for range 2 {
		mustDo(t, store.Tag(tags))
		said := schema.Annotate(eventsOf(t, dir))
		if a, c := said.Tags[pairs[0].Old], said.Tags[pairs[2].Old]; a["k"] != "v" || a["gone"] != "" || c["k"] != "w" || len(eventsOf(t, dir)) != 6 {
			t.Errorf("%v, %v, %d events", a, c, len(eventsOf(t, dir)))
		}
	}
}
