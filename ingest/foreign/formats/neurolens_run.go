package formats

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// runDocument is one run, as NeuroLens for Python writes it: schema/run.schema.json there.
type runDocument struct {
	runID     string
	createdAt string
	hardware  struct {
		Vendor        string         `json:"vendor"`
		GPUModel      string         `json:"gpu_model"`
		GPUCount      foreign.Number `json:"gpu_count"`
		MemoryGB      foreign.Number `json:"memory_gb"`
		DriverVersion string         `json:"driver_version"`
	}
	software struct {
		Backend   string `json:"backend"`
		Version   string `json:"version"`
		Precision string `json:"precision"`
	}
	model struct {
		Name               string         `json:"name"`
		FrameworkOpset     foreign.Text   `json:"framework_opset"`
		BatchSize          foreign.Number `json:"batch_size"`
		ParametersMillions foreign.Number `json:"parameters_millions"`
	}
	meta struct {
		Env struct {
			DriverVersion string `json:"driver_version"`
			CUDAVersion   string `json:"cuda_version"`
			GPUName       string `json:"gpu_name"`
			OS            string `json:"os"`
			PythonVersion string `json:"python_version"`
		} `json:"env"`
		Tags   map[string]foreign.Text `json:"tags"`
		Config struct {
			BatchSize      foreign.Number `json:"batch_size"`
			SequenceLength foreign.Number `json:"sequence_length"`
			SeqLen         foreign.Number `json:"seq_len"`
			Precision      string         `json:"precision"`
			Repeat         foreign.Number `json:"repeat"`
		} `json:"config"`
	}
	summary struct {
		TotalDurationMS foreign.Number `json:"total_duration_ms"`
		TotalLatencyMS  foreign.Number `json:"total_latency_ms"`
		Metrics         struct {
			SMEfficiency       foreign.Number `json:"sm_efficiency"`
			GPUUtilization     foreign.Number `json:"gpu_utilization"`
			DRAMThroughputGBps foreign.Number `json:"dram_throughput_gbps"`
			AIFlopsPerByte     foreign.Number `json:"ai_flops_per_byte"`
		} `json:"metrics"`
	}
	ops []schema.Op
}

func readRunDocuments(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	for j.More() {
		var d runDocument
		if err := d.read(j, out); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if err := d.emit(in, out); err != nil {
			return err
		}
	}
	return nil
}

// read reads one document. An op that does not fit is refused by itself; any other mismatch refuses the document.
func (d *runDocument) read(j *foreign.JSON, out *foreign.Output) error {
	var wrong error
	err := j.Members(func(name string) error {
		err := d.member(name, j, out)
		if _, ok := err.(*foreign.Mismatch); ok {
			wrong = err
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return wrong
}

func (d *runDocument) member(name string, j *foreign.JSON, out *foreign.Output) error {
	switch name {
	case "run_id":
		return j.Decode(&d.runID)
	case "created_at":
		return j.Decode(&d.createdAt)
	case "hardware":
		return j.Decode(&d.hardware)
	case "software":
		return j.Decode(&d.software)
	case "model":
		return j.Decode(&d.model)
	case "meta":
		return j.Decode(&d.meta)
	case "summary":
		return j.Decode(&d.summary)
	case "timeline":
		return j.Elements(func(i int) error {
			var o neurolensOp
			if err := j.Decode(&o); err != nil {
				return out.RefuseMismatch(err)
			}
			d.ops = append(d.ops, o.op(i))
			return nil
		})
	}
	return j.Skip()
}

func (d *runDocument) emit(in *foreign.Input, out *foreign.Output) error {
	c := &d.meta.Config
	p := neurolensPoint{
		model: d.model.Name, backend: d.software.Backend, precision: c.Precision,
		batch: c.BatchSize, seq: c.SequenceLength,
	}
	if p.precision == "" {
		p.precision = d.software.Precision
	}
	if p.batch == "" {
		p.batch = d.model.BatchSize
	}
	if p.seq == "" {
		p.seq = c.SeqLen
	}
	r := p.run()
	r.BackendVersion = knownText(d.software.Version)
	r.RepeatIndex = c.Repeat.Int64()
	setTags(&r, d.meta.Tags)
	if at, source, err := in.Time(d.createdAt, foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	r.Ops = numbered(d.ops)
	d.environment(&r)
	d.metrics(&r)
	enrich(in, d.runID, &r)
	foreign.SetFact(&r, "source.run_id", d.runID)
	if own := ownTagsOf(d.meta.Tags); own != nil {
		return d.own(in, out, own, r)
	}
	return out.Run("run "+d.runID, r)
}

// metrics adds the one time of a run and values derived from counters. The adapters write a zero for an unknown value.
func (d *runDocument) metrics(r *schema.Run) {
	latency := d.summary.TotalDurationMS
	if latency == "" {
		latency = d.summary.TotalLatencyMS
	}
	addSample(r, harnessQuantity{name: schema.PrimaryMetric, unit: "ms"}, "", positive(latency), schema.LevelIteration)
	m := &d.summary.Metrics
	addMean(r, harnessQuantity{"gpu_utilization", "ratio", schema.BetterHigher}, "", positive(m.GPUUtilization))
	addMean(r, harnessQuantity{"sm_efficiency", "ratio", schema.BetterHigher}, "", positive(m.SMEfficiency))
	addMean(r, harnessQuantity{"bandwidth", "GB/s", schema.BetterHigher}, "", positive(m.DRAMThroughputGBps))
	addMean(r, harnessQuantity{"arithmetic_intensity", "flop/B", schema.BetterHigher}, "", positive(m.AIFlopsPerByte))
	switch {
	case slices.ContainsFunc(d.ops, func(o schema.Op) bool { return o.Type == "Stub" }):
		r.Warnings = append(r.Warnings, "the adapter is a stub: its time is made up")
	case r.Backend == "torch" && d.software.Version != "stub":
		r.Warnings = append(r.Warnings, "the torch adapter is known to write seconds as ms: times may be 1000 times too small")
	}
}

// cudaVersionOf finds the version in the output of nvcc or nvidia-smi, which the harness stores completely.
var cudaVersionOf = regexp.MustCompile(`(?:release|CUDA Version:) *([0-9]+\.[0-9]+)|^([0-9]+\.[0-9]+(?:\.[0-9]+)?)$`)

// environment sets where a run happened. For a CPU, the harness writes its name as that of a GPU, and the version of the
// operating system as that of a driver. For a GPU, torch writes the CUDA version as that of the driver.
func (d *runDocument) environment(r *schema.Run) {
	h, e := &d.hardware, &d.meta.Env
	r.Env.PythonVersion = knownText(e.PythonVersion)
	if name, kernel, ok := strings.Cut(knownText(e.OS), " "); ok {
		r.Env.OS, r.Env.OSKernel = name, kernel
	} else {
		r.Env.OS = name
	}
	r.Env.DriverVersion = knownText(e.DriverVersion)
	if m := cudaVersionOf.FindStringSubmatch(strings.TrimSpace(e.CUDAVersion)); m != nil {
		r.Env.CUDAVersion = m[1] + m[2]
	}
	foreign.SetFact(r, "model.framework_opset", knownText(string(d.model.FrameworkOpset)))
	foreign.SetFact(r, "model.parameters_millions", string(positive(d.model.ParametersMillions)))
	if h.Vendor == "CPU" {
		r.Env.CPUModel = knownText(h.GPUModel)
		if v := h.MemoryGB.Finite("GiB"); v != nil && h.MemoryGB != "1.0" { // 1.0 is what it writes where it does not know
			r.Env.MemoryBytes = new(int64(*v))
		}
		for i := range r.Ops {
			r.Ops[i].Device = "cpu"
		}
		return
	}
	r.Env.GPUName = knownText(h.GPUModel)
	if r.Env.GPUName == "" {
		r.Env.GPUName = knownText(e.GPUName)
	}
	r.Env.GPUCount = h.GPUCount.Int64()
	foreign.SetFact(r, "gpu.vendor", knownText(h.Vendor))
	if knownText(h.GPUModel) != "" { // it writes 1.0 for an unknown GPU
		foreign.SetFact(r, "gpu.memory_gb", string(positive(h.MemoryGB)))
	}
	switch {
	case r.Env.DriverVersion != "":
	case d.software.Backend != "torch":
		r.Env.DriverVersion = knownText(h.DriverVersion)
	case r.Env.CUDAVersion == "":
		r.Env.CUDAVersion = knownText(h.DriverVersion)
	}
}

// failedDocument is the document that NeuroLens writes for a run that is not ok, for which the tool has no format.
type failedDocument struct {
	CreatedAt string `json:"created_at"`
	RunID     string `json:"run_id"`
	Status    string `json:"status"`
	Error     struct {
		ExitCode foreign.Number `json:"exit_code"`
		Kind     string         `json:"kind"`
		Message  string         `json:"message"`
		Signal   string         `json:"signal"`
		Stage    string         `json:"stage"`
	} `json:"error"`
	Model struct {
		Name string `json:"name"`
	} `json:"model"`
	Software struct {
		Backend string `json:"backend"`
		Version string `json:"version"`
	} `json:"software"`
	Meta struct {
		Tags   map[string]foreign.Text `json:"tags"`
		Config struct {
			BatchSize      foreign.Number `json:"batch_size"`
			SequenceLength foreign.Number `json:"sequence_length"`
			Precision      string         `json:"precision"`
			Repeat         foreign.Number `json:"repeat"`
		} `json:"config"`
	} `json:"meta"`
}

// readFailedDocument reads the document of a run that is not ok. Its point is computed as for run documents.
func readFailedDocument(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var d failedDocument
	if err := j.Decode(&d); err != nil {
		return out.RefuseMismatch(err)
	}
	c := &d.Meta.Config
	p := neurolensPoint{model: d.Model.Name, backend: d.Software.Backend, precision: c.Precision, batch: c.BatchSize, seq: c.SequenceLength}
	r := p.run()
	r.BackendVersion = knownText(d.Software.Version)
	r.Status, r.Stage, r.ErrorKind = schema.Status(d.Status), schema.Stage(d.Error.Stage), d.Error.Kind
	r.Error, r.Signal, r.ExitCode, r.RepeatIndex = d.Error.Message, d.Error.Signal, d.Error.ExitCode.Int64(), c.Repeat.Int64()
	setTags(&r, d.Meta.Tags)
	if at, source, err := in.Time(d.CreatedAt, foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	foreign.SetFact(&r, "source.run_id", d.RunID)
	if own := ownTagsOf(d.Meta.Tags); own != nil {
		return out.RunWith("run "+d.RunID, r, own.describe)
	}
	return out.Run("run "+d.RunID, r)
}
