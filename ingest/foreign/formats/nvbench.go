package formats

import (
	"fmt"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// nvbench are the formats of NVBench.
func nvbench() []foreign.Format {
	return []foreign.Format{
		{
			Name:  "nvbench",
			About: "NVBench: JSON (--json), with the sample times beside it (--jsonbin)",
			Level: "a run is a state on a device, a sample is an isolated execution of the kernel (--jsonbin)",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("benchmarks") && (h.Has("meta.version.nvbench") || h.Has("devices[].sm_version"))
			},
			Read: readNVBench,
		},
		{
			Name:      "nvbench-samples",
			About:     "NVBench: the sample times and frequencies of --jsonbin",
			Side:      "read together with the JSON file that names it",
			Recognize: isNVBenchSamples,
		},
	}
}

type nvbenchMeta struct {
	Argv    []string `json:"argv"`
	Version struct {
		NVBench struct {
			Text string `json:"string"`
			SHA  string `json:"git_sha"`
		} `json:"nvbench"`
	} `json:"version"`
}

type nvbenchDevice struct {
	ID        foreign.Number `json:"id"`
	Name      string         `json:"name"`
	SM        foreign.Text   `json:"sm_version"`
	PTX       foreign.Text   `json:"ptx_version"`
	Clock     foreign.Text   `json:"sm_default_clock_rate"`
	SMs       foreign.Text   `json:"number_of_sms"`
	Memory    foreign.Text   `json:"global_memory_size"`
	Bandwidth foreign.Text   `json:"global_memory_bus_bandwidth"`
	L2        foreign.Text   `json:"l2_cache_size"`
	ECC       foreign.Text   `json:"ecc_state"`
}

// nvbenchFile reads a file.
type nvbenchFile struct {
	in  *foreign.Input
	j   *foreign.JSON
	out *foreign.Output

	meta    nvbenchMeta
	devices []nvbenchDevice
	known   bool // meta and devices were read already
}

// readNVBench reads the output of one launch, or of several that were appended.
func readNVBench(in *foreign.Input, out *foreign.Output) error {
	f := &nvbenchFile{in: in, out: out}
	if err := f.readAhead(); err != nil {
		return err
	}
	j, err := in.JSON()
	if err != nil {
		return err
	}
	f.j = j
	for first := true; first || j.Kind() == '{'; first = false {
		if err := out.RefuseMismatch(f.read()); err != nil {
			return err
		}
		f.meta, f.devices, f.known = nvbenchMeta{}, nil, false
	}
	return nil
}

// readAhead reads the members after the benchmarks, if another program wrote the file again with sorted members.
func (f *nvbenchFile) readAhead() error {
	if !f.in.Head.Whole && f.in.Head.Has("devices") {
		return nil
	}
	ahead, err := f.in.Ahead()
	if err != nil {
		return err
	}
	defer ahead.Close()
	j, err := ahead.JSON()
	if err != nil {
		return err
	}
	f.known = true
	_ = j.Members(func(name string) error { return f.readHeader(j, name) }) // errors are reported when the benchmarks are read
	return nil
}

// readHeader reads a member that applies to all benchmarks.
func (f *nvbenchFile) readHeader(j *foreign.JSON, name string) error {
	switch name {
	case "meta":
		err := f.out.RefuseMismatch(j.Decode(&f.meta))
		f.out.Version(f.meta.Version.NVBench.Text)
		return err
	case "devices":
		return f.out.RefuseMismatch(j.Decode(&f.devices))
	}
	return j.Skip()
}

func (f *nvbenchFile) read() error {
	return f.j.Members(func(name string) error {
		switch {
		case name == "benchmarks":
			return f.out.RefuseMismatch(f.j.Elements(func(int) error { return f.out.RefuseMismatch(f.readBenchmark()) }))
		case f.known:
			return f.j.Skip()
		}
		return f.readHeader(f.j, name)
	})
}

// readBenchmark reads a benchmark, whose name comes before its states.
func (f *nvbenchFile) readBenchmark() error {
	benchmark := ""
	return f.j.Members(func(name string) error {
		switch name {
		case "name":
			return f.out.RefuseMismatch(f.j.Decode(&benchmark))
		case "states":
			if f.j.Kind() == 'n' {
				return f.j.Skip()
			}
			return f.out.RefuseMismatch(f.j.Elements(func(int) error { return f.readState(benchmark) }))
		}
		return f.j.Skip()
	})
}

// nvbenchState is a combination of the axes on a device.
type nvbenchState struct {
	Device     foreign.Text     `json:"device"`
	AxisValues []nvbenchValue   `json:"axis_values"`
	Summaries  nvbenchSummaries `json:"summaries"`
	IsSkipped  bool             `json:"is_skipped"`
	SkipReason string           `json:"skip_reason"`
}

// nvbenchValue is a named value. In newer files all numbers are texts.
type nvbenchValue struct {
	Name  string       `json:"name"`
	Value foreign.Text `json:"value"`
}

func (f *nvbenchFile) readState(benchmark string) error {
	var state nvbenchState
	if err := f.j.Decode(&state); err != nil {
		return f.out.RefuseMismatch(err)
	}
	where := f.j.Where()
	if benchmark == "" {
		f.out.Refuse(where, fmt.Errorf("the benchmark has no name"))
		return nil
	}
	r := f.run(benchmark, &state)
	if state.IsSkipped {
		r.Status, r.Error = schema.StatusSkipped, state.SkipReason
		return f.out.Run(where, r)
	}
	f.addMeasured(&r, state.Summaries)
	return f.out.Run(where, r)
}

// run makes a run of a state without its results. Benchmarks of many programs have the same name, base, so the program is
// a part of it.
func (f *nvbenchFile) run(benchmark string, state *nvbenchState) schema.Run {
	r := schema.Run{Benchmark: benchmark}
	if len(f.meta.Argv) > 0 {
		program := path.Base(strings.ReplaceAll(f.meta.Argv[0], `\`, "/"))
		if program = strings.TrimSuffix(program, ".exe"); program != "." && program != "/" {
			r.Benchmark = program + "/" + benchmark
		}
	}
	device := "device"
	for _, axis := range state.AxisValues {
		foreign.SetParam(&r, axis.Name, string(axis.Value))
		if axis.Name == device {
			device = "nvbench_device"
		}
	}
	foreign.SetParam(&r, device, string(state.Device))
	foreign.SetFact(&r, "nvbench_version", f.meta.Version.NVBench.Text)
	foreign.SetFact(&r, "nvbench_git_sha", f.meta.Version.NVBench.SHA)
	if len(f.devices) > 0 {
		r.Env.GPUCount = new(int64(len(f.devices)))
	}
	for i := range f.devices {
		if d := &f.devices[i]; string(d.ID) == string(state.Device) && d.ID != "" {
			d.describe(&r)
		}
	}
	return r
}

func (d *nvbenchDevice) describe(r *schema.Run) {
	r.Env.GPUName = d.Name
	for name, text := range map[string]foreign.Text{
		"sm_version": d.SM, "ptx_version": d.PTX, "sm_default_clock_rate": d.Clock, "number_of_sms": d.SMs,
		"global_memory_size": d.Memory, "global_memory_bus_bandwidth": d.Bandwidth, "l2_cache_size": d.L2, "ecc_state": d.ECC,
	} {
		foreign.SetFact(r, name, string(text))
	}
}
