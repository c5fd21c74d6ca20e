package ingest

import (
	"context"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// copyRest copies the artifacts, and the events that still mean something.
func (c *compacter) copyRest(ctx context.Context, events []schema.Event) error {
	if _, err := copyArtifacts(ctx, c.from, c.into, nil); err != nil {
		return err
	}
	gone := c.removed
	blessed := map[string]string{} // the event that names a baseline last
	for _, e := range events {
		if e.Kind == schema.EventBless {
			blessed[e.Key] = max(blessed[e.Key], e.EventID)
		}
	}
	for _, e := range events {
		// Of a kind that this version does not know, one without runs says something too.
		keep := e.Kind == schema.EventRemove || len(e.Runs) == 0 || slices.ContainsFunc(e.Runs, func(run string) bool { return !gone[run] })
		if e.Kind == schema.EventBless {
			keep = blessed[e.Key] == e.EventID
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil || !keep {
			continue
		}
		if err := makeDirs(c.into, schema.EventsDir); err != nil {
			return err
		}
		if err := copyFile(c.from, c.into, schema.EventFile(id)); err != nil {
			return err
		}
		c.done.Events++
	}
	if c.done.Events == 0 {
		return nil
	}
	return syncDir(c.into, schema.EventsDir)
}

// readEvents reads events. Errors name the file.
func readEvents(f fs.FS, listed schema.Events) ([]schema.Event, error) {
	var events []schema.Event
	for _, id := range listed.Files {
		e, err := schema.ReadEvent(f, id)
		if err != nil {
			return nil, inFile(schema.EventFile(id), err)
		}
		events = append(events, e)
	}
	return events, nil
}
