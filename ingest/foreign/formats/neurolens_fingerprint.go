package formats

import (
	"fmt"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// fingerprint has, for each op of a run, its share of the time and how it used the device.
type fingerprint struct {
	RunID      string           `json:"run_id"`
	SourceSHA  string           `json:"source_run_sha"`
	CreatedAt  string           `json:"created_at"`
	VectorSpec []string         `json:"vector_spec"`
	Ops        []jsontext.Value `json:"ops"`
	Summary    struct {
		TotalLatencyMS foreign.Number `json:"total_latency_ms"`
	} `json:"summary"`
}

type fingerprintOp struct {
	Name   string           `json:"name"`
	Type   string           `json:"type"`
	Index  foreign.Number   `json:"index"`
	Vector []foreign.Number `json:"vector"`
}

const fingerprintEnding = ".fp.json"

// readFingerprint leaves the fingerprint to its run document, if that exists. Otherwise the fingerprint is a profile.
func readFingerprint(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var f fingerprint
	if err := j.Decode(&f); err != nil {
		return out.RefuseMismatch(err)
	}
	if document := runBeside(in, f.RunID); document != "" {
		out.LeaveTo(document, "fingerprint whose run document is read instead", 1)
		return nil
	}
	r := schema.Run{Benchmark: "fingerprint", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "run_id", f.RunID)
	foreign.SetFact(&r, "source.run_sha", f.SourceSHA)
	if at, source, err := in.Time(f.CreatedAt, foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	total := positive(f.Summary.TotalLatencyMS)
	foreign.Add(&r, foreign.Aggregate(schema.PrimaryMetric, "ms", lone(total, "ms")), "ms")
	for i, text := range f.Ops {
		var o fingerprintOp
		if err := foreign.DecodeAt(fmt.Sprintf("/ops/%d", i), text, &o); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		r.Ops = append(r.Ops, f.op(i, &o, total))
	}
	r.Ops = numbered(r.Ops)
	return out.Run("fingerprint of "+f.RunID, r)
}

// op makes an op from its fingerprint alone: its time is its share of the whole.
func (f *fingerprint) op(i int, o *fingerprintOp, total foreign.Number) schema.Op {
	op := schema.Op{Index: int64(i), Name: o.Name, Type: o.Type}
	if index := o.Index.Int64(); index != nil {
		op.Index = *index
	}
	f.count(o, &op)
	if ns, share := total.Finite("ms"), op.Counters["lat_norm"]; ns != nil && share > 0 {
		op.DurationNS = nanosecondsOf(foreign.Number(fmt.Sprint(*ns*share)), "ns")
	}
	return op
}

// count adds the numbers of an op's vector under the names of the tool. The tool writes a zero for an unknown number.
func (f *fingerprint) count(o *fingerprintOp, op *schema.Op) {
	for i, name := range f.VectorSpec[:min(len(f.VectorSpec), len(o.Vector))] {
		if v := positive(o.Vector[i]).Finite(""); v != nil {
			setCounter(op, name, *v)
		}
	}
}

// runBeside is the path of the run document of a fingerprint, if it is where the tool puts it: in the same folder of a
// run store, or in runs/ of a sweep or a bundle.
func runBeside(in *foreign.Input, runID string) string {
	stem, ok := strings.CutSuffix(path.Base(in.Path), fingerprintEnding)
	if !ok {
		return ""
	}
	for _, folder := range []string{"", "../runs/"} {
		text, err := in.Side(folder + stem + ".json")
		if err != nil {
			continue
		}
		var d struct {
			RunID string `json:"run_id"`
		}
		if foreign.Decode(text, &d) == nil && d.RunID == runID {
			return folder + stem + ".json"
		}
	}
	return ""
}

// enrich adds the fingerprint of a run to its ops, if it is where the tool puts it.
func enrich(in *foreign.Input, runID string, r *schema.Run) {
	stem := strings.TrimSuffix(path.Base(in.Path), ".json")
	for _, folder := range []string{"", "../fp/", "../fingerprints/"} {
		f, err := sideFingerprint(in, folder+stem+fingerprintEnding)
		if err != nil || f.RunID != runID {
			continue
		}
		places := map[int64]int{}
		for i := range r.Ops {
			places[r.Ops[i].Index] = i
		}
		for i, text := range f.Ops {
			var o fingerprintOp
			if foreign.Decode(text, &o) != nil {
				continue // it is refused where the fingerprint itself is read
			}
			index := int64(i)
			if o.Index.Int64() != nil {
				index = *o.Index.Int64()
			}
			if place, ok := places[index]; ok && r.Ops[place].Name == o.Name {
				f.count(&o, &r.Ops[place])
			}
		}
		return
	}
}

func sideFingerprint(in *foreign.Input, name string) (fingerprint, error) {
	var f fingerprint
	text, err := in.Side(name)
	if err != nil {
		return f, err
	}
	return f, foreign.Decode(text, &f)
}
