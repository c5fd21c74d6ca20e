package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// runDocument is a run document. Its members and those of the structs below are in alphabetical order. Times
// are in ms, memory in GB of 1e9 B, shares from 0 to 1.
type runDocument struct {
	CreatedAt string      `json:"created_at"` // start of the run, RFC 3339, UTC
	Hardware  hardware    `json:"hardware"`
	Meta      meta        `json:"meta"`
	Model     model       `json:"model"`
	RunID     string      `json:"run_id"` // a UUID
	Software  software    `json:"software"`
	Summary   summary     `json:"summary"`
	Timeline  []operation `json:"timeline"`
}

type hardware struct {
	DriverVersion string  `json:"driver_version"`
	GPUCount      int64   `json:"gpu_count"`
	GPUModel      string  `json:"gpu_model"`
	MemoryGB      float64 `json:"memory_gb"`
	Vendor        string  `json:"vendor"`
}

type meta struct {
	Config config            `json:"config"`
	Env    environment       `json:"env"`
	Tags   map[string]string `json:"tags"`
}

type config struct {
	Backend        string `json:"backend"`
	BatchSize      int64  `json:"batch_size"`
	Precision      string `json:"precision"`
	Repeat         int64  `json:"repeat"` // from 0
	SequenceLength int64  `json:"sequence_length"`
}

type environment struct {
	CUDAVersion   string `json:"cuda_version"`
	DriverVersion string `json:"driver_version"`
	GPUName       string `json:"gpu_name"`
	OS            string `json:"os"`
	PythonVersion string `json:"python_version"`
}

type model struct {
	BatchSize      int64  `json:"batch_size"`
	FrameworkOpset string `json:"framework_opset"`
	Name           string `json:"name"`
}

type software struct {
	Backend   string `json:"backend"`
	Precision string `json:"precision"`
	Version   string `json:"version"`
}

type summary struct {
	Metrics         summaryMetrics `json:"metrics"`
	TopBottleneck   string         `json:"top_bottleneck"` // name of the longest op
	TotalDurationMS float64        `json:"total_duration_ms"`
	TotalKernels    int            `json:"total_kernels"`
}

type summaryMetrics struct {
	FlopsPerByte   *float64 `json:"ai_flops_per_byte,omitempty"`
	GPUUtilization float64  `json:"gpu_utilization"`
	SMEfficiency   float64  `json:"sm_efficiency"`
}

// The words that the schema allows.
var (
	backends   = []string{"onnxrt", "tensorrt", "torch"}
	precisions = []string{"fp16", "fp32", "int8"}
)

// draft is a document under construction.
type draft struct {
	run          *schema.Run
	placeholders []string // paths of required numbers that were not measured
	leftOut      int      // number of ops that the schema cannot express
}

// newDocument makes the document of an ok run. The error says why the schema cannot express the run.
func newDocument(run *schema.Run, id schema.ULID) (*runDocument, error) {
	d := draft{run: run}
	switch {
	case run.Backend == "":
		return nil, fmt.Errorf("it needs a backend (%s), and a program has none; summary.csv has all runs", strings.Join(backends, ", "))
	case !slices.Contains(backends, run.Backend):
		return nil, fmt.Errorf("backend %q is not one of %s", run.Backend, strings.Join(backends, " "))
	case !slices.Contains(precisions, precision(run)):
		return nil, fmt.Errorf("precision %q is not one of %s", precision(run), strings.Join(precisions, " "))
	case run.StartedAt.IsZero():
		return nil, fmt.Errorf("its start time is not known")
	}
	hardware, err := hardwareOf(run)
	if err != nil {
		return nil, err
	}
	timeline, err := d.timeline()
	if err != nil {
		return nil, err
	}
	config, err := d.config()
	if err != nil {
		return nil, err
	}
	doc := &runDocument{
		CreatedAt: run.StartedAt.UTC().Format(time.RFC3339Nano),
		RunID:     ulidAsUUID(id),
		Hardware:  hardware,
		Software:  software{Backend: run.Backend, Precision: config.Precision, Version: orUnknown(run.BackendVersion)},
		Model:     model{BatchSize: config.BatchSize, FrameworkOpset: unknown, Name: nameOf(run)},
		Timeline:  timeline,
		Summary:   d.summary(timeline),
		Meta:      meta{Config: config, Env: environmentOf(run.Env)},
	}
	doc.Meta.Tags = d.tags(id)
	return doc, nil
}

func (d *draft) config() (config, error) {
	c := config{Backend: d.run.Backend, Precision: precision(d.run)}
	for _, field := range []struct {
		to    *int64
		path  string
		value *int64
		least int64
	}{
		{&c.BatchSize, "meta.config.batch_size", batchSize(d.run), 1},
		{&c.SequenceLength, "meta.config.sequence_length", seqLen(d.run), 1},
		{&c.Repeat, "meta.config.repeat", d.run.RepeatIndex, 0},
	} {
		switch {
		case field.value == nil:
			*field.to = field.least
			d.placeholders = append(d.placeholders, field.path)
			if field.to == &c.BatchSize {
				d.placeholders = append(d.placeholders, "model.batch_size")
			}
		case *field.value < field.least:
			return c, fmt.Errorf("%s %d is below %d", field.path, *field.value, field.least)
		default:
			*field.to = *field.value
		}
	}
	return c, nil
}

func (d *draft) summary(timeline []operation) summary {
	sum := 0.0
	for _, op := range timeline {
		sum += op.DurationMS
	}
	s := summary{TopBottleneck: longest(timeline), TotalDurationMS: schema.RoundedTo(schema.CertainDigits, sum), TotalKernels: len(timeline)}
	if latency := latencyMS(d.run, .5); latency != nil {
		s.TotalDurationMS = *latency
	}
	s.Metrics.GPUUtilization = d.share("gpu_utilization")
	s.Metrics.SMEfficiency = d.share("sm_efficiency")
	if w := d.run.Work; w.Flops != nil && w.Bytes != nil && *w.Flops >= 0 && *w.Bytes > 0 {
		s.Metrics.FlopsPerByte = new(*w.Flops / float64(*w.Bytes))
	}
	return s
}

// longest returns the name of the longest op, the first of several.
func longest(timeline []operation) string {
	top := 0
	for i, op := range timeline {
		if op.DurationMS > timeline[top].DurationMS {
			top = i
		}
	}
	return timeline[top].OpName
}

// share returns a required share of the summary.
func (d *draft) share(name string) float64 {
	v := share(d.run, name)
	if v == nil {
		d.placeholders = append(d.placeholders, "summary.metrics."+name)
		return 0
	}
	return *v
}

// The tags of NeuroLens in a document. Each has the prefix neurolens.
const (
	tagRun          = "neurolens.run_id"
	tagPlaceholders = "neurolens.placeholders" // paths of required numbers that were not measured, separated by commas
	tagLeftOut      = "neurolens.ops_left_out" // number of operators that the schema cannot express
	tagPoint        = "neurolens.point"        // the point as JSON: the schema has no members for most of its axes
	tagMachine      = "neurolens.machine"
	tagCommit       = "neurolens.commit"
	tagPurpose      = "neurolens.purpose"     // of a run that did not measure: profile
	tagProfile      = "neurolens.profile_run" // the profiled run that the timeline is from: its id
	tagProfiled     = "neurolens.profile_at"  // when that began, RFC 3339, UTC
	tagProfileIn    = "neurolens.profile_in"  // the first run whose document has this timeline: its id
)

// tags returns the tags of the run and the values for which the schema has no member.
func (d *draft) tags(id schema.ULID) map[string]string {
	tags := ownTags(d.run, id)
	d.describe(tags)
	return tags
}

// describe sets the tags about the members of the document.
func (d *draft) describe(tags map[string]string) {
	slices.Sort(d.placeholders)
	tags[tagPlaceholders] = strings.Join(slices.Compact(d.placeholders), ",")
	if d.leftOut > 0 {
		tags[tagLeftOut] = strconv.Itoa(d.leftOut)
	}
}

// ownTags returns the tags of a run, and the tags that identify it.
func ownTags(run *schema.Run, id schema.ULID) map[string]string {
	tags := map[string]string{}
	maps.Copy(tags, run.Tags)
	tags[tagRun] = id.String()
	if text, err := json.Marshal(pointOf(run)); err == nil { // cannot fail: it consists of texts and numbers
		tags[tagPoint] = string(text)
	}
	for name, text := range map[string]string{tagMachine: run.Env.Machine, tagCommit: run.Env.GitCommit} {
		if text != "" {
			tags[name] = text
		}
	}
	if run.Purpose == schema.PurposeProfile {
		tags[tagPurpose] = string(run.Purpose)
	}
	return tags
}

// point is the point of a run, and its suite.
type point struct {
	Suite string `json:"suite,omitempty"`
	schema.Point
}

func pointOf(r *schema.Run) point { return point{r.Suite, schema.PointOf(r)} }

// withTimeline replaces the timeline of a document of a measured run by the timeline of a profiled run of its point. first is the first
// run whose document gets it.
func (d *runDocument) withTimeline(run *schema.Run, id, first schema.ULID) error {
	t := draft{run: run}
	timeline, err := t.timeline()
	if err != nil {
		return err
	}
	for path := range strings.SplitSeq(d.Meta.Tags[tagPlaceholders], ",") {
		if path != "" && !strings.HasPrefix(path, "timeline.") {
			t.placeholders = append(t.placeholders, path)
		}
	}
	d.Timeline, d.Summary.TopBottleneck, d.Summary.TotalKernels = timeline, longest(timeline), len(timeline)
	delete(d.Meta.Tags, tagLeftOut)
	t.describe(d.Meta.Tags)
	d.Meta.Tags[tagProfile], d.Meta.Tags[tagProfileIn] = id.String(), first.String()
	d.Meta.Tags[tagProfiled] = run.StartedAt.UTC().Format(time.RFC3339Nano)
	return nil
}

// failedDocument is the document of a run that is not ok. The harness's schema has no such document, so this is a format of NeuroLens,
// with the members of a run document that apply to such a run. Unknown members are null.
type failedDocument struct {
	CreatedAt *string        `json:"created_at"` // start of the run, RFC 3339, UTC
	Error     failure        `json:"error"`
	Meta      failedMeta     `json:"meta"`
	Model     failedModel    `json:"model"`
	RunID     string         `json:"run_id"` // a UUID
	Software  failedSoftware `json:"software"`
	Status    string         `json:"status"`
}

type failure struct {
	ExitCode *int64  `json:"exit_code"`
	Kind     *string `json:"kind"`
	Message  *string `json:"message"`
	Signal   *string `json:"signal"`
	Stage    *string `json:"stage"`
}

type failedMeta struct {
	Config failedConfig      `json:"config"`
	Env    environment       `json:"env"`
	Tags   map[string]string `json:"tags"`
}

type failedConfig struct {
	Backend        *string `json:"backend"`
	BatchSize      *int64  `json:"batch_size"`
	Precision      *string `json:"precision"`
	Repeat         *int64  `json:"repeat"` // from 0
	SequenceLength *int64  `json:"sequence_length"`
}

type failedModel struct {
	Name string `json:"name"`
}

type failedSoftware struct {
	Backend   *string `json:"backend"`
	Precision *string `json:"precision"`
	Version   string  `json:"version"`
}

func newFailedDocument(run *schema.Run, id schema.ULID) *failedDocument {
	backend, precision := files.Optional(run.Backend), files.Optional(precision(run))
	d := &failedDocument{
		RunID: ulidAsUUID(id), Status: string(run.Status),
		Error: failure{run.ExitCode, files.Optional(run.ErrorKind), files.Optional(run.Error), files.Optional(run.Signal), files.Optional(string(run.Stage))},
		Meta: failedMeta{
			Config: failedConfig{backend, batchSize(run), precision, run.RepeatIndex, seqLen(run)}, Env: environmentOf(run.Env), Tags: ownTags(run, id),
		},
		Model: failedModel{nameOf(run)}, Software: failedSoftware{backend, precision, orUnknown(run.BackendVersion)},
	}
	if !run.StartedAt.IsZero() {
		d.CreatedAt = new(run.StartedAt.UTC().Format(time.RFC3339Nano))
	}
	return d
}

type operation struct {
	DurationMS float64          `json:"duration_ms"`
	EndMS      float64          `json:"end_ms"`
	Kernels    []kernel         `json:"kernels"`
	Metrics    operationMetrics `json:"metrics"`
	OpIndex    int64            `json:"op_index"`
	OpName     string           `json:"op_name"`
	OpType     string           `json:"op_type"`
	StartMS    float64          `json:"start_ms"`
}

type operationMetrics struct {
	LatencyMS      float64  `json:"latency_ms"` // duration of one call
	P50MS          *float64 `json:"p50_ms"`
	P95MS          *float64 `json:"p95_ms"`
	TotalLatencyMS float64  `json:"total_latency_ms"`
}

type kernel struct {
	Occupancy      float64 `json:"achieved_occupancy"`
	DRAMReadGB     float64 `json:"dram_read_gb"`
	DRAMWriteGB    float64 `json:"dram_write_gb"`
	DurationMS     float64 `json:"duration_ms"`
	L2HitRate      float64 `json:"l2_hit_rate"`
	Name           string  `json:"name"`
	StartMS        float64 `json:"start_ms"`
	WarpEfficiency float64 `json:"warp_execution_efficiency"`
}

// kernelPlaceholders are the required numbers of a kernel, which are never measured.
var kernelPlaceholders = []string{
	"timeline.kernels.achieved_occupancy", "timeline.kernels.dram_read_gb", "timeline.kernels.dram_write_gb",
	"timeline.kernels.l2_hit_rate", "timeline.kernels.warp_execution_efficiency",
}

// timeline returns the profiled ops of the run, or one op for the whole iteration.
func (d *draft) timeline() ([]operation, error) {
	d.placeholders = append(d.placeholders, kernelPlaceholders...)
	var ops []operation
	unplaced, iterations := false, profiledIterations(d.run)
	for i := range d.run.Ops {
		op := &d.run.Ops[i]
		if !expressible(op) {
			d.leftOut++
			continue
		}
		ops = append(ops, profiled(op, iterations))
		unplaced = unplaced || op.StartNS == nil
	}
	if unplaced {
		d.placeholders = append(d.placeholders, "timeline.kernels.start_ms", "timeline.start_ms")
	}
	if ops != nil {
		return ops, nil
	}
	latency := latencyMS(d.run, .5)
	if latency == nil || *latency <= 0 {
		return nil, fmt.Errorf("it has neither a latency above 0 nor a profiled op with a duration")
	}
	op := newOperation(nameOf(d.run), iteration, 0, *latency)
	op.Metrics = operationMetrics{
		LatencyMS: *latency, TotalLatencyMS: *latency, P50MS: latency, P95MS: latencyMS(d.run, .95),
	}
	return []operation{op}, nil
}

// iteration is the type of the only op of a run without operators.
const iteration = "iteration"

// hasOperators reports whether a timeline has more than the whole iteration. Only then is there a fingerprint: without operators, the
// fingerprints of all runs are equal.
func hasOperators(timeline []operation) bool {
	return len(timeline) > 1 || len(timeline) == 1 && timeline[0].OpType != iteration
}

// expressible reports whether the schema can express an op: its duration must be known and above 0.
func expressible(op *schema.Op) bool {
	return op.DurationNS != nil && *op.DurationNS > 0 && op.Index >= 0 && (op.StartNS == nil || *op.StartNS >= 0)
}

// factProfiledIterations is the fact with the number of iterations that the durations of ops are summed over.
const factProfiledIterations = "profile.iterations"

// profiledIterations returns the number of profiled iterations, or 1 if the number is unknown, so that the sums stay unchanged.
func profiledIterations(run *schema.Run) float64 {
	n, err := strconv.ParseFloat(run.Env.Facts[factProfiledIterations], 64)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// profiled returns an op per iteration.
func profiled(op *schema.Op, iterations float64) operation {
	start := 0.0
	if op.StartNS != nil {
		start = float64(*op.StartNS) / 1e6
	}
	duration := toMS(float64(*op.DurationNS) / iterations)
	o := newOperation(orUnknown(op.Name), orUnknown(op.Type), start, duration)
	o.OpIndex = op.Index
	if len(op.Kernels) == 1 {
		o.Kernels[0].Name = op.Kernels[0]
	}
	o.Metrics = operationMetrics{LatencyMS: duration, TotalLatencyMS: duration}
	if op.Count != nil && *op.Count > 0 {
		o.Metrics.LatencyMS = toMS(float64(*op.DurationNS) / float64(*op.Count))
	}
	return o
}

// newOperation returns an op with one kernel of the same duration.
func newOperation(name, kind string, start, duration float64) operation {
	return operation{
		OpName: name, OpType: kind, StartMS: start, EndMS: start + duration, DurationMS: duration,
		Kernels: []kernel{{Name: name, StartMS: start, DurationMS: duration}},
	}
}
