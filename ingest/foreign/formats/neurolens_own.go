package formats

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

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

// describe sets what the tags say of a run, and removes them from its own.
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

// own makes the run of a document that NeuroLens wrote and, if its timeline is from another run, that one. r is what a document of the harness
// would be. Its time is the median of samples that the document does not have; placeholders are unknown.
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
	if at, source, err := in.Time(own.profileAt, foreign.ISO...); err == nil {
		foreign.SetStart(&profile, at, source)
	}
	return out.Run("run "+own.runID, profile)
}

// measured sets what the document says of the machine, and the metrics.
func (d *runDocument) measured(own *ownTags, r *schema.Run) {
	if gb := d.hardware.MemoryGB.Finite("GB"); gb != nil && r.Env.MemoryBytes != nil {
		r.Env.MemoryBytes = new(int64(*gb))
	}
	r.Metrics, r.Ops, r.Warnings, r.Primary = nil, nil, nil, ""
	if r.Purpose == schema.PurposeProfile { // the total is the sum of the operators
		return
	}
	d.median(r, schema.PrimaryMetric, "ns", d.summary.TotalDurationMS.Finite("ms"))
	for name, n := range map[string]foreign.Number{"gpu_utilization": d.summary.Metrics.GPUUtilization, "sm_efficiency": d.summary.Metrics.SMEfficiency} {
		if !own.unknown("summary.metrics." + name) {
			d.median(r, name, "ratio", n.Finite(""))
		}
	}
	if len(r.Metrics) > 0 {
		r.Primary = r.Metrics[0].Name
	}
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
		op.Name, op.Type = knownText(op.Name), knownText(op.Type)
		if len(op.Kernels) == 1 && knownText(op.Kernels[0]) == op.Name {
			op.Kernels = nil // the schema wants one
		}
		if d.hardware.Vendor == "CPU" {
			op.Device = "cpu"
		}
		if delete(op.Counters, "lat_norm"); len(op.Counters) == 0 { // of the fingerprint: the share of the time
			op.Counters = nil
		}
	}
	return numbered(d.ops)
}
