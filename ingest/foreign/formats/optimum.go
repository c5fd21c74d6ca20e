package formats

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// optimumBenchmark reads the results of Hugging Face's optimum-benchmark.
func optimumBenchmark() foreign.Format {
	return foreign.Format{
		Name:  "optimum-benchmark",
		About: "optimum-benchmark: benchmark.json, or benchmark_report.json if it is alone",
		Level: "a run is a phase (load, forward, prefill, decode) of a launch; latency samples are iterations (per_token: tokens); memory, throughput and energy are aggregates",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("config.backend", "report") && h.HasAny("config.scenario", "config.benchmark", "config.launcher") || isOptimumReport(h)
		},
		Read: readOptimum,
	}
}

func isOptimumReport(h *foreign.Head) bool {
	for _, phase := range optimumPhases {
		if h.Has(phase+".latency", phase+".memory", phase+".throughput") {
			return true
		}
	}
	return false
}

// optimumPhases are the phases in the order of a launch. A file may have others.
var optimumPhases = []string{"load", "load_model", "load_weights", "first_forward", "forward", "preprocess", "prefill", "first_generate", "decode", "per_token", "per_step", "generate", "call", "first_call", "overall", "warmup", "train", "first_train", "train_step"}

// optimumPhase has the metrics of a phase.
type optimumPhase struct {
	Memory     map[string]jsontext.Value `json:"memory"`
	Latency    *optimumLatency           `json:"latency"`
	Throughput *optimumValue             `json:"throughput"`
	Energy     *optimumEnergy            `json:"energy"`
	Efficiency *optimumValue             `json:"efficiency"`
}

type optimumLatency struct {
	Unit   string         `json:"unit"`
	Values jsontext.Value `json:"values"`
	Mean   foreign.Number `json:"mean"`
	StdDev foreign.Number `json:"stdev"`
	P50    foreign.Number `json:"p50"`
	P90    foreign.Number `json:"p90"`
	P95    foreign.Number `json:"p95"`
	P99    foreign.Number `json:"p99"`
	Count  foreign.Number `json:"count"`
}

type optimumValue struct {
	Unit  string         `json:"unit"`
	Value foreign.Number `json:"value"`
}

type optimumEnergy struct {
	Unit  string         `json:"unit"`
	CPU   foreign.Number `json:"cpu"`
	RAM   foreign.Number `json:"ram"`
	GPU   foreign.Number `json:"gpu"`
	Total foreign.Number `json:"total"`
}

func readOptimum(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	if whole := strings.Replace(in.Head.Name, "_report.json", ".json", 1); isOptimumReport(in.Head) && beside(in, whole) != "" {
		out.LeaveTo(whole, "a report that "+whole+" has as well", 1)
		return nil
	}
	text, err := j.Value()
	if err != nil {
		return err
	}
	file := struct {
		Config jsontext.Value            `json:"config"`
		Report map[string]jsontext.Value `json:"report"`
	}{}
	at := "/report"
	if isOptimumReport(in.Head) {
		at, err = "", foreign.DecodeAt("", text, &file.Report)
	} else {
		err = foreign.DecodeAt("", text, &file)
	}
	if err != nil {
		refuse(out, "", err)
		return nil
	}
	var config optimumConfig
	if file.Config != nil {
		decode(out, "/config", file.Config, &config)
	}
	out.Version(config.Environment.Version)
	for _, name := range optimumOrder(file.Report) {
		if err := optimumRun(out, at+"/"+name, &config, file.Report[name]); err != nil {
			return err
		}
	}
	return nil
}

// optimumOrder are the phases of a report in the order of a launch, then unknown phases.
func optimumOrder(report map[string]jsontext.Value) []string {
	rank := func(name string) int {
		if i := slices.Index(optimumPhases, name); i >= 0 {
			return i
		}
		return len(optimumPhases)
	}
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(report))), func(a, b string) int { return rank(a) - rank(b) })
}

// optimumRun yields the run of a phase. A phase that is null did not take place.
func optimumRun(out *foreign.Output, where string, config *optimumConfig, text jsontext.Value) error {
	if text.Kind() == jsontext.KindNull {
		return nil
	}
	var phase optimumPhase
	if !decode(out, where, text, &phase) {
		return nil
	}
	r := schema.Run{Benchmark: where[strings.LastIndex(where, "/")+1:]}
	config.point(&r)
	config.Environment.set(&r)
	if err := phase.addLatency(&r); err != nil {
		out.Refuse(where+"/latency", err)
	}
	if phase.Throughput != nil {
		addValue(&r, measure{name: "throughput"}, phase.Throughput.Value, phase.Throughput.Unit)
	}
	phase.addMemory(&r)
	if phase.Energy != nil {
		phase.Energy.add(&r)
	}
	if phase.Efficiency != nil {
		addValue(&r, measure{"efficiency", higher}, phase.Efficiency.Value, phase.Efficiency.Unit)
	}
	if len(r.Metrics) == 0 {
		out.LeaveOutNamed("phases without measurements", strings.TrimPrefix(where, "/"))
		return nil
	}
	return out.Run(where, r)
}

// addLatency adds the samples of a phase, of older files the aggregates.
func (p *optimumPhase) addLatency(r *schema.Run) error {
	l := p.Latency
	if l == nil {
		return nil
	}
	if l.Values.Kind() == jsontext.KindBeginArray {
		s, err := foreign.ReadSeries(l.Values, l.Unit)
		if err != nil {
			return err
		}
		level := schema.LevelIteration
		if r.Benchmark == "per_token" {
			level = schema.LevelToken
		}
		addSeries(r, measure{name: "latency"}, s, level)
	}
	addAggregates(r, measure{name: "latency"}, &servingAggregates{Avg: l.Mean, Std: l.StdDev, P50: l.P50, P90: l.P90, P95: l.P95, P99: l.P99, Count: l.Count}, l.Unit)
	return nil
}

// optimumMemory are the peaks, by the fields of a phase.
var optimumMemory = []struct {
	measure
	field string
}{
	{measure{name: "peak_memory"}, "max_ram"},
	{measure{name: "device_memory_peak"}, "max_allocated"},
	{measure{"device_memory_reserved_peak", lower}, "max_reserved"},
	{measure{"device_memory_process_peak", lower}, "max_process_vram"},
	{measure{"device_memory_global_peak", lower}, "max_global_vram"},
}

func (p *optimumPhase) addMemory(r *schema.Run) {
	unit := foreign.TextOf(p.Memory["unit"])
	for _, m := range optimumMemory {
		var n foreign.Number
		if text := p.Memory[m.field]; text != nil && n.UnmarshalJSON(text) == nil && n != "" && *n.Float64() != 0 { // 0 where it was not watched
			addValue(r, m.measure, n, unit)
		}
	}
}

// add adds energies.
func (e *optimumEnergy) add(r *schema.Run) {
	for _, part := range []struct {
		measure
		value foreign.Number
	}{
		{measure{name: "energy"}, e.Total},
		{measure{"energy_cpu", lower}, e.CPU},
		{measure{"energy_ram", lower}, e.RAM},
		{measure{"energy_gpu", lower}, e.GPU},
	} {
		addValue(r, part.measure, part.value, e.Unit)
	}
}

// optimumConfig is the part of the configuration that distinguishes launches.
type optimumConfig struct {
	Backend struct {
		Name         string       `json:"name"`
		Version      string       `json:"version"`
		Task         string       `json:"task"`
		Model        string       `json:"model"`
		Device       string       `json:"device"`
		TorchDType   string       `json:"torch_dtype"`
		DType        string       `json:"dtype"`
		Precision    string       `json:"precision"`
		Quantization string       `json:"quantization_scheme"`
		Attention    string       `json:"attn_implementation"`
		Compile      foreign.Text `json:"torch_compile"`
		Provider     string       `json:"provider"`
		TP           foreign.Text `json:"tp"`
		NumShard     foreign.Text `json:"num_shard"`
		IntraOp      foreign.Text `json:"intra_op_num_threads"`
		InterOp      foreign.Text `json:"inter_op_num_threads"`
		NoWeights    foreign.Text `json:"no_weights"`
	} `json:"backend"`
	Scenario    optimumScenario    `json:"scenario"`
	Benchmark   optimumScenario    `json:"benchmark"` // what the scenario was called before
	Environment optimumEnvironment `json:"environment"`
}

type optimumScenario struct {
	Name      string                  `json:"name"`
	Shapes    map[string]foreign.Text `json:"input_shapes"`
	NewTokens foreign.Text            `json:"new_tokens"`
	Generate  struct {
		Most  foreign.Text `json:"max_new_tokens"`
		Least foreign.Text `json:"min_new_tokens"`
	} `json:"generate_kwargs"`
}

type optimumEnvironment struct {
	CPU      string                  `json:"cpu"`
	CPUs     foreign.Number          `json:"cpu_count"`
	RAM      foreign.Number          `json:"cpu_ram_mb"`
	System   string                  `json:"system"`
	Platform string                  `json:"platform"`
	Python   string                  `json:"python_version"`
	GPU      oneOrMany[foreign.Text] `json:"gpu"`
	GPUs     foreign.Number          `json:"gpu_count"`
	Version  string                  `json:"optimum_benchmark_version"`
}

// point sets the model and the parameters of a run.
func (c *optimumConfig) point(r *schema.Run) {
	b := &c.Backend
	r.Model, r.Backend, r.BackendVersion = modelName(b.Model), b.Name, b.Version
	if precision := cmp.Or(b.TorchDType, b.DType, b.Precision); precision != "" {
		foreign.SetAxis(r, "dtype", precision)
	}
	for name, text := range map[string]string{
		"task": b.Task, "device": b.Device, "quantization": b.Quantization, "attn_implementation": b.Attention, "torch_compile": string(b.Compile), "provider": b.Provider,
		"tp": string(b.TP), "num_shard": string(b.NumShard), "intra_op_num_threads": string(b.IntraOp), "inter_op_num_threads": string(b.InterOp),
		"no_weights": string(b.NoWeights),
	} {
		foreign.SetParam(r, name, text)
	}
	for _, s := range []*optimumScenario{&c.Scenario, &c.Benchmark} {
		foreign.SetParam(r, "scenario", s.Name)
		for _, name := range slices.Sorted(maps.Keys(s.Shapes)) {
			foreign.SetParam(r, name, string(s.Shapes[name]))
		}
		foreign.SetParam(r, "new_tokens", string(s.NewTokens))
		foreign.SetParam(r, "max_new_tokens", string(s.Generate.Most))
		foreign.SetParam(r, "min_new_tokens", string(s.Generate.Least))
	}
}

// set says where it was measured.
func (e *optimumEnvironment) set(r *schema.Run) {
	r.Env.CPUModel, r.Env.OS, r.Env.PythonVersion = strings.TrimSpace(e.CPU), e.System, e.Python
	r.Env.CPUCount = e.CPUs.Int64()
	if v := e.RAM.Finite("MB"); v != nil && *v > 0 && *v < 1e18 {
		r.Env.MemoryBytes = new(int64(*v))
	}
	var names []string
	for _, name := range e.GPU {
		names = append(names, string(name))
	}
	gpus(&r.Env, strings.Join(names, ","))
	if n := e.GPUs.Int64(); n != nil && *n > 0 {
		r.Env.GPUCount = n
	}
	foreign.SetFact(r, "os.platform", e.Platform)
	foreign.SetFact(r, "optimum_benchmark.version", e.Version)
}
