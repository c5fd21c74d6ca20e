package runfile

import (
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Lost has, by run id and table, the reasons why runs lost rows.
type Lost map[string]map[string]string

// ReadLost reads from the events which runs have lost rows.
func ReadLost(f fs.FS) Lost {
	return schema.Annotate(eventsOf(f, schema.EventLost, schema.EventFound)).Lost
}

// ReadRemoved returns the runs that events remove, by id.
func ReadRemoved(f fs.FS) map[string]bool {
	return schema.Annotate(eventsOf(f, schema.EventRemove, schema.EventRestore)).Removed
}

// ReadPruned returns the times at which artifacts were pruned, by their hashes.
func ReadPruned(f fs.FS) map[string]time.Time {
	return schema.PrunedArtifacts(eventsOf(f, schema.EventPrune))
}

// MayLackRemoved reports whether an event says that removed runs may be in no file, and whether any event removes runs.
func MayLackRemoved(f fs.FS) (said, removes bool) {
	for _, e := range eventsOf(f, schema.EventAbsent, schema.EventRemove) {
		said, removes = said || e.Kind == schema.EventAbsent, removes || e.Kind == schema.EventRemove
	}
	return said, removes
}

// eventsOf reads the events of some kinds. Events that cannot be read are skipped; other code reports them.
func eventsOf(f fs.FS, kinds ...schema.EventKind) (events []schema.Event) {
	listed, err := schema.ListEvents(f)
	if err != nil {
		return nil
	}
	all, err := ListEvents(f, listed)
	if err != nil {
		return nil
	}
	for _, id := range all.IDs {
		if e, err := all.Read(id); err == nil && slices.Contains(kinds, e.Kind) {
			events = append(events, e)
		}
	}
	return events
}

// Loss counts the runs, samples and ops that damage destroyed.
type Loss struct {
	Runs    int // lost runs
	Samples int // remaining runs that lost samples
	Ops     int // remaining runs that lost ops
}

// Add adds another loss.
func (l *Loss) Add(o Loss) {
	l.Runs, l.Samples, l.Ops = l.Runs+o.Runs, l.Samples+o.Samples, l.Ops+o.Ops
}
