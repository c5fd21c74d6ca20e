package formats

import (
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
// quotation marks, because a trace has millions of events, and most texts are only compared. They are valid until the
// next event is read.
type event struct {
	Phase    jsontext.Value `json:"ph"`
	Category jsontext.Value `json:"cat"`
	Name     jsontext.Value `json:"name"`
	Process  jsontext.Value `json:"pid"`
	TS       jsontext.Value `json:"ts"`
	Dur      jsontext.Value `json:"dur"`
	Args     jsontext.Value `json:"args"`
	read     eventArguments // see arguments
}

// eachEvent reads an array of events. An event that does not fit, and one that take refuses, is refused by itself.
func eachEvent(j *foreign.JSON, out *foreign.Output, take func(*event) error) error {
	var e event
	return j.Elements(func(int) error {
		text, err := j.Value()
		if err != nil {
			return err
		}
		for _, field := range []*jsontext.Value{&e.Phase, &e.Category, &e.Name, &e.Process, &e.TS, &e.Dur, &e.Args} {
			*field = (*field)[:0] // their memory is used again
		}
		if text.Kind() != jsontext.KindBeginObject {
			err = errNoObject
		} else if err = foreign.Decode(text, &e); err == nil {
			err = take(&e)
		}
		if err != nil {
			out.Refuse(j.Where(), err)
		}
		return nil
	})
}

var errNoObject = errors.New("the event is not an object")

// eventArguments are the arguments of an event that are read.
type eventArguments struct {
	Device   jsontext.Value `json:"device"`
	Op       jsontext.Value `json:"op_name"`
	Provider jsontext.Value `json:"provider"`
}

func (e *event) arguments() *eventArguments {
	a := &e.read
	a.Device, a.Op, a.Provider = a.Device[:0], a.Op[:0], a.Provider[:0]
	_ = foreign.Decode(e.Args, a) // a value of another kind has no arguments
	return a
}

// unquoted returns the text of a JSON string; empty for any other value.
func unquoted(text jsontext.Value) (s string) {
	if text.Kind() != jsontext.KindString || foreign.Decode(text, &s) != nil {
		return ""
	}
	return s
}

// longest is the largest accepted time, so that the difference of two times does not overflow: 146 years, since 1970 or
// since a trace's own zero.
const longest = 1 << 62

// traceNanoseconds reads a time in µs, the unit of traces, with up to three decimal places.
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

// span returns when the activity of an event began, and how long it took.
func (e *event) span() (start, took int64, err error) {
	if start, err = traceNanoseconds(e.TS); err != nil {
		return 0, 0, err
	}
	if took, err = traceNanoseconds(e.Dur); err != nil {
		return 0, 0, err
	}
	if took < 0 {
		return 0, 0, fmt.Errorf("%q is not a duration", foreign.Brief(string(e.Dur)))
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

// find returns the total of a key, and makes a new one with the function named if there is none. It returns nil if there is no room for
// a new one.
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

// add counts calls that began at a time and have the given total duration.
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

// list returns the operators of a run that began at a time.
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

// noKernels adds a warning to a profile without kernels: they were not traced, or the process ran none.
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
