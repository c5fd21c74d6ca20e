package harness

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// ownTags are the tags with which NeuroLens says in a document what the schema of the harness has no member for.
type ownTags struct {
	runID        string
	machine      string
	commit       string
	placeholders []string // paths of required members whose values are unknown
	purpose      schema.Purpose
	profileRun   string // the profiled run that the timeline is from; empty: it is from this one
	profileAt    string // when that began
	profileIn    string // the run whose document stands for that run
	point        *tagPoint
}

// tagPoint is the point of a run, and its suite.
type tagPoint struct {
	Suite     string            `json:"suite"`
	Benchmark string            `json:"benchmark"`
	Variant   string            `json:"variant"`
	Backend   string            `json:"backend"`
	Model     string            `json:"model"`
	Precision string            `json:"precision"`
	BatchSize *int64            `json:"batch_size"`
	SeqLen    *int64            `json:"seq_len"`
	Params    map[string]string `json:"params"`
}

// ownTagsOf takes these tags from the tags of a document; nil if NeuroLens did not write it.
func ownTagsOf(tags map[string]foreign.Text) *ownTags {
	const prefix = "neurolens."
	if tags[prefix+"run_id"] == "" {
		return nil
	}
	text := func(name string) string { return string(tags[prefix+name]) }
	o := &ownTags{
		runID: text("run_id"), machine: text("machine"), commit: text("commit"), placeholders: strings.Split(text("placeholders"), ","), purpose: schema.Purpose(text("purpose")),
		profileRun: text("profile_run"), profileAt: text("profile_at"), profileIn: text("profile_in"),
	}
	if foreign.Decode([]byte(text("point")), &o.point) != nil {
		o.point = nil // of an earlier version, or changed by somebody
	}
	for _, name := range []string{"run_id", "machine", "commit", "placeholders", "purpose", "profile_run", "profile_at", "profile_in", "point", "ops_left_out"} {
		delete(tags, prefix+name)
	}
	return o
}

// id is the id of the run in the store that the document is from; empty if NeuroLens did not write it.
func (o *ownTags) id() string {
	if o == nil {
		return ""
	}
	return o.runID
}

// unknown reports whether the value of a member is a placeholder.
func (o *ownTags) unknown(path string) bool { return slices.Contains(o.placeholders, path) }

// run makes a run of the point; of p if the tags do not have it.
func (o *ownTags) run(p *neurolensPoint) schema.Run {
	if o == nil {
		return p.run()
	}
	r := p.run()
	if t := o.point; t != nil {
		r = t.run()
	}
	r.Purpose, r.Env.Machine, r.Env.GitCommit = o.purpose, o.machine, o.commit
	return r
}

func (t *tagPoint) run() schema.Run {
	return schema.Run{
		Suite: t.Suite, Benchmark: t.Benchmark, Variant: t.Variant, Backend: t.Backend, Model: t.Model, Precision: t.Precision,
		BatchSize: t.BatchSize, SeqLen: t.SeqLen, Params: maps.Clone(t.Params),
	}
}

// own makes the run of a document that NeuroLens wrote and, if its timeline is from another run, that one. Its time is the median of samples that
// the document does not have; placeholders are unknown.
func (d *runDocument) own(in *foreign.Input, out *foreign.Output, own *ownTags) error {
	c := &d.meta.Config
	for path, member := range map[string]*foreign.Number{
		"meta.config.batch_size": &c.BatchSize, "meta.config.sequence_length": &c.SequenceLength, "meta.config.repeat": &c.Repeat,
		"summary.metrics.gpu_utilization": &d.summary.Metrics.GPUUtilization, "summary.metrics.sm_efficiency": &d.summary.Metrics.SMEfficiency,
	} {
		if own.unknown(path) {
			*member = ""
		}
	}
	p := neurolensPoint{model: d.model.Name, backend: d.software.Backend, precision: c.Precision, batch: c.BatchSize, seq: c.SequenceLength}
	r := own.run(&p)
	r.BackendVersion, r.RepeatIndex = known(d.software.Version), c.Repeat.Int64()
	d.environment(&r)
	if gb := d.hardware.MemoryGB.Finite("GB"); gb != nil && r.Env.MemoryBytes != nil {
		r.Env.MemoryBytes = new(int64(*gb))
	}
	profile := r
	profile.Env.Facts = maps.Clone(r.Env.Facts)
	setTags(&r, d.meta.Tags)
	if at, source, err := in.Time(d.createdAt, foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	foreign.SetFact(&r, "source.run_id", own.runID)
	if r.Purpose != schema.PurposeProfile { // there it is the sum of the operators
		d.median(&r, schema.PrimaryMetric, "ns", d.summary.TotalDurationMS.Finite("ms"))
	}
	d.median(&r, "gpu_utilization", "ratio", d.summary.Metrics.GPUUtilization.Finite(""))
	d.median(&r, "sm_efficiency", "ratio", d.summary.Metrics.SMEfficiency.Finite(""))
	ops := d.operators(own)
	if own.profileRun == "" {
		r.Ops = ops
		return out.Run("run "+own.runID, r)
	}
	if err := out.Run("run "+own.runID, r); err != nil {
		return err
	}
	if other := own.profileIn + ".json"; own.profileIn != own.runID && own.profileIn == path.Base(own.profileIn) && in.Beside(other) {
		out.LeaveTo(other, "profile that another document has as well", 1)
		return nil
	}
	profile.Purpose, profile.RepeatIndex, profile.Ops = schema.PurposeProfile, nil, ops
	if at, source, err := in.Time(own.profileAt, foreign.ISO...); err == nil {
		foreign.SetStart(&profile, at, source)
	}
	foreign.SetFact(&profile, "source.run_id", own.profileRun)
	return out.Run("run "+own.profileRun, profile)
}

// median adds a metric of which the document has the median.
func (d *runDocument) median(r *schema.Run, name, unit string, v *float64) {
	m := foreign.Aggregate(name, unit, schema.Summary{P50: v})
	foreign.Add(r, m, unit)
}

// operators are those of the timeline, for one iteration. Without a profile the timeline is the whole iteration, which is none.
func (d *runDocument) operators(own *ownTags) []schema.Op {
	if len(d.ops) == 1 && d.ops[0].Type == "iteration" {
		return nil
	}
	for i := range d.ops {
		op := &d.ops[i]
		if own.unknown("timeline.start_ms") && op.StartNS != nil && *op.StartNS == 0 {
			op.StartNS = nil
		}
		op.Name, op.Type = known(op.Name), known(op.Type)
		if len(op.Kernels) == 1 && known(op.Kernels[0]) == op.Name {
			op.Kernels = nil // the schema wants one
		}
		if d.hardware.Vendor == "CPU" {
			op.Device = "cpu"
		}
	}
	return numbered(d.ops)
}
