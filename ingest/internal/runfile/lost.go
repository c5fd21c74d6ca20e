package runfile

import (
	"io/fs"

	"github.com/neurolens/neurolens/schema"
)

// Lost are the runs that have lost rows, by id and table, and why.
type Lost map[string]map[string]string

// ReadLost are the runs of which events say that they have lost rows. Events that cannot be read say nothing
// here; that they are damaged is for others to say.
func ReadLost(f fs.FS) Lost {
	entries, err := fs.ReadDir(f, schema.EventsDir)
	if err != nil {
		return nil
	}
	var events []schema.Event
	for _, entry := range entries {
		id, err := schema.ParseEventFile(entry.Name())
		if err != nil {
			continue
		}
		if e, err := schema.ReadEvent(f, id); err == nil && (e.Kind == schema.EventLost || e.Kind == schema.EventFound) {
			events = append(events, e)
		}
	}
	return schema.Annotate(events).Lost
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
