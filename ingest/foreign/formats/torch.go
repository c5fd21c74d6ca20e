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
	"github.com/neurolens/neurolens/schema/jsontext"
)

var torchProfiler = foreign.Format{
	Name:  "torch-profiler",
	About: "PyTorch: trace of torch.profiler (Kineto), often gzipped",
	Level: "a run is a trace of one process; a sample is one ProfilerStep; operators and kernels are added up by name, including those that they call",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("traceEvents") && h.HasAny("schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
			"traceEvents[].args.External id", "traceEvents[].args.Ev Idx", "traceEvents[].args.Record function id")
	},
	Read: readTorch,
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
	members := fieldsOf(&k.facts)
	members["traceEvents"] = func() error { return eachEvent(j, out, k.take) }
	err := j.Members(func(name string) error { return out.RefuseMismatch(members.take(j, name)) })
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
func (k *kineto) take(e *event) error {
	if string(e.Phase) != `"X"` || len(e.Category) == 0 {
		return nil
	}
	kind := e.Category[1:max(len(e.Category)-1, 1)]
	switch string(kind) {
	case "Trace": // the profiler itself
		return nil
	case "python_function":
		k.python++
		return nil
	}
	start, took, err := e.span()
	if err != nil {
		return err
	}
	k.nothing, k.began = false, min(k.began, start)
	if bytes.HasPrefix(e.Name, []byte(`"ProfilerStep#`)) {
		if !bytes.HasPrefix(kind, []byte("gpu_")) { // gpu_ events repeat the step on the device
			k.latencies = append(k.latencies, took)
		}
		return nil
	}
	return k.op(e, start, took)
}

// op adds a call of an operator or a kernel.
func (k *kineto) op(e *event, start, took int64) error {
	if len(e.Name) < len(`"x"`) || e.Name[0] != '"' {
		return fmt.Errorf("an event without a name")
	}
	place := placeOf(e.Category)
	onDevice := place != placeHost
	var device jsontext.Value
	if onDevice {
		if device = e.arguments().Device; len(device) == 0 {
			device = e.Process // for events on a device, it is the device
		}
	}
	k.key = append(append(append(append(append(k.key[:0], e.Category...), 0), e.Name...), 0), device...)
	total := k.ops.find(k.key, func() opKey {
		name := opKey{name: unquoted(e.Name), kind: unquoted(e.Category), device: "cpu"}
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
	placeNotes  // notes on a device, which are no work
)

// placeOf returns the place of the events of a category. Older versions use other words.
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
	Devices []struct {
		Name           string         `json:"name"`
		TotalGlobalMem foreign.Number `json:"totalGlobalMem"`
	} `json:"deviceProperties"`
	Distributed struct {
		Backend   foreign.Text   `json:"backend" fact:"distributed.backend"`
		Rank      foreign.Number `json:"rank" param:"rank"`
		WorldSize foreign.Number `json:"world_size" param:"world_size"`
	} `json:"distributedInfo"`
	Host    string         `json:"host_name" run:"Env.Hostname,Env.Machine"`
	Runtime foreign.Number `json:"cuda_runtime_version"` // that PyTorch came with: 12040
	Driver  foreign.Number `json:"cuda_driver_version"`  // the CUDA version that the driver supports
	Base    foreign.Number `json:"baseTimeNanoseconds"`  // ns since 1970 of the trace's zero

	// Recorded details, which cost time.
	Shapes  foreign.Text `json:"record_shapes" fact:"profiler.record_shapes"`
	Memory  foreign.Text `json:"profile_memory" fact:"profiler.profile_memory"`
	Stack   foreign.Text `json:"with_stack" fact:"profiler.with_stack"`
	Flops   foreign.Text `json:"with_flops" fact:"profiler.with_flops"`
	Modules foreign.Text `json:"with_modules" fact:"profiler.with_modules"`
}

// set sets the environment and the parameters of a run.
func (f *kinetoFacts) set(r *schema.Run) {
	describe(r, f)
	if len(f.Devices) > 0 {
		r.Env.GPUName, r.Env.GPUCount = f.Devices[0].Name, new(int64(len(f.Devices)))
		for _, d := range f.Devices {
			if d.Name != f.Devices[0].Name {
				r.Env.GPUName = ""
			}
		}
	}
	r.Env.CUDAVersion = cudaVersion(f.Driver)
	foreign.SetFact(r, "cuda.runtime_version", cudaVersion(f.Runtime))
}

// start returns when the trace began, in ns since 1970. Older traces have such times in their events.
func (f *kinetoFacts) start(first int64) (int64, bool) {
	const year2000 = 946684800e9
	base := f.Base.Int64()
	switch {
	case base != nil && *base > 0 && first <= math.MaxInt64-*base:
		return *base + first, true
	case base == nil && first > year2000:
		return first, true
	}
	return 0, false
}
