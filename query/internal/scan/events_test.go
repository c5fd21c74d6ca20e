package scan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TestLikeAnnotate: events say the same about every run whether they are wide or not.
func TestLikeAnnotate(t *testing.T) {
	ids := make([]schema.ULID, 60)
	for i := range ids {
		ids[i] = schema.ULIDFrom(time.UnixMilli(int64(1000+i)), [10]byte{})
	}
	kinds := []schema.EventKind{schema.EventRemove, schema.EventRestore, schema.EventTag, schema.EventUntag, schema.EventNote}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		var plain []schema.Event
		var events []Event
		for i := range 12 {
			e := schema.Event{EventID: schema.ULIDFrom(time.UnixMilli(int64(i+1)), [10]byte{}).String(), Kind: kinds[random.IntN(len(kinds))]}
			if e.Kind != schema.EventRemove && e.Kind != schema.EventRestore {
				e.Key, e.Value = string(rune('a'+random.IntN(2))), fmt.Sprint(i)
			}
			var runs []schema.ULID
			for range 1 + random.IntN(len(ids)) {
				runs = append(runs, ids[random.IntN(len(ids))])
			}
			e.Runs = texts(runs)
			plain = append(plain, e)
			if random.IntN(2) == 0 {
				e.Runs = nil
				events = append(events, Event{e, schema.NewRunSet(runs)})
			} else {
				e.Runs = slices.Compact(slices.Sorted(slices.Values(e.Runs)))
				events = append(events, Event{e, nil})
				plain[i].Runs = e.Runs
			}
		}
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		for i := range plain { // a run that a wide event names twice is in it once
			plain[i].Runs = slices.Compact(slices.Sorted(slices.Values(plain[i].Runs)))
		}
		check(t, seed, IndexEvents(events), schema.Annotate(plain), ids)
	}
}

func check(t *testing.T, seed uint64, got *EventIndex, want schema.Annotations, ids []schema.ULID) {
	t.Helper()
	removed := slices.Sorted(maps.Keys(want.Removed))
	all, err := got.Removed.In(AllIDs())
	if err != nil || !slices.Equal(texts(all), removed) {
		t.Fatalf("seed %d: removed %v, want %v, %v", seed, texts(all), removed, err)
	}
	if n, err := got.Removed.Count(); n != len(removed) || err != nil {
		t.Fatalf("seed %d: %d removed, want %d, %v", seed, n, len(removed), err)
	}
	middle := ids[len(ids)/2]
	later := slices.DeleteFunc(slices.Clone(removed), func(id string) bool { return id < middle.String() })
	if n, err := got.Removed.CountSince(middle); n != len(later) || err != nil {
		t.Fatalf("seed %d: %d removed since, want %d, %v", seed, n, len(later), err)
	}
	among, err := got.Removed.Among(ids)
	for _, id := range ids {
		if among[id] != want.Removed[id.String()] || err != nil {
			t.Fatalf("seed %d: %v is removed: %v, %v", seed, id, among[id], err)
		}
		notes, err := got.NotesOf(id)
		if !slices.Equal(notes, want.Notes[id.String()]) || err != nil {
			t.Fatalf("seed %d: notes %v, want %v, %v", seed, notes, want.Notes[id.String()], err)
		}
	}
	groups, err := got.TagsIn(AllIDs())
	tagged := map[string]bool{}
	for _, g := range groups {
		for _, id := range texts(g.Runs) {
			tagged[id] = true
			if !maps.Equal(g.Tags(), want.Tags[id]) || !slices.Equal(slices.Sorted(slices.Values(g.Untagged())), slices.Sorted(slices.Values(want.Untagged[id]))) {
				t.Fatalf("seed %d: run %s has tags %v less %v, want %v less %v", seed, id, g.Tags(), g.Untagged(), want.Tags[id], want.Untagged[id])
			}
		}
	}
	for id := range want.Tags {
		if !tagged[id] || err != nil {
			t.Fatalf("seed %d: no event names the tags of %s, %v", seed, id, err)
		}
	}
}
