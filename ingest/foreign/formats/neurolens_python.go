package formats

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var neurolens = foreign.Format{
	Name:      "neurolens-json",
	Log:       true,
	About:     "NeuroLens for Python: run documents, fingerprints, summary.csv, the ledger of a run store",
	Level:     "a run is a run document, a sample is the time of its one inference; a row of a table is a run with that time as an aggregate",
	Recognize: func(h *foreign.Head) bool { return neurolensReader(h) != nil },
	Read: func(in *foreign.Input, out *foreign.Output) error {
		read := neurolensReader(in.Head)
		if read == nil {
			return errors.New("it is none of the files that are read: run documents, fingerprints, summary.csv, the ledger of a run store")
		}
		return read(in, out)
	},
}

// neurolensReader returns the reader for a file by its beginning, or nil if it is not a file of NeuroLens for Python.
func neurolensReader(h *foreign.Head) func(*foreign.Input, *foreign.Output) error {
	switch {
	case h.Has("run_id", "software.backend", "model.name", "timeline"):
		return readRunDocuments
	case h.Has("run_id", "status", "error.stage", "software.backend", "model.name"):
		return readFailedDocument
	case h.Has("ops[].sig", "ops[].vector"), h.Has("vector_spec", "source_run_sha"):
		return readFingerprint
	case h.Has("run_id", "path_run_json", "total_latency_ms"):
		return readLedger
	case h.Has("bundled_at", "files[].sha256"):
		return func(_ *foreign.Input, out *foreign.Output) error {
			out.LeaveOut("list of the files of a bundle", 1)
			return nil
		}
	case h.Has("[].run_id", "[].path_run_json", "[].total_latency_ms"):
		return readListing
	case containsAll(strings.Split(h.FirstLine(), ","), summaryColumns):
		return readSummary
	case bytes.HasPrefix(h.Bytes, []byte("PAR1")) && h.Name == "_index.parquet":
		return readParquetIndex
	case bytes.HasPrefix(h.Bytes, []byte("PK")) && strings.HasSuffix(h.Name, ".bundle.zip"):
		return func(*foreign.Input, *foreign.Output) error {
			return errors.New("a bundle is not read: unpack it and ingest the folder")
		}
	}
	return nil
}

// summaryColumns are the columns that summary.csv has in all versions.
var summaryColumns = []string{"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization"}

// readParquetIndex leaves the index of a run store to its ledger, which has the same values.
func readParquetIndex(in *foreign.Input, out *foreign.Output) error {
	if in.Beside(ledgerFile) {
		out.LeaveTo(ledgerFile, "index of the ledger "+ledgerFile, 1)
		return nil
	}
	return errors.New("an index in Parquet is not read: ingest the run documents that it lists, or " + ledgerFile)
}

// knownText returns a text of the tool, or empty for "unknown".
func knownText(text string) string {
	switch text {
	case "unknown", "Unknown GPU", "n/a":
		return ""
	}
	return text
}

// neurolensPoint is the point of one inference of NeuroLens for Python.
type neurolensPoint struct {
	model, backend, precision string
	batch, seq                foreign.Number
}

// run makes a run of the point. A size that is not positive is unknown.
func (p *neurolensPoint) run() schema.Run {
	r := schema.Run{Benchmark: cmp.Or(knownText(p.model), "bench"), Model: knownText(p.model), Backend: p.backend} // bench: the command that measured it
	foreign.SetParam(&r, "precision", knownText(p.precision))
	foreign.SetParam(&r, "batch_size", string(positive(p.batch)))
	foreign.SetParam(&r, "seq_len", string(positive(p.seq)))
	return r
}

// runDocument is one run, as NeuroLens for Python writes it: schema/run.schema.json there.
type runDocument struct {
	RunID     string `json:"run_id" fact:"source.run_id"`
	CreatedAt string `json:"created_at"`
	Hardware  struct {
		Vendor        string         `json:"vendor"`
		GPUModel      string         `json:"gpu_model"`
		GPUCount      foreign.Number `json:"gpu_count"`
		MemoryGB      foreign.Number `json:"memory_gb"`
		DriverVersion string         `json:"driver_version"`
	} `json:"hardware"`
	Software struct {
		Backend   string `json:"backend"`
		Version   string `json:"version"`
		Precision string `json:"precision"`
	} `json:"software"`
	Model struct {
		Name               string         `json:"name"`
		FrameworkOpset     foreign.Text   `json:"framework_opset"`
		BatchSize          foreign.Number `json:"batch_size"`
		ParametersMillions foreign.Number `json:"parameters_millions"`
	} `json:"model"`
	Meta struct {
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
			Repeat         foreign.Number `json:"repeat" run:"RepeatIndex"`
		} `json:"config"`
	} `json:"meta"`
	Summary struct {
		TotalDurationMS foreign.Number `json:"total_duration_ms"`
		TotalLatencyMS  foreign.Number `json:"total_latency_ms"`
		Metrics         struct {
			SMEfficiency       foreign.Number `json:"sm_efficiency"`
			GPUUtilization     foreign.Number `json:"gpu_utilization"`
			DRAMThroughputGBps foreign.Number `json:"dram_throughput_gbps"`
			AIFlopsPerByte     foreign.Number `json:"ai_flops_per_byte"`
		} `json:"metrics"`
	} `json:"summary"`
	ops []schema.Op
}

func readRunDocuments(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	for j.More() {
		var d runDocument
		err := d.read(j, out)
		if err != nil {
			err = out.RefuseMismatch(err)
		} else {
			err = d.emit(in, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads one document. An op that does not fit is refused by itself; any other mismatch refuses the document.
func (d *runDocument) read(j *foreign.JSON, out *foreign.Output) error {
	var wrong error
	members := fieldsOf(d)
	members["timeline"] = func() error {
		return j.Elements(func(i int) error {
			return readNext(j, out, func(_ string, o *neurolensOp) error {
				d.ops = append(d.ops, o.op(i))
				return nil
			})
		})
	}
	err := j.Members(func(name string) error {
		err := members.take(j, name)
		if _, ok := err.(*foreign.Mismatch); ok {
			wrong, err = err, nil
		}
		return err
	})
	return cmp.Or(err, wrong)
}

func (d *runDocument) emit(in *foreign.Input, out *foreign.Output) error {
	r := d.run(in)
	r.Ops = numbered(d.ops)
	d.environment(&r)
	d.metrics(&r)
	enrich(in, d.RunID, &r)
	if own := ownTagsOf(d.Meta.Tags); own != nil {
		return d.own(in, out, own, r)
	}
	return out.Run("run "+d.RunID, r)
}

// run makes a run of a document, without its environment and its results.
func (d *runDocument) run(in *foreign.Input) schema.Run {
	c := &d.Meta.Config
	p := neurolensPoint{
		model: d.Model.Name, backend: d.Software.Backend, precision: cmp.Or(c.Precision, d.Software.Precision),
		batch: cmp.Or(c.BatchSize, d.Model.BatchSize), seq: cmp.Or(c.SequenceLength, c.SeqLen),
	}
	r := p.run()
	describe(&r, d)
	r.BackendVersion = knownText(d.Software.Version)
	setTags(&r, d.Meta.Tags)
	in.SetStart(&r, d.CreatedAt)
	return r
}

// metrics adds the one time of a run and values derived from counters. The adapters write a zero for an unknown value.
func (d *runDocument) metrics(r *schema.Run) {
	latency := positive(cmp.Or(d.Summary.TotalDurationMS, d.Summary.TotalLatencyMS))
	addSample(r, harnessQuantity{name: schema.PrimaryMetric, unit: "ms"}, "", latency, schema.LevelIteration)
	m := &d.Summary.Metrics
	addMean(r, harnessQuantity{"gpu_utilization", "ratio", schema.BetterHigher}, "", positive(m.GPUUtilization))
	addMean(r, harnessQuantity{"sm_efficiency", "ratio", schema.BetterHigher}, "", positive(m.SMEfficiency))
	addMean(r, harnessQuantity{"bandwidth", "GB/s", schema.BetterHigher}, "", positive(m.DRAMThroughputGBps))
	addMean(r, harnessQuantity{"arithmetic_intensity", "flop/B", schema.BetterHigher}, "", positive(m.AIFlopsPerByte))
	switch {
	case slices.ContainsFunc(d.ops, func(o schema.Op) bool { return o.Type == "Stub" }):
		r.Warnings = append(r.Warnings, "the adapter is a stub: its time is made up")
	case r.Backend == "torch" && d.Software.Version != "stub":
		r.Warnings = append(r.Warnings, "the torch adapter is known to write seconds as ms: times may be 1000 times too small")
	}
}

// cudaVersionOf finds the version in the output of nvcc or nvidia-smi, which the harness stores completely.
var cudaVersionOf = regexp.MustCompile(`(?:release|CUDA Version:) *([0-9]+\.[0-9]+)|^([0-9]+\.[0-9]+(?:\.[0-9]+)?)$`)

// environment sets the environment of a run. For a CPU, the harness writes its name as the name of a GPU, and the version of the
// operating system as the version of a driver. For a GPU, torch writes the CUDA version as the version of the driver.
func (d *runDocument) environment(r *schema.Run) {
	h, e := &d.Hardware, &d.Meta.Env
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
	foreign.SetFact(r, "model.framework_opset", knownText(string(d.Model.FrameworkOpset)))
	foreign.SetFact(r, "model.parameters_millions", string(positive(d.Model.ParametersMillions)))
	if h.Vendor == "CPU" {
		r.Env.CPUModel = knownText(h.GPUModel)
		if v := h.MemoryGB.Finite("GiB"); v != nil && h.MemoryGB != "1.0" { // 1.0 stands for an unknown size
			r.Env.MemoryBytes = new(int64(*v))
		}
		for i := range r.Ops {
			r.Ops[i].Device = "cpu"
		}
		return
	}
	r.Env.GPUName, r.Env.GPUCount = cmp.Or(knownText(h.GPUModel), knownText(e.GPUName)), h.GPUCount.Int64()
	foreign.SetFact(r, "gpu.vendor", knownText(h.Vendor))
	if knownText(h.GPUModel) != "" { // it writes 1.0 for an unknown GPU
		foreign.SetFact(r, "gpu.memory_gb", string(positive(h.MemoryGB)))
	}
	switch {
	case r.Env.DriverVersion != "":
	case d.Software.Backend != "torch":
		r.Env.DriverVersion = knownText(h.DriverVersion)
	case r.Env.CUDAVersion == "":
		r.Env.CUDAVersion = knownText(h.DriverVersion)
	}
}

// failedDocument is the document that NeuroLens writes for a run that is not ok, for which the tool has no format.
type failedDocument struct {
	runDocument
	Status string `json:"status" run:"Status"`
	Error  struct {
		ExitCode foreign.Number `json:"exit_code" run:"ExitCode"`
		Kind     string         `json:"kind" run:"ErrorKind"`
		Message  string         `json:"message" run:"Error"`
		Signal   string         `json:"signal" run:"Signal"`
		Stage    string         `json:"stage" run:"Stage"`
	} `json:"error"`
}

// readFailedDocument reads the document of a run that is not ok. Its point is computed as for run documents.
func readFailedDocument(in *foreign.Input, out *foreign.Output) error {
	var d failedDocument
	if err := in.JSON().Decode(&d); err != nil {
		return out.RefuseMismatch(err)
	}
	r := d.run(in)
	describe(&r, &d)
	var more func(*schema.Run)
	if own := ownTagsOf(d.Meta.Tags); own != nil {
		more = own.describe
	}
	return out.RunWith("run "+d.RunID, r, more)
}

// neurolensOp is an operator of a timeline with the kernels it launched.
type neurolensOp struct {
	Index      foreign.Number    `json:"op_index"`
	Name       string            `json:"op_name"`
	Type       string            `json:"op_type"`
	StartMS    foreign.Number    `json:"start_ms"`
	DurationMS foreign.Number    `json:"duration_ms"`
	LaunchMS   foreign.Number    `json:"api_launch_overhead_ms"`
	Kernels    []neurolensKernel `json:"kernels"`
}

type neurolensKernel struct {
	Name        string         `json:"name"`
	Occupancy   foreign.Number `json:"achieved_occupancy"`
	WarpEff     foreign.Number `json:"warp_execution_efficiency"`
	SMEff       foreign.Number `json:"sm_efficiency"`
	Utilization foreign.Number `json:"gpu_utilization"`
	L2Hit       foreign.Number `json:"l2_hit_rate"`
	ReadGB      foreign.Number `json:"dram_read_gb"`
	WriteGB     foreign.Number `json:"dram_write_gb"`
	ReadBytes   foreign.Number `json:"bytes_read"`
	WriteBytes  foreign.Number `json:"bytes_write"`
}

// op returns the operator at index i of the timeline.
func (o *neurolensOp) op(i int) schema.Op {
	op := schema.Op{
		Index: int64(i), Name: o.Name, Type: o.Type,
		StartNS: nanosecondsOf(o.StartMS, "ms"), DurationNS: nanosecondsOf(o.DurationMS, "ms"),
	}
	if index := o.Index.Int64(); index != nil {
		op.Index = *index
	}
	counted := counters{}
	for i := range o.Kernels {
		op.Kernels = append(op.Kernels, o.Kernels[i].Name)
		o.Kernels[i].count(counted)
	}
	for name, c := range counted {
		if !strings.HasSuffix(name, "_bytes") {
			c.sum /= c.n // of others than bytes, the mean, as the tool itself combines kernels
		}
		foreign.Put(&op.Counters, name, c.sum)
	}
	if v := positive(o.LaunchMS).Finite("ms"); v != nil {
		foreign.Put(&op.Counters, "api_launch_overhead_ns", *v)
	}
	return op
}

// counters add up the counters of the kernels of an op, by name.
type counters map[string]*struct{ sum, n float64 }

func (c counters) add(name string, v *float64) {
	if v == nil {
		return
	}
	if c[name] == nil {
		c[name] = &struct{ sum, n float64 }{}
	}
	c[name].sum += *v
	c[name].n++
}

// count adds the counters of a kernel. A kernel that ran has warps: without warps, nothing was counted, and all values
// are zero.
func (k *neurolensKernel) count(c counters) {
	if positive(k.Occupancy) == "" && positive(k.WarpEff) == "" {
		return
	}
	c.add("achieved_occupancy", k.Occupancy.Finite(""))
	c.add("warp_execution_efficiency", k.WarpEff.Finite(""))
	c.add("sm_efficiency", k.SMEff.Finite(""))
	c.add("gpu_utilization", k.Utilization.Finite(""))
	c.add("l2_hit_rate", k.L2Hit.Finite(""))
	c.add("dram_read_bytes", cmp.Or(k.ReadBytes.Finite("B"), k.ReadGB.Finite("GB")))
	c.add("dram_write_bytes", cmp.Or(k.WriteBytes.Finite("B"), k.WriteGB.Finite("GB")))
}

// numbered returns the ops by their index, or by their position if two have the same index.
func numbered(ops []schema.Op) []schema.Op {
	seen := map[int64]bool{}
	for i := range ops {
		seen[ops[i].Index] = true
	}
	if len(seen) < len(ops) {
		for i := range ops {
			ops[i].Index = int64(i)
		}
	}
	return ops
}

// nanosecondsOf converts a time. It is nil if it is not a time, or too large.
func nanosecondsOf(n foreign.Number, unit string) *int64 {
	v := n.Finite(unit)
	if v == nil || math.Abs(*v) >= math.MaxInt64 {
		return nil
	}
	return new(int64(math.Round(*v)))
}

// ownTags are the tags in a document for values of NeuroLens without a member in the schema of the harness.
type ownTags struct {
	runID        string
	machine      string
	commit       string
	placeholders []string // paths of required members whose values are unknown
	purpose      schema.Purpose
	profileRun   string // the profiled run that the timeline is from; empty: it is from this one
	profileAt    string // when that began
	profileIn    string // the run whose document represents that run
	point        *tagPoint
}

// tagPoint is the point of a run, and its suite.
type tagPoint struct {
	Suite string `json:"suite"`
	schema.Point
}

// ownPrefix begins the names of these tags.
const ownPrefix = "neurolens."

// ownTagsOf reads these tags of a document; it is nil if NeuroLens did not write it.
func ownTagsOf(tags map[string]foreign.Text) *ownTags {
	text := func(name string) string { return string(tags[ownPrefix+name]) }
	if text("run_id") == "" {
		return nil
	}
	o := &ownTags{
		runID: text("run_id"), machine: text("machine"), commit: text("commit"), placeholders: strings.Split(text("placeholders"), ","),
		purpose: schema.Purpose(text("purpose")), profileRun: text("profile_run"), profileAt: text("profile_at"), profileIn: text("profile_in"),
	}
	if foreign.Decode([]byte(text("point")), &o.point) != nil {
		o.point = nil // of an earlier version, or changed by somebody
	}
	return o
}

// unknown reports whether the value of a member is a placeholder.
func (o *ownTags) unknown(path string) bool { return slices.Contains(o.placeholders, path) }

// describe sets the fields of a run that the tags have, and removes these tags from the run.
func (o *ownTags) describe(r *schema.Run) {
	maps.DeleteFunc(r.Tags, func(name, _ string) bool { return strings.HasPrefix(name, ownPrefix) })
	foreign.SetFact(r, "source.run_id", o.runID)
	r.Env.GitCommit = o.commit
	if r.Env.Machine == "" { // otherwise the user named it
		r.Env.Machine = o.machine
	}
	if o.purpose != "" {
		r.Purpose = o.purpose
	}
	if o.unknown("meta.config.repeat") {
		r.RepeatIndex = nil
	}
	if t := o.point; t != nil {
		r.Suite = t.Suite
		t.Set(r)
		return
	}
	if o.unknown("meta.config.batch_size") {
		r.BatchSize = nil
	}
	if o.unknown("meta.config.sequence_length") {
		r.SeqLen = nil
	}
}

// own makes the run of a document that NeuroLens wrote and, if its timeline is from another run, that run too. r is the run that a
// document of the harness would give. Its time is the median of samples that the document does not have; placeholders are unknown.
func (d *runDocument) own(in *foreign.Input, out *foreign.Output, own *ownTags, r schema.Run) error {
	profile := r
	profile.Env.Facts, profile.Tags, profile.Metrics, profile.Warnings, profile.RepeatIndex = maps.Clone(r.Env.Facts), nil, nil, nil, nil
	if err := out.RunWith("run "+own.runID, r, func(r *schema.Run) {
		own.describe(r)
		d.measured(own, r)
		if own.profileRun == "" {
			r.Ops = d.operators(own)
		}
	}); err != nil || own.profileRun == "" {
		return err
	}
	if other := own.profileIn + ".json"; own.profileIn != own.runID && own.profileIn == path.Base(own.profileIn) && in.Beside(other) {
		out.LeaveTo(other, "profile that another document has as well", 1)
		return nil
	}
	own.runID, own.purpose = own.profileRun, schema.PurposeProfile
	own.describe(&profile)
	d.measured(own, &profile)
	profile.StartedAt, profile.TimeSource, profile.Ops = time.Time{}, "", d.operators(own)
	in.SetStart(&profile, own.profileAt)
	return out.Run("run "+own.runID, profile)
}

// measured sets the memory of the machine, and the metrics. The document has their medians.
func (d *runDocument) measured(own *ownTags, r *schema.Run) {
	if gb := d.Hardware.MemoryGB.Finite("GB"); gb != nil && r.Env.MemoryBytes != nil {
		r.Env.MemoryBytes = new(int64(*gb))
	}
	r.Metrics, r.Ops, r.Warnings, r.Primary = nil, nil, nil, ""
	if r.Purpose == schema.PurposeProfile { // the total is the sum of the operators
		return
	}
	median := func(name, unit string, v *float64) {
		foreign.Add(r, foreign.Aggregate(name, unit, schema.Summary{P50: v}), unit)
	}
	median(schema.PrimaryMetric, "ns", d.Summary.TotalDurationMS.Finite("ms"))
	for name, n := range map[string]foreign.Number{"gpu_utilization": d.Summary.Metrics.GPUUtilization, "sm_efficiency": d.Summary.Metrics.SMEfficiency} {
		if !own.unknown("summary.metrics." + name) {
			median(name, "ratio", n.Finite(""))
		}
	}
	if len(r.Metrics) > 0 {
		r.Primary = r.Metrics[0].Name
	}
}

// operators returns the operators of the timeline, for one iteration. Without a profile the timeline is the whole iteration, which is no
// operator.
func (d *runDocument) operators(own *ownTags) []schema.Op {
	if len(d.ops) == 1 && d.ops[0].Type == "iteration" {
		return nil
	}
	for i := range d.ops {
		op := &d.ops[i]
		if own.unknown("timeline.start_ms") && op.StartNS != nil && *op.StartNS == 0 {
			op.StartNS = nil
		}
		op.Name, op.Type = knownText(op.Name), knownText(op.Type)
		if len(op.Kernels) == 1 && knownText(op.Kernels[0]) == op.Name {
			op.Kernels = nil // the schema requires one
		}
		if d.Hardware.Vendor == "CPU" {
			op.Device = "cpu"
		}
		if delete(op.Counters, "lat_norm"); len(op.Counters) == 0 { // of the fingerprint: the share of the time
			op.Counters = nil
		}
	}
	return numbered(d.ops)
}
