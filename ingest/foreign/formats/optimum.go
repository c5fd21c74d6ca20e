package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// optimumBenchmark reads the results of Hugging Face's optimum-benchmark.
var optimumBenchmark = foreign.Format{
	Name:  "optimum-benchmark",
	About: "optimum-benchmark: benchmark.json, or benchmark_report.json if it is alone",
	Level: "a run is a phase (load, forward, prefill, decode) of a launch; latency samples are iterations (per_token: tokens); memory, throughput and energy are aggregates",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("config.backend", "report") && h.HasAny("config.scenario", "config.benchmark", "config.launcher") || isOptimumReport(h)
	},
	Read: readOptimum,
}

func isOptimumReport(h *foreign.Head) bool {
	return slices.ContainsFunc(optimumPhases, func(phase string) bool {
		return h.Has(phase+".latency", phase+".memory", phase+".throughput")
	})
}

// optimumPhases are the phases in the order of a launch. A file may have others.
var optimumPhases = []string{"load", "load_model", "load_weights", "first_forward", "forward", "preprocess", "prefill", "first_generate", "decode", "per_token", "per_step", "generate", "call", "first_call", "overall", "warmup", "train", "first_train", "train_step"}

// optimumPhase has the metrics of a phase.
type optimumPhase struct {
	Memory     map[string]jsontext.Value `json:"memory"`
	Latency    *optimumLatency           `json:"latency"`
	Throughput optimumValue              `json:"throughput"`
	Energy     *struct {
		Unit  string         `json:"unit"`
		CPU   foreign.Number `json:"cpu"`
		RAM   foreign.Number `json:"ram"`
		GPU   foreign.Number `json:"gpu"`
		Total foreign.Number `json:"total"`
	} `json:"energy"`
	Efficiency optimumValue `json:"efficiency"`
}

type optimumLatency struct {
	Unit   string         `json:"unit"`
	Values jsontext.Value `json:"values"`
	Mean   foreign.Number `json:"mean" stat:"mean"`
	StdDev foreign.Number `json:"stdev" stat:"stdev"`
	P50    foreign.Number `json:"p50" stat:"p50"`
	P90    foreign.Number `json:"p90" stat:"p90"`
	P95    foreign.Number `json:"p95" stat:"p95"`
	P99    foreign.Number `json:"p99" stat:"p99"`
	Count  foreign.Number `json:"count" stat:"n"`
}

type optimumValue struct {
	Unit  string         `json:"unit"`
	Value foreign.Number `json:"value"`
}

func readOptimum(in *foreign.Input, out *foreign.Output) error {
	alone := isOptimumReport(in.Head)
	if whole := strings.Replace(in.Head.Name, "_report.json", ".json", 1); alone && beside(in, whole) != "" {
		out.LeaveTo(whole, "a report that "+whole+" has as well", 1)
		return nil
	}
	text, err := in.JSON().Value()
	if err != nil {
		return err
	}
	var file struct {
		Config jsontext.Value            `json:"config"`
		Report map[string]jsontext.Value `json:"report"`
	}
	at := "/report"
	if alone {
		at, err = "", foreign.DecodeAt("", text, &file.Report)
	} else {
		err = foreign.DecodeAt("", text, &file)
	}
	if err != nil {
		return out.RefuseMismatch(err)
	}
	var config optimumConfig
	if file.Config != nil {
		decode(out, "/config", file.Config, &config)
	}
	out.Version(config.Environment.Version)
	phases := optimumPhases // in the order of a launch, then unknown ones
	for _, name := range slices.Sorted(maps.Keys(file.Report)) {
		if !slices.Contains(optimumPhases, name) {
			phases = append(phases[:len(phases):len(phases)], name)
		}
	}
	for _, name := range phases {
		if err := optimumRun(out, at+"/"+name, &config, file.Report[name]); err != nil {
			return err
		}
	}
	return nil
}

// optimumRun yields the run of a phase. A phase that is null, or that the report does not have, did not take place.
func optimumRun(out *foreign.Output, where string, config *optimumConfig, text jsontext.Value) error {
	var phase optimumPhase
	if text == nil || text.Kind() == jsontext.KindNull || !decode(out, where, text, &phase) {
		return nil
	}
	r := schema.Run{Benchmark: where[strings.LastIndex(where, "/")+1:]}
	config.point(&r)
	if err := phase.addLatency(&r); err != nil {
		out.Refuse(where+"/latency", err)
	}
	addValue(&r, measure{name: "throughput"}, phase.Throughput.Value, phase.Throughput.Unit)
	unit := foreign.TextOf(phase.Memory["unit"])
	for _, m := range optimumMemory {
		if text := phase.Memory[m.field]; text != nil {
			addValue(&r, m.measure, nonZero(numberOf(text)), unit) // 0 where it was not watched
		}
	}
	if e := phase.Energy; e != nil {
		for i, value := range []foreign.Number{e.Total, e.CPU, e.RAM, e.GPU} {
			addValue(&r, optimumEnergy[i], value, e.Unit)
		}
	}
	addValue(&r, measure{"efficiency", higher}, phase.Efficiency.Value, phase.Efficiency.Unit)
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
	addAggregates(r, measure{name: "latency"}, summaryOf(*l, unitOf(l.Unit)), l.Unit)
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

// optimumEnergy are the energies: of all, of the CPU, the RAM and the GPU.
var optimumEnergy = []measure{{name: "energy"}, {"energy_cpu", lower}, {"energy_ram", lower}, {"energy_gpu", lower}}

// optimumConfig is the part of the configuration that distinguishes launches.
type optimumConfig struct {
	Backend struct {
		Name         string       `json:"name" run:"Backend"`
		Version      string       `json:"version" run:"BackendVersion"`
		Task         string       `json:"task" param:"task"`
		Model        string       `json:"model"`
		Device       string       `json:"device" param:"device"`
		TorchDType   string       `json:"torch_dtype" param:"dtype"`
		DType        string       `json:"dtype" param:"dtype"`
		Precision    string       `json:"precision" param:"dtype"`
		Quantization string       `json:"quantization_scheme" param:"quantization"`
		Attention    string       `json:"attn_implementation" param:"attn_implementation"`
		Compile      foreign.Text `json:"torch_compile" param:"torch_compile"`
		Provider     string       `json:"provider" param:"provider"`
		TP           foreign.Text `json:"tp" param:"tp"`
		NumShard     foreign.Text `json:"num_shard" param:"num_shard"`
		IntraOp      foreign.Text `json:"intra_op_num_threads" param:"intra_op_num_threads"`
		InterOp      foreign.Text `json:"inter_op_num_threads" param:"inter_op_num_threads"`
		NoWeights    foreign.Text `json:"no_weights" param:"no_weights"`
	} `json:"backend"`
	Scenario    optimumScenario    `json:"scenario"`
	Benchmark   optimumScenario    `json:"benchmark"` // the earlier name of the scenario
	Environment optimumEnvironment `json:"environment"`
}

type optimumScenario struct {
	Name      string                  `json:"name" param:"scenario"`
	Shapes    map[string]foreign.Text `json:"input_shapes"`
	NewTokens foreign.Text            `json:"new_tokens" param:"new_tokens"`
	Generate  struct {
		Most  foreign.Text `json:"max_new_tokens" param:"max_new_tokens"`
		Least foreign.Text `json:"min_new_tokens" param:"min_new_tokens"`
	} `json:"generate_kwargs"`
}

type optimumEnvironment struct {
	CPU      string                  `json:"cpu"`
	CPUs     foreign.Number          `json:"cpu_count" run:"Env.CPUCount"`
	RAM      foreign.Number          `json:"cpu_ram_mb"`
	System   string                  `json:"system" run:"Env.OS"`
	Platform string                  `json:"platform" fact:"os.platform"`
	Python   string                  `json:"python_version" run:"Env.PythonVersion"`
	GPU      oneOrMany[foreign.Text] `json:"gpu"`
	GPUs     foreign.Number          `json:"gpu_count"`
	Version  string                  `json:"optimum_benchmark_version" fact:"optimum_benchmark.version"`
}

// point sets the model and the parameters of a run, and where it was measured.
func (c *optimumConfig) point(r *schema.Run) {
	r.Model = modelName(c.Backend.Model)
	describe(r, c)
	for _, s := range []*optimumScenario{&c.Scenario, &c.Benchmark} {
		for _, name := range slices.Sorted(maps.Keys(s.Shapes)) {
			foreign.SetParam(r, name, string(s.Shapes[name]))
		}
	}
	e := &c.Environment
	r.Env.CPUModel = strings.TrimSpace(e.CPU)
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
}
