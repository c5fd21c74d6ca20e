package schema

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func event(n int, kind EventKind, key, value string, runs ...string) Event {
	return Event{EventID: NewULID(day(n)).String(), Kind: kind, At: day(n), Runs: runs, Key: key, Value: value}
}

// TestAnnotate: the later event outweighs the earlier one, in whatever order and how often they are read.
func TestAnnotate(t *testing.T) {
	a, b := NewULID(day(1)).String(), NewULID(day(2)).String()
	events := []Event{
		event(1, EventRemove, "", "", a, b), event(2, EventRestore, "", "", b),
		event(3, EventTag, "k", "1", a, b), event(4, EventTag, "k", "2", a), event(5, EventUntag, "k", "", b), event(6, EventUntag, "old", "", a),
		event(7, EventTag, "old", "", a), event(8, EventNote, "", "one", a), event(9, EventNote, "", "two", a),
		event(10, EventBless, "main", "", a), event(11, EventBless, "main", "", b), event(12, EventBless, "gone", ""),
		event(13, EventLost, "samples", "why", a, b), event(14, EventLost, "ops", "why", a), event(15, EventFound, "samples", "", b), event(16, EventFound, "ops", "", a),
	}
	want := Annotations{
		Removed: map[string]bool{a: true}, Tags: map[string]map[string]string{a: {"k": "2", "old": ""}, b: {}},
		Untagged: map[string][]string{a: {}, b: {"k"}}, Notes: map[string][]Note{a: {{day(8), "one"}, {day(9), "two"}}},
		Baselines: map[string][]string{"main": {b}, "gone": nil},
		Lost:      map[string]map[string]string{a: {"samples": "why"}},
	}
	for range 20 {
		shuffled := append(append([]Event{}, events...), events[:4]...)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := Annotate(shuffled); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nwant %+v", got, want)
		}
	}
}

func TestEventRoundTrip(t *testing.T) {
	run := NewULID(day(1)).String()
	for _, e := range []Event{
		event(1, EventRemove, "", "", run), event(2, EventTag, "k", "\x00\n\"v", run, run), event(3, EventNote, "", "text", run), event(4, EventBless, "b", ""),
	} {
		line := valuetest.Must(e.Encode())
		back, err := DecodeEvent(line)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s is read as %+v, %v", line, back, err)
		}
		for i := range line {
			flipped := append([]byte{}, line...)
			flipped[i] ^= 0x20
			if back, err := DecodeEvent(flipped); !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d flipped: read as %+v, %v", i, back, err)
			}
		}
	}
	for _, bad := range []Event{
		{},
		event(1, "explode", "", "", run), event(1, EventTag, "", "v", run), event(1, EventRemove, "k", "", run),
		event(1, EventRemove, "", ""), event(1, EventRemove, "", "", "x"), event(1, EventNote, "", "", run),
		event(1, EventNote, "", "caf\xe9", run), event(1, EventTag, "\xff", "v", run), event(1, EventUntag, "\xff", "", run),
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}

// TestLaterEvent: what a later version adds, a member or a kind, is no damage, and says nothing here.
func TestLaterEvent(t *testing.T) {
	run := NewULID(day(1)).String()
	for kind, known := range map[EventKind]bool{EventNote: true, "explode": false} {
		line := valuetest.Must(SignJSON(struct {
			Event
			Author string `json:"author"`
		}{event(1, kind, "", "text", run), "ada <&>"}))
		e, err := DecodeEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if notes := Annotate([]Event{e}).Notes[run]; (len(notes) > 0) != known {
			t.Errorf("%s: notes %v", kind, notes)
		}
	}
}

func FuzzDecodeEvent(f *testing.F) {
	line := valuetest.Must(event(1, EventTag, "k", "v", NewULID(day(1)).String()).Encode())
	f.Add(line)
	f.Fuzz(func(t *testing.T, line []byte) {
		if e, err := DecodeEvent(line); err == nil && slices.Contains(eventKinds, e.Kind) && e.Validate() != nil {
			t.Errorf("%+v", e)
		}
	})
}
