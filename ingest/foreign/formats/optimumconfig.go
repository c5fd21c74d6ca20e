package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// optimumConfig is what tells launches apart of what was asked for.
type optimumConfig struct {
	Backend struct {
		Name         string         `json:"name"`
		Version      string         `json:"version"`
		Task         string         `json:"task"`
		Model        string         `json:"model"`
		Device       string         `json:"device"`
		TorchDType   string         `json:"torch_dtype"`
		DType        string         `json:"dtype"`
		Precision    string         `json:"precision"`
		Quantization string         `json:"quantization_scheme"`
		Attention    string         `json:"attn_implementation"`
		Compile      jsontext.Value `json:"torch_compile"`
		Provider     string         `json:"provider"`
		TP           jsontext.Value `json:"tp"`
		NumShard     jsontext.Value `json:"num_shard"`
		IntraOp      jsontext.Value `json:"intra_op_num_threads"`
		InterOp      jsontext.Value `json:"inter_op_num_threads"`
		NoWeights    jsontext.Value `json:"no_weights"`
	} `json:"backend"`
	Scenario    optimumScenario    `json:"scenario"`
	Benchmark   optimumScenario    `json:"benchmark"` // what the scenario was called before
	Environment optimumEnvironment `json:"environment"`
}

type optimumScenario struct {
	Name      string                    `json:"name"`
	Shapes    map[string]jsontext.Value `json:"input_shapes"`
	NewTokens jsontext.Value            `json:"new_tokens"`
	Generate  struct {
		Most  jsontext.Value `json:"max_new_tokens"`
		Least jsontext.Value `json:"min_new_tokens"`
	} `json:"generate_kwargs"`
}

type optimumEnvironment struct {
	CPU      string         `json:"cpu"`
	CPUs     foreign.Number `json:"cpu_count"`
	RAM      foreign.Number `json:"cpu_ram_mb"`
	System   string         `json:"system"`
	Platform string         `json:"platform"`
	Python   string         `json:"python_version"`
	GPU      jsontext.Value `json:"gpu"`
	GPUs     foreign.Number `json:"gpu_count"`
	Version  string         `json:"optimum_benchmark_version"`
}

// point says what was measured.
func (c *optimumConfig) point(r *schema.Run) {
	b := &c.Backend
	r.Model, r.Backend, r.BackendVersion = modelName(b.Model), b.Name, b.Version
	put := func(name, text string) { foreign.SetParam(r, name, text) }
	put("task", b.Task)
	put("device", b.Device)
	for _, precision := range []string{b.TorchDType, b.DType, b.Precision} {
		if precision != "" {
			foreign.SetAxis(r, "dtype", precision)
			break
		}
	}
	put("quantization", b.Quantization)
	put("attn_implementation", b.Attention)
	put("torch_compile", foreign.TextOf(b.Compile))
	put("provider", b.Provider)
	put("tp", foreign.TextOf(b.TP))
	put("num_shard", foreign.TextOf(b.NumShard))
	put("intra_op_num_threads", foreign.TextOf(b.IntraOp))
	put("inter_op_num_threads", foreign.TextOf(b.InterOp))
	put("no_weights", foreign.TextOf(b.NoWeights))
	for _, s := range []*optimumScenario{&c.Scenario, &c.Benchmark} {
		put("scenario", s.Name)
		for _, name := range slices.Sorted(maps.Keys(s.Shapes)) {
			put(name, foreign.TextOf(s.Shapes[name]))
		}
		put("new_tokens", foreign.TextOf(s.NewTokens))
		put("max_new_tokens", foreign.TextOf(s.Generate.Most))
		put("min_new_tokens", foreign.TextOf(s.Generate.Least))
	}
}

// set says where it was measured.
func (e *optimumEnvironment) set(r *schema.Run) {
	r.Env.CPUModel, r.Env.OS, r.Env.PythonVersion = strings.TrimSpace(e.CPU), e.System, e.Python
	r.Env.CPUCount = e.CPUs.Int64()
	if v := e.RAM.Finite("MB"); v != nil && *v > 0 && *v < 1e18 {
		r.Env.MemoryBytes = new(int64(*v))
	}
	if list := nameOf(e.GPU); list != "" {
		gpus(&r.Env, list)
	}
	if n := e.GPUs.Int64(); n != nil && *n > 0 {
		r.Env.GPUCount = n
	}
	foreign.SetFact(r, "os.platform", e.Platform)
	foreign.SetFact(r, "optimum_benchmark.version", e.Version)
}
