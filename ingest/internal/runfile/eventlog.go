package runfile

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// AppendEvent sets the id and the time of an event, and writes it. When it returns without error, the event is on disk. It applies after
// all events that existed when it began, regardless of the clock.
func AppendEvent(f disk.Files, e schema.Event, now time.Time) (schema.Event, error) {
	if err := UnpackEvents(f); err != nil {
		return schema.Event{}, err
	}
	last, err := lastEvent(f)
	if err != nil {
		return schema.Event{}, err
	}
	order := now.Truncate(time.Millisecond) // the resolution of an id
	if !order.After(last) {
		order = last.Add(time.Millisecond)
	}
	id := schema.NewULID(order)
	e.EventID, e.At = id.String(), now.UTC()
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
	if err := disk.SyncDir(f, "."); err != nil { // its creator may have died before this
		return e, err
	}
	if err := disk.Publish(f, schema.EventFile(id), line); err != nil {
		return e, err
	}
	if err := disk.SyncDir(f, schema.EventsDir); err != nil {
		return e, err
	}
	if e.HasRunSet() {
		_ = WriteRunSet(f, e) // the event is stored; packing tries again
	}
	return e, nil
}

// WriteRunSet writes the run set of an event, which readers read instead of it. It may be there already.
func WriteRunSet(f disk.Files, e schema.Event) error {
	id, err := schema.ParseULID(e.EventID)
	if err != nil {
		return err
	}
	content, err := schema.EncodeRunSet(e)
	if err != nil {
		return err
	}
	err = disk.WithTemp(f, content, func(temp string) error { return disk.PlaceDurably(f, temp, schema.RunSetFile(id)) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// lastEvent returns the time of the latest event id, or the zero time if there are no events.
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

// WriteRowEvents writes events that runs have lost rows of a table, or that the rows are there again.
func WriteRowEvents(f disk.Files, kind schema.EventKind, t *schema.Table, runs []string, reason string) error {
	const maxRuns = 1000 // of an event
	for some := range slices.Chunk(runs, maxRuns) {
		if _, err := AppendEvent(f, schema.Event{Kind: kind, Runs: some, Key: t.Name, Value: reason}, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// WriteAbsentEvent writes an event that the store's files may lack runs which events remove, unless there is such an event already.
func WriteAbsentEvent(f disk.Files) error {
	if said, _ := MayLackRemoved(f); said {
		return nil
	}
	_, err := AppendEvent(f, schema.Event{Kind: schema.EventAbsent}, time.Now())
	return err
}

// WriteFoundEvents writes events that all lost rows of runs are there again.
func WriteFoundEvents(f disk.Files, runs []string) error {
	lost := ReadLost(f)
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		var again []string
		for _, id := range runs {
			if _, said := lost[id][t.Name]; said {
				again = append(again, id)
			}
		}
		if err := WriteRowEvents(f, schema.EventFound, t, again, ""); err != nil {
			return err
		}
	}
	return nil
}
