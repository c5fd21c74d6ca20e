package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

// eventOfMany returns an event of so many runs, in no order.
func eventOfMany(runs int) Event {
	random := rand.New(rand.NewPCG(1, 2))
	e := event(1, EventTag, "k", `a "runs":["x"] value`)
	for range runs {
		e.Runs = append(e.Runs, NewULID(time.UnixMilli(1_700_000_000_000+random.Int64N(1<<32))).String())
	}
	return e
}

// TestRunSet: a set answers alike whether it is read from its file, from the event, or from the event because the file
// is damaged or gone.
func TestRunSet(t *testing.T) {
	e := eventOfMany(3*runSetBlock + 2000)
	e.Runs = append(e.Runs, e.Runs[7])
	id, line, content := must(ParseULID(e.EventID)), must(e.Encode()), must(EncodeRunSet(e))
	want := slices.Compact(slices.Sorted(slices.Values(e.Runs)))
	ids := must(ParseULIDs(want))
	flipped := bytes.Clone(content)
	for at := bytes.IndexByte(flipped, '\n') + 5; at < len(flipped); at += runSetBlock * len(ULID{}) {
		flipped[at] ^= 1
	}
	store := fstest.MapFS{EventFile(id): {Data: line}, RunSetFile(id): {Data: content}}
	damaged := fstest.MapFS{EventFile(id): {Data: line}, RunSetFile(id): {Data: flipped}}
	gone := fstest.MapFS{EventFile(id): {Data: line}, RunSetFile(id): {Data: content}}
	sets := map[string]func() (Event, *RunSet, error){
		"the form":         func() (Event, *RunSet, error) { return ReadRunSet(store, id) },
		"the event":        func() (Event, *RunSet, error) { return ReadEventRuns(store, id) },
		"the damaged form": func() (Event, *RunSet, error) { return ReadRunSet(damaged, id) },
		"the form, gone": func() (Event, *RunSet, error) {
			gone[RunSetFile(id)] = &fstest.MapFile{Data: content}
			e, set, err := ReadRunSet(gone, id)
			delete(gone, RunSetFile(id))
			return e, set, err
		},
	}
	for name, read := range sets {
		for _, place := range []int{0, 1, runSetBlock - 1, runSetBlock, runSetBlock + 1, 2*runSetBlock + 77, len(ids) - 1} {
			said, set, err := read()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if whole := e; set.Len() != len(ids) {
				t.Errorf("%s: %d runs, want %d", name, set.Len(), len(ids))
			} else if whole.Runs = nil; !reflect.DeepEqual(said, whole) {
				t.Errorf("%s: %+v, want %+v", name, said, whole)
			}
			if n, err := set.CountFrom(ids[place]); n != len(ids)-place || err != nil {
				t.Errorf("%s: %d from %d, %v", name, n, place, err)
			}
			other := ids[place]
			other[15]++
			if in, err := set.Among([]ULID{{}, ids[place], other, {0xff}}); !slices.Equal(in, ids[place:place+1]) || err != nil {
				t.Errorf("%s: %v of %v, %v", name, in, ids[place], err)
			}
			to := min(place+runSetBlock+5, len(ids)-1)
			if got, err := set.Between(ids[place], ids[to]); !slices.Equal(got, ids[place:to+1]) || err != nil {
				t.Errorf("%s: %d ids from %d to %d, %v", name, len(got), place, to, err)
			}
			if all, err := set.All(); !slices.Equal(all, ids) || err != nil {
				t.Errorf("%s: %d ids, %v", name, len(all), err)
			}
		}
	}
	whole, err := ReadWholeRunSet(store, id)
	if err != nil || !slices.Equal(whole.Runs, want) {
		t.Errorf("%d runs, %v", len(whole.Runs), err)
	}
	if _, err := ReadWholeRunSet(damaged, id); !errors.Is(err, ErrDamaged) {
		t.Errorf("the damaged form: %v", err)
	}
}

// TestDecodeEventRuns: an event with a run set is decoded like every other one, also one that is printed in another way; a damaged one is
// refused.
func TestDecodeEventRuns(t *testing.T) {
	e := eventOfMany(minRunSet)
	line := must(e.Encode())
	if _, _, ok := decodeManyRuns(line); !ok {
		t.Error("the usual print is not decoded")
	}
	type later struct {
		Nested struct{ Runs []string } `json:"nested"`
		Event
	}
	other := later{Event: e}
	other.Nested.Runs = e.Runs[:1]
	for name, line := range map[string][]byte{"usual": line, "with a member before": must(SignJSON(other))} {
		got, set, err := DecodeEventRuns(line)
		if err != nil || set == nil || got.Runs != nil || got.Value != e.Value {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if all, err := set.All(); err != nil || !slices.Equal(all, distinctIDs(must(ParseULIDs(e.Runs)))) {
			t.Errorf("%s: %d runs, %v", name, len(all), err)
		}
	}
	for at := 0; at < len(line); at += 1 + len(line)/500 {
		flipped := bytes.Clone(line)
		flipped[at] ^= 0x20
		if _, _, err := DecodeEventRuns(flipped); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
	bless := e
	bless.Kind = EventBless
	if got, set, err := DecodeEventRuns(must(bless.Encode())); err != nil || set != nil || len(got.Runs) != minRunSet {
		t.Errorf("a baseline: %d runs, %v, %v", len(got.Runs), set, err)
	}
}

// FuzzReadRunSet: whatever a run set has, reading it is refused or gives an event with all the runs that it counts.
func FuzzReadRunSet(f *testing.F) {
	e := eventOfMany(2*runSetBlock + 3)
	content := must(EncodeRunSet(e))
	head := content[:bytes.IndexByte(content, '\n')+1]
	id := must(ParseULID(e.EventID))
	for _, line := range []string{
		`{"event_id":"` + e.EventID + `","kind":"tag","count":-1}`, `{"event_id":"` + e.EventID + `","kind":"tag","count":4611686018427387904}`,
		`{"event_id":"` + e.EventID + `","kind":"tag","count":1,"firsts":"AA==","sums":"AA=="}`,
	} {
		f.Add(must(SignJSON(json.RawMessage(line))))
	}
	f.Add(content)
	f.Add(head)
	f.Add(content[:len(content)-1])
	f.Fuzz(func(t *testing.T, content []byte) {
		if line, ids, _ := bytes.Cut(content, []byte("\n")); json.Valid(line) {
			if signed, err := SignJSON(json.RawMessage(line)); err == nil { // so mutations get behind the hash
				content = append(signed, ids...)
			}
		}
		store := fstest.MapFS{RunSetFile(id): {Data: content}}
		got, err := ReadWholeRunSet(store, id)
		if err != nil {
			return
		}
		again := must(EncodeRunSet(got))
		if read, err := ReadWholeRunSet(fstest.MapFS{RunSetFile(id): {Data: again}}, id); err != nil || !reflect.DeepEqual(read, got) {
			t.Errorf("it is read as %+v, and again as %+v, %v", got, read, err)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
