package scan

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/schema"
)

// ReadEvents reads the events of a listing: from packs, and from files for events that are in no pack. An unreadable pack is ignored,
// because packs only repeat the files. Errors name the file of the event.
func ReadEvents(store fs.FS, listed schema.Events) ([]schema.Event, error) {
	if len(listed.Files) == 0 {
		return nil, nil
	}
	events := make([]schema.Event, 0, len(listed.Files))
	packed := map[string]bool{}
	for _, pack := range listed.Packs {
		_ = schema.ReadPackedEvents(store, schema.PackedEvents(pack), func(line []byte) error {
			e, err := schema.DecodeEvent(line)
			if err == nil && !packed[e.EventID] {
				packed[e.EventID] = true
				events = append(events, e)
			}
			return nil
		})
	}
	for _, id := range listed.Files {
		if packed[id.String()] {
			continue
		}
		e, err := schema.ReadEvent(store, id)
		if _, named := errors.AsType[*fs.PathError](err); errors.Is(err, schema.ErrDamaged) && !named {
			err = fmt.Errorf("%s: %w", schema.EventFile(id), err)
		}
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
