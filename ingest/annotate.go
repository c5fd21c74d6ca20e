package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// Annotation is what is to be said about runs.
type Annotation struct {
	Kind  schema.EventKind
	Runs  []string // ids
	Key   string   // see schema.Event
	Value string
}

// Annotate says something about runs that are stored, without changing them, and gives the event that does. When it
// returns nil, the event is on disk. It counts over every event that was there when it began, whatever the clock says.
func (s *Store) Annotate(a Annotation) (schema.Event, error) {
	e, err := annotate(s.files, a, time.Now())
	if err != nil {
		return e, fmt.Errorf("annotating in store %s: %w", s.dir, err)
	}
	return e, nil
}

func annotate(f disk.Files, a Annotation, now time.Time) (schema.Event, error) {
	last, err := lastEvent(f)
	if err != nil {
		return schema.Event{}, err
	}
	order := now.Truncate(time.Millisecond) // an id has no less
	if !order.After(last) {
		order = last.Add(time.Millisecond)
	}
	id := schema.NewULID(order)
	e := schema.Event{EventID: id.String(), Kind: a.Kind, At: now.UTC(), Runs: a.Runs, Key: a.Key, Value: a.Value}
	if err := e.Validate(); err != nil {
		return e, err
	}
	line, err := e.Encode()
	if err != nil {
		return e, err
	}
	if err := f.MakeDir(schema.EventsDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return e, err
	}
	if err := disk.SyncDir(f, "."); err != nil { // the one who made the directory may not have come to this
		return e, err
	}
	if err := disk.Publish(f, schema.EventFile(id), line); err != nil {
		return e, err
	}
	return e, disk.SyncDir(f, schema.EventsDir)
}

// lastEvent is the time in the latest id of an event; the zero time where there is none.
func lastEvent(f disk.Files) (time.Time, error) {
	entries, err := fs.ReadDir(f, schema.EventsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, err
	}
	for _, e := range slices.Backward(entries) {
		if id, err := schema.ParseEventFile(e.Name()); err == nil {
			return id.Time(), nil
		}
	}
	return time.Time{}, nil
}
