package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Event is an event. The runs of a wide one are in Wide, and not in Runs.
type Event struct {
	schema.Event
	Wide *schema.RunSet
}

// ReadEvents reads the events of a listing: from their wide forms, from packs, and from files for all others. A wide form or a pack that cannot
// be read is ignored, because they only repeat the files. Errors name the file of the event.
func ReadEvents(store fs.FS, listed schema.Events) ([]Event, error) {
	if len(listed.Files) == 0 {
		return nil, nil
	}
	events := make([]Event, 0, len(listed.Files))
	known := map[string]bool{}
	add := func(e schema.Event, wide *schema.RunSet) {
		if !known[e.EventID] {
			known[e.EventID] = true
			events = append(events, Event{e, wide})
		}
	}
	for _, id := range listed.Wide {
		if _, is := slices.BinarySearchFunc(listed.Files, id, schema.ULID.Compare); !is {
			continue // a form does not count without its event
		}
		if e, wide, err := schema.ReadWide(store, id); err == nil {
			add(e, wide)
		}
	}
	for _, pack := range listed.Packs {
		_ = schema.ReadPackedEvents(store, schema.PackedEvents(pack), func(line []byte) error {
			if e, wide, err := schema.DecodeEventRuns(line); err == nil {
				add(e, wide)
			}
			return nil
		})
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

// MayLackRemoved reports whether removed runs may be in no file of a store: an event says so, or the store is younger than the removal.
func MayLackRemoved(events []Event, created time.Time) bool {
	return slices.ContainsFunc(events, func(e Event) bool {
		return e.Kind == schema.EventAbsent || e.Kind == schema.EventRemove && e.At.Before(created)
	})
}

// WholeEvents are events with all of their runs.
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
