package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// EventKind is the effect of an event on runs.
type EventKind string

// The kinds of events.
const (
	EventRemove  EventKind = "remove"  // hides the runs
	EventRestore EventKind = "restore" // shows them again
	EventTag     EventKind = "tag"     // sets the tag Key to Value
	EventUntag   EventKind = "untag"   // removes the tag Key, even if the run was stored with it
	EventNote    EventKind = "note"    // adds the text Value to the notes of the runs
	EventBless   EventKind = "bless"   // makes these runs, and no others, the baseline with the name Key
	EventLost    EventKind = "lost"    // damage destroyed rows of the table Key, samples or ops; Value is the reason
	EventFound   EventKind = "found"   // lost rows were found again
	EventPrune   EventKind = "prune"   // the artifacts with the hashes Value were removed to save room; it has no runs
	EventAbsent  EventKind = "absent"  // runs that events remove may be in no file; it has no runs
)

var eventKinds = []EventKind{EventRemove, EventRestore, EventTag, EventUntag, EventNote, EventBless, EventLost, EventFound, EventPrune, EventAbsent}

// Event is a change to stored runs, such as a tag. It never changes; later events override earlier ones.
type Event struct {
	EventID string    `json:"event_id"` // ULID; events apply in the order of their ids
	Kind    EventKind `json:"kind"`
	At      time.Time `json:"at"` // UTC
	Runs    []string  `json:"runs"`
	Key     string    `json:"key,omitempty"`   // the key of a tag, the name of a baseline, or the table whose rows were lost or found
	Value   string    `json:"value,omitempty"` // the value of a tag, the text of a note, why rows were lost or runs removed, or hashes separated by spaces
}

// Validate returns an error if the event is incomplete or contradicts itself.
func (e *Event) Validate() error {
	if _, err := ParseULID(e.EventID); err != nil {
		return fmt.Errorf("event_id: %w", err)
	}
	if !slices.Contains(eventKinds, e.Kind) {
		return fmt.Errorf("kind %q: want one of %v", e.Kind, eventKinds)
	}
	if e.At.IsZero() {
		return errors.New("the time is missing")
	}
	if len(e.Runs) == 0 && e.Kind != EventBless && e.Kind != EventPrune && e.Kind != EventAbsent {
		return fmt.Errorf("%s needs at least one run", e.Kind)
	}
	if e.Kind == EventAbsent && (len(e.Runs) > 0 || e.Value != "") {
		return errors.New("an event that runs are absent names none, and has no value")
	}
	if e.Kind == EventPrune && (len(e.Runs) > 0 || !areHashes(e.Value)) {
		return errors.New("a prune needs hashes of artifacts, and no runs")
	}
	for _, id := range e.Runs {
		if _, err := ParseULID(id); err != nil {
			return fmt.Errorf("runs: %w", err)
		}
	}
	keyed := e.Kind == EventTag || e.Kind == EventUntag || e.Kind == EventBless || e.Kind == EventLost || e.Kind == EventFound
	if keyed != (e.Key != "") {
		return fmt.Errorf("key %q does not fit %s", e.Key, e.Kind)
	}
	if (e.Kind == EventNote) && e.Value == "" {
		return errors.New("the note is empty")
	}
	for _, text := range []string{e.Key, e.Value} {
		if !utf8.ValidString(text) { // JSON would hold another text
			return fmt.Errorf("%q is not UTF-8", text)
		}
	}
	return nil
}

// Encode prints the event as one line of JSON that ends with its SHA-256.
func (e Event) Encode() ([]byte, error) {
	b, err := SignJSON(e)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", e.EventID, err)
	}
	if len(b) > maxNames {
		return nil, fmt.Errorf("event %s: %d runs do not fit into one event, which may have %d bytes", e.EventID, len(e.Runs), maxNames)
	}
	return b, nil
}

// DecodeEvent reads a line that Encode printed. Kinds that a later version added are accepted, and readers ignore them. The error wraps
// ErrDamaged.
func DecodeEvent(line []byte) (Event, error) {
	var e Event
	if err := ReadSignedJSON(line, &e); err != nil {
		return Event{}, fmt.Errorf("event %.30q: %w", e.EventID, err)
	}
	err := e.Validate()
	if !slices.Contains(eventKinds, e.Kind) {
		_, err = ParseULID(e.EventID)
	}
	if err != nil {
		return Event{}, fmt.Errorf("%w: event %s: %w", ErrDamaged, e.EventID, err)
	}
	return e, nil
}

// ReadEvent reads the file of an event. The error wraps fs.ErrNotExist if the file does not exist, and ErrDamaged if it does not contain
// that event.
func ReadEvent(store fs.FS, id ULID) (Event, error) {
	content, err := ReadNames(store, EventFile(id))
	if err != nil {
		return Event{}, err
	}
	e, err := DecodeEvent(content)
	if err == nil && e.EventID != id.String() {
		err = fmt.Errorf("%w: its content is event %s", ErrDamaged, e.EventID)
	}
	return e, err
}

// Note is a text about a run.
type Note struct {
	At   time.Time
	Text string
}

// Annotations are the combined result of all events.
type Annotations struct {
	Removed   map[string]bool              // by run id; only true
	Tags      map[string]map[string]string // by run id and key: tags that events set; they override the tags stored with a run
	Untagged  map[string][]string          // by run id: keys of tags that were taken away
	Notes     map[string][]Note            // by run id, in order
	Baselines map[string][]string          // by name: run ids
	Lost      map[string]map[string]string // by run id and table (samples, ops): why some or all rows of the run are gone
}

// Annotate applies events in the order of their ids, in whatever order they are passed. An event that appears twice counts once.
func Annotate(events []Event) Annotations {
	ordered := slices.SortedFunc(slices.Values(events), func(a, b Event) int { return strings.Compare(a.EventID, b.EventID) })
	ordered = slices.CompactFunc(ordered, func(a, b Event) bool { return a.EventID == b.EventID })
	a := Annotations{
		Removed: map[string]bool{}, Tags: map[string]map[string]string{}, Untagged: map[string][]string{},
		Notes: map[string][]Note{}, Baselines: map[string][]string{}, Lost: map[string]map[string]string{},
	}
	for _, e := range ordered {
		if e.Kind == EventBless {
			a.Baselines[e.Key] = e.Runs
		}
		for _, run := range e.Runs {
			a.apply(&e, run)
		}
	}
	return a
}

// apply applies an event to one of its runs.
func (a *Annotations) apply(e *Event, run string) {
	switch e.Kind {
	case EventRemove:
		a.Removed[run] = true
	case EventRestore:
		delete(a.Removed, run)
	case EventTag:
		if a.Tags[run] == nil {
			a.Tags[run] = map[string]string{}
		}
		a.Tags[run][e.Key] = e.Value
		a.Untagged[run] = slices.DeleteFunc(a.Untagged[run], func(key string) bool { return key == e.Key })
	case EventUntag:
		delete(a.Tags[run], e.Key)
		if !slices.Contains(a.Untagged[run], e.Key) {
			a.Untagged[run] = append(a.Untagged[run], e.Key)
		}
	case EventNote:
		a.Notes[run] = append(a.Notes[run], Note{e.At, e.Value})
	case EventLost:
		if a.Lost[run] == nil {
			a.Lost[run] = map[string]string{}
		}
		a.Lost[run][e.Key] = e.Value
	case EventFound:
		if delete(a.Lost[run], e.Key); len(a.Lost[run]) == 0 {
			delete(a.Lost, run)
		}
	}
}
