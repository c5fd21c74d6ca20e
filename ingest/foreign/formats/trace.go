package formats

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// errNoEvents means that a trace has no event to make a run from.
var errNoEvents = errors.New("no event has a duration")

// event is one event of a trace in Chrome's format. Its fields are the texts of the JSON values, strings with their
// quotation marks. They are valid until the next event is read. A trace has millions of events, so they are not decoded
// one by one.
type event struct {
	phase, category, name, process, ts, dur, args []byte
}

// scanEvent finds the fields of an event in the text of a JSON value.
func scanEvent(text jsontext.Value) (event, error) {
	var e event
	err := scanObject(text, func(name, value []byte) {
		switch string(name) {
		case `"ph"`:
			e.phase = value
		case `"cat"`:
			e.category = value
		case `"name"`:
			e.name = value
		case `"pid"`:
			e.process = value
		case `"ts"`:
			e.ts = value
		case `"dur"`:
			e.dur = value
		case `"args"`:
			e.args = value
		}
	})
	return e, err
}

// traceMember is the text of a member of a JSON object; nil if there is no such member, or no object.
func traceMember(object []byte, name string) []byte {
	var found []byte
	_ = scanObject(object, func(n, value []byte) { // what is no object has no members
		if len(n) == len(name)+2 && string(n[1:len(n)-1]) == name {
			found = value
		}
	})
	return found
}

// scanObject gives the members of an object, whose text is known to be valid JSON: names and strings as they stand, in
// quotation marks.
func scanObject(text []byte, f func(name, value []byte)) error {
	i := space(text, 0)
	if i == len(text) || text[i] != '{' {
		return fmt.Errorf("the event is not an object")
	}
	for i = space(text, i+1); i < len(text) && text[i] == '"'; {
		name := text[i : i+traceScalar(text[i:])]
		i = space(text, i+len(name))
		i = space(text, i+len(":"))
		value := text[i : i+length(text[i:])]
		f(name, value)
		i = space(text, i+len(value))
		if i < len(text) && text[i] == ',' {
			i = space(text, i+1)
		}
	}
	return nil
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// length is the length of the JSON value that a text begins with.
func length(text []byte) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\t', '\r', ',', ':':
			i++
		default:
			i += traceScalar(text[i:])
		}
		if depth <= 0 {
			return i
		}
	}
	return len(text)
}

// traceScalar is the length of the string, number or word that a text begins with.
func traceScalar(text []byte) int {
	if text[0] != '"' {
		if n := bytes.IndexAny(text, " \n\t\r,:]}"); n > 0 {
			return n
		}
		return len(text)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// unquoted is the text of a JSON string; empty for any other value.
func unquoted(text []byte) string {
	if len(text) == 0 || text[0] != '"' {
		return ""
	}
	var s string
	if foreign.Decode(text, &s) != nil {
		return ""
	}
	return s
}

// longest is the largest accepted time, so that the difference of two times does not overflow: 146 years, since 1970 or
// since a trace's own zero.
const longest = 1 << 62

// traceNanoseconds reads a time in µs, as traces have it, with up to three decimal places.
func traceNanoseconds(text []byte) (int64, error) {
	if ns, ok := decimal(text); ok {
		return ns, nil
	}
	var n foreign.Number
	if len(text) == 0 || n.UnmarshalJSON(text) != nil {
		return 0, fmt.Errorf("%q is not a time", foreign.Brief(string(text)))
	}
	ns := n.Finite("us")
	if ns == nil || math.Abs(*ns) >= longest {
		return 0, fmt.Errorf("%q is not a time", foreign.Brief(string(text)))
	}
	return int64(math.Round(*ns)), nil
}

// decimal reads digits with up to three decimal places as thousandths, exactly.
func decimal(text []byte) (n int64, ok bool) {
	const maxDigits = 19 // the dot among them
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	places := -1
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = 10*n + int64(c-'0')
			if places >= 0 {
				places++
			}
		case c == '.' && places < 0:
			places = 0
		default:
			return 0, false
		}
	}
	if places > 3 {
		return 0, false
	}
	for places = max(places, 0); places < 3; places++ {
		if n > longest/10 {
			return 0, false
		}
		n *= 10
	}
	return n, n < longest
}

// span is when the activity of an event began, and how long it took.
func (e *event) span() (start, took int64, err error) {
	if start, err = traceNanoseconds(e.ts); err != nil {
		return 0, 0, err
	}
	if took, err = traceNanoseconds(e.dur); err != nil {
		return 0, 0, err
	}
	if took < 0 {
		return 0, 0, fmt.Errorf("%q is not a duration", foreign.Brief(string(e.dur)))
	}
	return start, took, nil
}

// maxNames limits the bytes of the keys of operators, so that a trace with ever new names cannot use more memory.
const maxNames = 64 << 20

// perName is the memory of an operator in addition to its name.
const perName = 200

// opKey distinguishes operators.
type opKey struct{ name, kind, device string }

// ops adds up operators by name, kind and device.
type ops struct {
	all  []*opTotal // in the order in which they came first
	keys map[string]*opTotal
	room int // remaining bytes for names
}

type opTotal struct {
	opKey
	start, duration, count int64
	bytes                  *int64 // that it moved
}

func newOps() *ops { return &ops{keys: map[string]*opTotal{}, room: maxNames} }

// find gives the total of a key, and makes a new one with the function named if there is none. It gives nil if there is
// no room for a new one.
func (o *ops) find(key []byte, named func() opKey) *opTotal {
	if t := o.keys[string(key)]; t != nil {
		return t
	}
	k := named()
	o.room -= len(key) + len(k.name) + len(k.kind) + len(k.device) + perName
	if o.room < 0 {
		return nil
	}
	t := &opTotal{opKey: k, start: math.MaxInt64}
	o.all, o.keys[string(key)] = append(o.all, t), t
	return t
}

// add counts calls that began at a time and took so long together.
func (t *opTotal) add(start, duration, calls int64) error {
	if duration < 0 || calls < 0 {
		return fmt.Errorf("%d ns for %d calls is not a duration", duration, calls)
	}
	if t.duration > math.MaxInt64-duration || t.count > math.MaxInt64-calls {
		return fmt.Errorf("its durations add up to more than %d years", math.MaxInt64/int64(1e9)/86400/365)
	}
	t.start, t.duration, t.count = min(t.start, start), t.duration+duration, t.count+calls
	return nil
}

// list gives the operators of a run that began at a time.
func (o *ops) list(began int64) []schema.Op {
	list := make([]schema.Op, 0, len(o.all))
	for _, t := range o.all {
		if t.count == 0 {
			continue
		}
		var counters map[string]float64
		if t.bytes != nil {
			counters = map[string]float64{"bytes": float64(*t.bytes)}
		}
		list = append(list, schema.Op{
			Index: int64(len(list)), Name: t.name, Type: t.kind, Device: t.device,
			StartNS: new(t.start - began), DurationNS: new(t.duration), Count: new(t.count), Counters: counters,
		})
	}
	return list
}

// Metrics of how long the devices worked for a process: in kernels; in copies and sets of memory.
const (
	kernelTime = "kernel_time"
	memoryTime = "memory_time"
)

// noKernels warns of a profile without kernels: they were not traced, or the process ran none.
func noKernels(out *foreign.Output, r *schema.Run, has bool) {
	if has {
		return
	}
	const why = "the profile has no kernels"
	r.Warnings = append(r.Warnings, why)
	out.Note(why+", so there is no kernel_time", 1)
}

// addDeviceTimes gives a run the time of its kernels, and of its copies and sets, in ns; nil if it had none.
func addDeviceTimes(r *schema.Run, kernels, memory *int64) {
	for _, m := range []struct {
		name string
		time *int64
	}{{kernelTime, kernels}, {memoryTime, memory}} {
		if m.time != nil {
			metric := foreign.Series{Unit: "ns", Ticks: []int64{*m.time}}.Metric(m.name, schema.LevelProcess)
			metric.Better = schema.BetterLower
			foreign.Add(r, metric, "ns")
		}
	}
}

// plus adds to a sum that may not have begun.
func plus(sum *int64, n int64) *int64 {
	if sum == nil {
		return new(n)
	}
	*sum += min(n, math.MaxInt64-*sum)
	return sum
}
