package runfile

import (
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Lost are the runs that have lost rows, by id and table, and why.
type Lost map[string]map[string]string

// ReadLost are the runs of which events say that they have lost rows.
func ReadLost(f fs.FS) Lost {
	return schema.Annotate(eventsOf(f, schema.EventLost, schema.EventFound)).Lost
}

// ReadPruned tells when artifacts were pruned, by their hashes.
func ReadPruned(f fs.FS) map[string]time.Time {
	return schema.PrunedArtifacts(eventsOf(f, schema.EventPrune))
}

// eventsOf reads the events of some kinds. Events that cannot be read say nothing here; that they are damaged is for
// others to say.
func eventsOf(f fs.FS, kinds ...schema.EventKind) (events []schema.Event) {
	entries, err := fs.ReadDir(f, schema.EventsDir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		id, err := schema.ParseEventFile(entry.Name())
		if err != nil {
			continue
		}
		if e, err := schema.ReadEvent(f, id); err == nil && slices.Contains(kinds, e.Kind) {
			events = append(events, e)
		}
	}
	return events
}

// Loss counts what damage takes.
type Loss struct {
	Runs    int // that are gone
	Samples int // runs that stay and have lost samples
	Ops     int // runs that stay and have lost ops
}

// Add adds another loss.
func (l *Loss) Add(o Loss) {
	l.Runs, l.Samples, l.Ops = l.Runs+o.Runs, l.Samples+o.Samples, l.Ops+o.Ops
}
