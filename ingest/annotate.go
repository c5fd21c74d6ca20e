package ingest

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Annotation is a change to stored runs, such as a tag or a note.
type Annotation struct {
	Kind  schema.EventKind
	Runs  []string // ids
	Key   string   // see schema.Event
	Value string
}

// Annotate records a change to stored runs in an event, and returns the event. The runs themselves stay unchanged. When Annotate returns
// without error, the event is on disk. It applies after all events that existed when it began, regardless of the clock.
func (s *Store) Annotate(a Annotation) (schema.Event, error) {
	e, err := runfile.AppendEvent(s.files, schema.Event{Kind: a.Kind, Runs: a.Runs, Key: a.Key, Value: a.Value}, time.Now())
	if err != nil {
		return e, fmt.Errorf("annotating in store %s: %w", s.dir, err)
	}
	return e, nil
}
