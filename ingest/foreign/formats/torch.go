package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

func torchProfiler() foreign.Format {
	return foreign.Format{
		Name:  "torch-profiler",
		About: "PyTorch: trace of torch.profiler (Kineto), often gzipped",
		Level: "a run is a trace of one process; a sample is one ProfilerStep; operators and kernels are added up by name, including those that they call",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("traceEvents") && h.HasAny("schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
				"traceEvents[].args.External id", "traceEvents[].args.Ev Idx", "traceEvents[].args.Record function id")
		},
		Read: readTorch,
	}
}

// kineto reads a trace.
type kineto struct {
	out   *foreign.Output
	facts kinetoFacts
	ops   *ops
	key   []byte // of the operator at hand

	began     int64   // first event, in ns of the trace's clock
	latencies []int64 // of steps
	kernels   *int64  // time of kernels
	memory    *int64  // of copies and sets
	xpu       bool
	noRoom    int
	python    int
	nothing   bool // of events
}

func readTorch(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	k := &kineto{out: out, ops: newOps(), began: math.MaxInt64, nothing: true}
	err := j.Members(func(name string) error {
		if name != "traceEvents" {
			return out.RefuseMismatch(k.facts.read(j, name))
		}
		return out.RefuseMismatch(j.Elements(func(int) error {
			text, err := j.Value()
			if err != nil {
				return err
			}
			if err := k.take(text); err != nil {
				out.Refuse(j.Where(), err)
			}
			return nil
		}))
	})
	r := k.run()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.Warnings = append(r.Warnings, "the trace is cut off")
	}
	if len(r.Metrics) == 0 && !k.nothing {
		out.Note(noMeasure, 1)
		r.Warnings = append(r.Warnings, noMeasure)
		r.Env.Missing = map[string]string{"metric.latency": noMeasure}
	}
	if k.python > 0 {
		out.LeaveOut("calls of Python functions", k.python)
	}
	if k.noRoom > 0 {
		out.LeaveOut("calls of operators after the first 64 MiB of names", k.noRoom)
	}
	if k.nothing {
		out.Refuse("/traceEvents", errNoEvents)
	} else if stop := out.Run("/traceEvents", r); stop != nil {
		return stop
	}
	return err
}

// noMeasure is the note for a trace that has only operators.
const noMeasure = "the trace has neither steps (ProfilerStep) nor kernels: operators alone, and no metric"

// take adds an event to the trace.
func (k *kineto) take(text []byte) error {
	e, err := scanEvent(text)
	if err != nil || string(e.phase) != `"X"` || len(e.category) == 0 {
		return err
	}
	kind := e.category[1:max(len(e.category)-1, 1)]
	if string(kind) == "Trace" { // the profiler itself
		return nil
	}
	if string(kind) == "python_function" {
		k.python++
		return nil
	}
	start, took, err := e.span()
	if err != nil {
		return err
	}
	k.nothing, k.began = false, min(k.began, start)
	if bytes.HasPrefix(e.name, []byte(`"ProfilerStep#`)) {
		if !bytes.HasPrefix(kind, []byte("gpu_")) { // which repeats the step, on the device
			k.latencies = append(k.latencies, took)
		}
		return nil
	}
	return k.op(&e, start, took)
}

// op adds a call of an operator or a kernel.
func (k *kineto) op(e *event, start, took int64) error {
	if len(e.name) < len(`"x"`) || e.name[0] != '"' {
		return fmt.Errorf("an event without a name")
	}
	place := placeOf(e.category)
	onDevice := place != placeHost
	var device []byte
	if onDevice {
		if device = traceMember(e.args, "device"); len(device) == 0 {
			device = e.process // which is the device, of what goes on there
		}
	}
	k.key = append(append(append(append(append(k.key[:0], e.category...), 0), e.name...), 0), device...)
	total := k.ops.find(k.key, func() opKey {
		name := opKey{name: unquoted(e.name), kind: unquoted(e.category), device: "cpu"}
		switch {
		case onDevice && len(device) > 0:
			name.device = "cuda:" + foreign.TextOf(device)
		case onDevice:
			name.device = "cuda"
		}
		k.xpu = k.xpu || strings.HasPrefix(name.kind, "xpu_")
		return name
	})
	if total == nil {
		k.noRoom++
		return nil
	}
	switch place {
	case placeKernel:
		k.kernels = plus(k.kernels, took)
	case placeMemory:
		k.memory = plus(k.memory, took)
	}
	return total.add(start, took, 1)
}

// A place is where an event happened.
type place int

const (
	placeHost place = iota
	placeKernel
	placeMemory // of a device: copies and sets
	placeNotes  // on a device, which do no work
)

// placeOf is the place of the events of a category. Older versions use other words.
func placeOf(category []byte) place {
	switch string(category) {
	case `"kernel"`, `"Kernel"`:
		return placeKernel
	case `"gpu_memcpy"`, `"gpu_memset"`, `"Memcpy"`, `"Memset"`:
		return placeMemory
	case `"gpu_user_annotation"`:
		return placeNotes
	}
	return placeHost
}

func (k *kineto) run() schema.Run {
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: "torch", Backend: "torch"}
	k.facts.set(&r)
	if len(k.latencies) > 0 {
		series := foreign.Series{Unit: "ns", Given: "us", Ticks: k.latencies}
		foreign.Add(&r, series.Metric("latency", schema.LevelIteration), series.Given)
	}
	addDeviceTimes(&r, k.kernels, k.memory)
	r.Ops = k.ops.list(k.began)
	if k.xpu {
		for i := range r.Ops {
			if rest, ok := strings.CutPrefix(r.Ops[i].Device, "cuda"); ok {
				r.Ops[i].Device = "xpu" + rest
			}
		}
	}
	if began, ok := k.facts.start(k.began); ok && !k.nothing {
		foreign.SetStart(&r, time.Unix(0, began), schema.TimeFile)
	}
	return r
}

// kinetoFacts are the members of a trace besides its events.
type kinetoFacts struct {
	devices []struct {
		Name           string         `json:"name"`
		TotalGlobalMem foreign.Number `json:"totalGlobalMem"`
	}
	distributed struct {
		Backend   foreign.Text   `json:"backend"`
		Rank      foreign.Number `json:"rank"`
		WorldSize foreign.Number `json:"world_size"`
	}
	host      string
	runtime   foreign.Number    // of CUDA, that PyTorch came with: 12040
	driver    foreign.Number    // of CUDA, that the driver is for
	base      foreign.Number    // ns since 1970 of the trace's zero
	overheads map[string]string // what the profiler recorded, which costs time
}

// read reads a member of the trace.
func (f *kinetoFacts) read(j *foreign.JSON, name string) error {
	switch name {
	case "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules":
		var text foreign.Text
		if err := j.Decode(&text); err != nil {
			return err
		}
		foreign.Put(&f.overheads, name, string(text))
		return nil
	}
	return decodeMember(j, name, map[string]any{
		"deviceProperties": &f.devices, "distributedInfo": &f.distributed, "host_name": &f.host, "cuda_runtime_version": &f.runtime,
		"cuda_driver_version": &f.driver, "baseTimeNanoseconds": &f.base,
	})
}

// set sets the environment and the parameters of a run.
func (f *kinetoFacts) set(r *schema.Run) {
	r.Env.Hostname, r.Env.Machine = f.host, f.host
	if len(f.devices) > 0 {
		r.Env.GPUName = f.devices[0].Name
		for _, d := range f.devices {
			if d.Name != r.Env.GPUName {
				r.Env.GPUName = ""
			}
		}
		r.Env.GPUCount = new(int64(len(f.devices)))
	}
	r.Env.CUDAVersion = cudaVersion(f.driver)
	foreign.SetFact(r, "cuda.runtime_version", cudaVersion(f.runtime))
	foreign.SetFact(r, "distributed.backend", string(f.distributed.Backend))
	foreign.SetParam(r, "rank", string(f.distributed.Rank))
	foreign.SetParam(r, "world_size", string(f.distributed.WorldSize))
	for name, text := range f.overheads {
		foreign.SetFact(r, "profiler."+name, text)
	}
}

// start is when the trace began, in ns since 1970. Older traces have such times in their events.
func (f *kinetoFacts) start(first int64) (int64, bool) {
	const year2000 = 946684800e9
	base := f.base.Int64()
	switch {
	case base != nil && *base > 0 && first <= math.MaxInt64-*base:
		return *base + first, true
	case base == nil && first > year2000:
		return first, true
	}
	return 0, false
}
