package ingest

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/eventlog"
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
	e, err := eventlog.Append(s.files, schema.Event{Kind: a.Kind, Runs: a.Runs, Key: a.Key, Value: a.Value}, time.Now())
	if err != nil {
		return e, fmt.Errorf("annotating in store %s: %w", s.dir, err)
	}
	return e, nil
}
