// Package eventlog adds events to a store: what is said about runs that are stored, which stay as they are.
package eventlog

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Append gives an event an id and a time, and writes it. When it returns nil, the event is on disk. It counts over every
// event that was there when it began, whatever the clock says.
func Append(f disk.Files, e schema.Event, now time.Time) (schema.Event, error) {
	last, err := lastEvent(f)
	if err != nil {
		return schema.Event{}, err
	}
	order := now.Truncate(time.Millisecond) // an id has no less
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

// Say writes events that runs have lost rows of a table, or that they are there again.
func WriteRowEvents(f disk.Files, kind schema.EventKind, t *schema.Table, runs []string, reason string) error {
	const maxRuns = 1000 // of an event
	for some := range slices.Chunk(runs, maxRuns) {
		if _, err := Append(f, schema.Event{Kind: kind, Runs: some, Key: t.Name, Value: reason}, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// SayFound says that all rows of runs are there again of which events say that they were lost.
func WriteFound(f disk.Files, runs []string) error {
	lost := runfile.ReadLost(f)
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
