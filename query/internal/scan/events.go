package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Event is an event. The runs of a wide one are in Wide, and not in Runs.
type Event struct {
	schema.Event
	Wide *schema.RunSet
}

// ReadEvents reads the events of a listing: from their wide forms, from packs, and from files for all others. A wide form or a pack that
// cannot be read is ignored if it only repeats files. Errors name the file.
func ReadEvents(store fs.FS, listed schema.Events) ([]Event, error) {
	events := make([]Event, 0, len(listed.Files))
	known := map[string]bool{}
	add := func(e schema.Event, wide *schema.RunSet) {
		if !known[e.EventID] {
			known[e.EventID] = true
			events = append(events, Event{e, wide})
		}
	}
	for _, id := range listed.RunSets {
		if _, is := slices.BinarySearchFunc(listed.Files, id, schema.ULID.Compare); !is {
			continue // a form does not count without its event
		}
		if e, wide, err := schema.ReadRunSet(store, id); err == nil {
			add(e, wide)
		}
	}
	for _, pack := range listed.Packs {
		name := schema.PackedEvents(pack)
		err := schema.ReadPackedEvents(store, name, func(line []byte) error {
			e, wide, err := schema.DecodeEventRuns(line)
			if err == nil {
				add(e, wide)
			} else if listed.Packed() {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
		if err != nil && listed.Packed() {
			return nil, err
		}
	}
	for _, id := range listed.Files {
		if known[id.String()] {
			continue
		}
		e, wide, err := schema.ReadEventRuns(store, id)
		if _, named := errors.AsType[*fs.PathError](err); errors.Is(err, schema.ErrDamaged) && !named {
			err = fmt.Errorf("%s: %w", schema.EventFile(id), err)
		}
		if err != nil {
			return nil, err
		}
		add(e, wide)
	}
	return events, nil
}

// MayLackRemoved reports whether the files of a store may lack a removed run: an event records that, or the store is younger than the
// removal.
func MayLackRemoved(events []Event, created time.Time) bool {
	return slices.ContainsFunc(events, func(e Event) bool {
		return e.Kind == schema.EventAbsent || e.Kind == schema.EventRemove && e.At.Before(created)
	})
}

// WholeEvents returns events with all of their runs.
func WholeEvents(events []Event) ([]schema.Event, error) {
	all := make([]schema.Event, len(events))
	for i, e := range events {
		all[i] = e.Event
		if e.Wide == nil {
			continue
		}
		ids, err := e.Wide.All()
		if err != nil {
			return nil, err
		}
		all[i].Runs = texts(ids)
	}
	return all, nil
}

func texts(ids []schema.ULID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}

// EventIndex is the combined result of events about runs. It is safe for concurrent use.
type EventIndex struct {
	Baselines map[string][]string          // by name: run ids
	Lost      map[string]map[string]string // by run id and table: why some or all of its rows are gone

	Count   int          // number of different events
	Removed *RemovedRuns // the runs that are removed
	tags    facet
	notes   facet
}

// IndexEvents applies events in the order of their ids, in whatever order they are passed. An event that appears twice counts once.
func IndexEvents(events []Event) *EventIndex {
	ordered := slices.SortedFunc(slices.Values(events), func(a, b Event) int { return strings.Compare(a.EventID, b.EventID) })
	ordered = slices.CompactFunc(ordered, func(a, b Event) bool { return a.EventID == b.EventID })
	s := EventIndex{Count: len(ordered)}
	s.Baselines = neverWide(ordered, schema.EventBless).Baselines
	s.Lost = neverWide(ordered, schema.EventLost, schema.EventFound).Lost
	s.Removed = &RemovedRuns{events: facetOf(ordered, schema.EventRemove, schema.EventRestore)}
	s.tags, s.notes = facetOf(ordered, schema.EventTag, schema.EventUntag), facetOf(ordered, schema.EventNote)
	return &s
}

// neverWide returns the annotations by events of kinds that are never wide.
func neverWide(ordered []Event, kinds ...schema.EventKind) schema.Annotations {
	f := facetOf(ordered, kinds...)
	events := make([]schema.Event, len(f.events))
	for i := range f.events {
		events[i] = f.events[i].Event
	}
	return schema.Annotate(events)
}

// ChangedRuns are runs with the same changes by events.
type ChangedRuns struct {
	Runs        []schema.ULID // ascending
	annotations schema.Annotations
}

// about is the key of the Annotations of a Group, which are the same for all of its runs.
const about = ""

// Tags returns the tags that were set; never nil.
func (g *ChangedRuns) Tags() map[string]string {
	tags := map[string]string{}
	maps.Copy(tags, g.annotations.Tags[about])
	return tags
}

// Untagged returns the keys of tags that were taken away; never nil.
func (g *ChangedRuns) Untagged() []string {
	return append([]string{}, g.annotations.Untagged[about]...)
}

// Notes returns the notes, in order.
func (g *ChangedRuns) Notes() []schema.Note { return g.annotations.Notes[about] }

// NotesOf returns the notes of a run, in order.
func (s *EventIndex) NotesOf(run schema.ULID) ([]schema.Note, error) {
	groups, err := s.notes.groups(IDRange{run, run})
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	return groups[0].Notes(), nil
}

// Tagged reports whether any event is about tags.
func (s *EventIndex) Tagged() bool { return len(s.tags.events) > 0 }

// TaggedMany reports whether an event is about the tags of very many runs.
func (s *EventIndex) TaggedMany() bool { return len(s.tags.wide) > 0 }

// TagsIn groups the runs within a range of ids whose tags were changed. With keys only these tags count; without keys, all.
func (s *EventIndex) TagsIn(within IDRange, keys ...string) ([]ChangedRuns, error) {
	if len(keys) == 0 {
		return s.tags.groups(within)
	}
	of := facetWhere(s.tags.events, func(e *Event) bool { return slices.Contains(keys, e.Key) })
	return of.groups(within)
}

// NotesIn groups the runs within a reach that have notes.
func (s *EventIndex) NotesIn(within IDRange) ([]ChangedRuns, error) { return s.notes.groups(within) }

// IDRange is the runs from the first to the last id, both included.
type IDRange struct{ First, Last schema.ULID }

// AllIDs returns the reach of all runs.
func AllIDs() IDRange {
	var r IDRange
	for i := range r.Last {
		r.Last[i] = 0xff
	}
	return r
}

func (r IDRange) has(id schema.ULID) bool { return r.First.Compare(id) <= 0 && id.Compare(r.Last) <= 0 }

// facet is the events that are about one thing, in order.
type facet struct {
	events []Event
	wide   []int // places of the wide ones
}

func facetOf(ordered []Event, kinds ...schema.EventKind) facet {
	return facetWhere(ordered, func(e *Event) bool { return slices.Contains(kinds, e.Kind) })
}

// facetWhere returns the facet of the events for which about is true.
func facetWhere(ordered []Event, about func(e *Event) bool) (f facet) {
	for _, e := range ordered {
		if !about(&e) {
			continue
		}
		if e.Wide != nil {
			f.wide = append(f.wide, len(f.events))
		}
		f.events = append(f.events, e)
	}
	return f
}

// named is a run with the events that name it and are not wide.
type named struct {
	id     schema.ULID
	places []int // of the events, ascending
}

// named returns the runs within a reach that events name without being wide, ascending.
func (f *facet) named(within IDRange) []named {
	places := map[schema.ULID][]int{}
	for at := range f.events {
		for _, run := range f.events[at].Runs {
			id, err := schema.ParseULID(run)
			if err == nil && within.has(id) {
				places[id] = append(places[id], at)
			}
		}
	}
	all := make([]named, 0, len(places))
	for id, at := range places {
		all = append(all, named{id, at})
	}
	slices.SortFunc(all, func(a, b named) int { return a.id.Compare(b.id) })
	return all
}

func eventIDs(all []named) []schema.ULID {
	ids := make([]schema.ULID, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	return ids
}

// groups returns the runs within a range of ids, grouped by the events that name them.
func (f *facet) groups(within IDRange) ([]ChangedRuns, error) {
	lists := make([][]schema.ULID, len(f.wide), len(f.wide)+1)
	for i, at := range f.wide {
		var err error
		if lists[i], err = f.events[at].Wide.Between(within.First, within.Last); err != nil {
			return nil, err
		}
	}
	others := f.named(within)
	by := map[string]int{}
	var all []ChangedRuns
	var key []byte
	merge(append(lists, eventIDs(others)), func(id schema.ULID, in []bool) {
		key = key[:0]
		for i, at := range f.wide {
			if in[i] {
				key = binary.AppendUvarint(key, uint64(at))
			}
		}
		if in[len(f.wide)] {
			for _, at := range others[0].places {
				key = binary.AppendUvarint(key, uint64(at))
			}
			others = others[1:]
		}
		place, is := by[string(key)]
		if !is {
			place = len(all)
			by[string(key)] = place
			all = append(all, ChangedRuns{annotations: f.annotate(key)})
		}
		all[place].Runs = append(all[place].Runs, id)
	})
	return all, nil
}

// annotate applies the events at the places in a key of groups.
func (f *facet) annotate(key []byte) schema.Annotations {
	var events []schema.Event
	for len(key) > 0 {
		at, n := binary.Uvarint(key)
		e := f.events[at].Event
		e.Runs = []string{about}
		events, key = append(events, e), key[n:]
	}
	return schema.Annotate(events)
}

// merge calls each with every id of some ascending lists, in order, and which of the lists have it (a k-way merge). It consumes the
// lists.
func merge(lists [][]schema.ULID, each func(id schema.ULID, in []bool)) {
	in := make([]bool, len(lists))
	for {
		var next *schema.ULID
		for _, list := range lists {
			if len(list) > 0 && (next == nil || list[0].Compare(*next) < 0) {
				next = &list[0]
			}
		}
		if next == nil {
			return
		}
		id := *next
		for i, list := range lists {
			if in[i] = len(list) > 0 && list[0] == id; in[i] {
				lists[i] = list[1:]
			}
		}
		each(id, in)
	}
}

// RemovedRuns is the set of the removed runs. It is safe for concurrent use.
type RemovedRuns struct {
	events facet
	once   sync.Once
	err    error

	base   *schema.RunSet // removed by wide events
	inBase []schema.ULID  // runs of base that later events decide, ascending
	gone   []schema.ULID  // runs that the other events remove, ascending
}

// read finds out about the runs that events name without being wide.
func (r *RemovedRuns) read() error {
	r.once.Do(func() {
		if r.base, r.err = r.events.removedByWide(); r.err != nil {
			return
		}
		others := r.events.named(AllIDs())
		ids := eventIDs(others)
		if r.inBase, r.err = r.base.Among(ids); r.err != nil {
			return
		}
		last := make(map[schema.ULID]int, len(others))
		for _, o := range others {
			last[o.id] = o.places[len(o.places)-1]
		}
		for _, at := range r.events.wide {
			var in []schema.ULID
			if in, r.err = r.events.events[at].Wide.Among(ids); r.err != nil {
				return
			}
			for _, id := range in {
				last[id] = max(last[id], at)
			}
		}
		for _, id := range ids {
			if r.events.events[last[id]].Kind == schema.EventRemove {
				r.gone = append(r.gone, id)
			}
		}
	})
	return r.err
}

// removedByWide returns the runs that are removed as far as the wide events know.
func (f *facet) removedByWide() (*schema.RunSet, error) {
	if len(f.wide) == 1 && f.events[f.wide[0]].Kind == schema.EventRemove {
		return f.events[f.wide[0]].Wide, nil
	}
	lists := make([][]schema.ULID, len(f.wide))
	for i, at := range f.wide {
		var err error
		if lists[i], err = f.events[at].Wide.All(); err != nil {
			return nil, err
		}
	}
	var ids []schema.ULID
	merge(lists, func(id schema.ULID, in []bool) {
		last := len(in) - 1
		for ; !in[last]; last-- {
		}
		if f.events[f.wide[last]].Kind == schema.EventRemove {
			ids = append(ids, id)
		}
	})
	return schema.NewRunSet(ids), nil
}

// Count returns the number of removed runs.
func (r *RemovedRuns) Count() (int, error) { return r.CountSince(schema.ULID{}) }

// CountSince returns the number of removed runs whose ids are at or after first.
func (r *RemovedRuns) CountSince(first schema.ULID) (int, error) {
	if err := r.read(); err != nil {
		return 0, err
	}
	n, err := r.base.CountFrom(first)
	return n - from(r.inBase, first) + from(r.gone, first), err
}

// from returns the number of ascending ids that are not before one.
func from(ids []schema.ULID, first schema.ULID) int {
	at, _ := slices.BinarySearchFunc(ids, first, schema.ULID.Compare)
	return len(ids) - at
}

// In returns the removed runs within a range of ids, ascending.
func (r *RemovedRuns) In(within IDRange) ([]schema.ULID, error) {
	if err := r.read(); err != nil {
		return nil, err
	}
	base, err := r.base.Between(within.First, within.Last)
	if err != nil {
		return nil, err
	}
	gone := slices.Clone(r.gone)
	gone = slices.DeleteFunc(gone, func(id schema.ULID) bool { return !within.has(id) })
	// Both are sorted. base may have a million ids, so whole ranges of it are kept or moved.
	all := make([]schema.ULID, 0, len(base)+len(gone))
	for _, other := range stops(r.inBase, gone) {
		at, is := slices.BinarySearchFunc(base, other.id, schema.ULID.Compare)
		all, base = append(all, base[:at]...), base[at:]
		if is {
			base = base[1:]
		}
		if other.gone {
			all = append(all, other.id)
		}
	}
	return append(all, base...), nil
}

// stop is a run that other events than wide ones decide.
type stop struct {
	id   schema.ULID
	gone bool
}

// stops returns the runs of both lists, each once, ascending: runs that stay and runs that are gone.
func stops(inBase, gone []schema.ULID) []stop {
	var all []stop
	merge([][]schema.ULID{inBase, gone}, func(id schema.ULID, in []bool) { all = append(all, stop{id, in[1]}) })
	return all
}

// Among returns the runs that are removed.
func (r *RemovedRuns) Among(ids []schema.ULID) (map[schema.ULID]bool, error) {
	if err := r.read(); err != nil {
		return nil, err
	}
	base, err := r.base.Among(ids)
	if err != nil {
		return nil, err
	}
	removed := make(map[schema.ULID]bool, len(base))
	for _, id := range base {
		removed[id] = !has(r.inBase, id)
	}
	for _, id := range ids {
		if has(r.gone, id) {
			removed[id] = true
		}
	}
	return removed, nil
}

func has(ascending []schema.ULID, id schema.ULID) bool {
	_, is := slices.BinarySearchFunc(ascending, id, schema.ULID.Compare)
	return is
}
