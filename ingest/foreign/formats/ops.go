package formats

import (
	"fmt"
	"math"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

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
