package scan

import (
	"slices"
	"sync"

	"github.com/neurolens/neurolens/schema"
)

// RemovedRuns is the set of the runs that are removed. It is safe for concurrent use.
type RemovedRuns struct {
	events facet
	once   sync.Once
	err    error

	base   *schema.RunSet // removed by wide events
	inBase []schema.ULID  // those of base about which other events have the say, ascending
	gone   []schema.ULID  // those that the other events remove, ascending
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

// removedByWide gives the runs that are removed as far as the wide events know.
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

// Count is the number of removed runs.
func (r *RemovedRuns) Count() (int, error) { return r.CountSince(schema.ULID{}) }

// CountSince is the number of removed runs whose ids are not before one.
func (r *RemovedRuns) CountSince(first schema.ULID) (int, error) {
	if err := r.read(); err != nil {
		return 0, err
	}
	n, err := r.base.CountFrom(first)
	return n - from(r.inBase, first) + from(r.gone, first), err
}

// from is the number of ascending ids that are not before one.
func from(ids []schema.ULID, first schema.ULID) int {
	at, _ := slices.BinarySearchFunc(ids, first, schema.ULID.Compare)
	return len(ids) - at
}

// In are the removed runs within a reach, ascending.
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
	// Both are sorted: of base, which may have a million ids, whole stretches are kept or moved.
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

// stop is a run about which other events than wide ones have the say.
type stop struct {
	id   schema.ULID
	gone bool
}

// stops are the runs of both lists, each once, ascending: those that stay and those that are gone.
func stops(inBase, gone []schema.ULID) []stop {
	var all []stop
	merge([][]schema.ULID{inBase, gone}, func(id schema.ULID, in []bool) { all = append(all, stop{id, in[1]}) })
	return all
}

// Among are those of some runs that are removed.
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
