package formats

import (
	"fmt"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// inDocument is why a row of a table does not become a run.
const inDocument = "row whose run document is read instead"

// readSummary reads the table of a sweep. A row whose run document is in runs/ is left to that document.
func readSummary(in *foreign.Input, out *foreign.Output) error {
	return tables{
		heading: func(names, _ []string) bool { return names == nil },
		fits:    func(_, _ []string) bool { return true },
		row: func(out *foreign.Output, where string, names, record []string) error {
			if len(record) == 1 && strings.TrimSpace(record[0]) == "" {
				return nil
			}
			if len(record) != len(names) {
				return refusal(where, "%d fields, want %d", len(record), len(names))
			}
			row := summaryRow{}
			for i, name := range names {
				row[strings.TrimSpace(name)] = strings.TrimSpace(record[i])
			}
			if id := row["run_id"]; id != "" && id == path.Base(id) {
				for _, end := range []string{".json", failedEnding} {
					if document := "runs/" + id + end; in.Beside(document) {
						out.LeaveTo(document, inDocument, 1)
						return nil
					}
				}
			}
			r, err := row.run(in)
			if err != nil {
				return refusal(where, "%w", err)
			}
			return out.RunWith(where, r, row.own)
		},
	}.read(in, out)
}

// summaryRow has the cells of a row of summary.csv by their columns.
type summaryRow map[string]string

func (s summaryRow) number(column string) (foreign.Number, error) {
	n, err := cellNumber(s[column])
	if err != nil {
		return "", fmt.Errorf("%s: %w", column, err)
	}
	return n, nil
}

// cellNumber reads a number of a table.
func cellNumber(text string) (foreign.Number, error) {
	n := foreign.Number(text)
	if text != "" && n.Float64() == nil {
		return "", fmt.Errorf("%.60q is not a number", text)
	}
	return n, nil
}

// runStampLayout is how the name of a run begins, in UTC.
const runStampLayout = "20060102T150405Z07:00"

func (s summaryRow) run(in *foreign.Input) (schema.Run, error) {
	var numbers [4]foreign.Number
	for i, column := range []string{"batch_size", "seq_len", "total_latency_ms", "gpu_utilization"} {
		var err error
		if numbers[i], err = s.number(column); err != nil {
			return schema.Run{}, err
		}
	}
	p := neurolensPoint{model: s["model"], backend: s["backend"], precision: s["precision"], batch: numbers[0], seq: numbers[1]}
	r := p.run()
	neurolensAggregates(&r, numbers[2], numbers[3])
	r.Env.GPUName = knownText(s["gpu_name"])
	stamp, _, _ := strings.Cut(s["run_id"], "-")
	in.SetStart(&r, stamp+"Z", runStampLayout)
	foreign.SetFact(&r, "source.run_id", s["run_id"])
	r.Status = schema.Status(s["status"]) // a column of later versions
	return r, nil
}

// own sets the fields of a run in the columns that only NeuroLens writes. The numbers of such a table are medians, and zero is one.
func (s summaryRow) own(r *schema.Run) {
	if _, own := s["run_uuid"]; !own {
		return
	}
	r.Metrics, r.Primary = nil, ""
	for _, m := range []struct{ name, column, unit, stored string }{{schema.PrimaryMetric, "total_latency_ms", "ms", "ns"}, {"gpu_utilization", "gpu_utilization", "", "ratio"}} {
		n, err := s.number(m.column)
		if v := n.Finite(m.unit); err == nil && v != nil {
			foreign.Add(r, foreign.Aggregate(m.name, m.stored, schema.Summary{P50: v}), "")
			r.Primary = r.Metrics[0].Name
		}
	}
	if s["benchmark"] == "" {
		return // of an earlier version
	}
	r.Suite, r.Benchmark, r.Variant = s["suite"], s["benchmark"], s["variant"]
	var params map[string]string
	if foreign.Decode([]byte(s["params"]), &params) == nil {
		for name, text := range params {
			foreign.SetParam(r, name, text)
		}
	}
}

// failedEnding ends the names of documents of runs that are not ok.
const failedEnding = ".failed.json"

// neurolensAggregates adds the two numbers that tables have. Both are 0.0 if unknown.
func neurolensAggregates(r *schema.Run, latency, utilization foreign.Number) {
	foreign.Add(r, foreign.Aggregate(schema.PrimaryMetric, "ms", lone(positive(latency), "ms")), "ms")
	addMean(r, harnessQuantity{"gpu_utilization", "ratio", schema.BetterHigher}, "", positive(utilization))
}

// The files that list the runs of a run store: the ledger, and an index that is made from it.
const (
	ledgerFile = "_manifest.jsonl"
	indexFile  = "_index.jsonl"
)

// ledgerRow is a row of the ledger of a run store.
type ledgerRow struct {
	RunID       string         `json:"run_id" fact:"source.run_id"`
	CreatedAt   string         `json:"created_at"`
	Backend     string         `json:"backend"`
	Model       string         `json:"model_name"`
	Precision   string         `json:"precision"`
	BatchSize   foreign.Number `json:"batch_size"`
	SeqLen      foreign.Number `json:"seq_len"`
	Latency     foreign.Number `json:"total_latency_ms"`
	Utilization foreign.Number `json:"gpu_utilization"`
	GPUName     string         `json:"gpu_name"`
	Driver      string         `json:"driver_version"`
	CUDA        string         `json:"cuda_version"`
	Tags        foreign.Text   `json:"tags"` // a JSON object, in a string
	Path        string         `json:"path_run_json"`
}

// readLedger reads the ledger of a run store, or its index. A row whose run document exists is left to that document. A
// run that was written twice has two rows.
func readLedger(in *foreign.Input, out *foreign.Output) error {
	if in.Head.Name == indexFile && in.Beside(ledgerFile) {
		out.LeaveTo(ledgerFile, "index of the ledger "+ledgerFile, 1)
		return nil
	}
	l := ledger{in, out, map[string]bool{}}
	return eachJSONLine(in, out, l.row)
}

// readListing reads the output of ls --json: the rows of the ledger of a run store in an array.
func readListing(in *foreign.Input, out *foreign.Output) error {
	l := ledger{in, out, map[string]bool{}}
	return eachElement(in.JSON(), out, l.row)
}

// ledger is a ledger that is read.
type ledger struct {
	in   *foreign.Input
	out  *foreign.Output
	seen map[string]bool // ids
}

func (l *ledger) row(where string, row *ledgerRow) error {
	switch {
	case row.Path != "" && l.in.Beside(row.Path):
		l.out.LeaveTo(row.Path, inDocument, 1)
	case row.RunID != "" && l.seen[row.RunID]:
		l.out.LeaveOut("row of a run that was already listed", 1)
	default:
		l.seen[row.RunID] = true
		return l.out.Run(where, row.run(l.in))
	}
	return nil
}

func (row *ledgerRow) run(in *foreign.Input) schema.Run {
	p := neurolensPoint{row.Model, row.Backend, row.Precision, row.BatchSize, row.SeqLen}
	r := p.run()
	neurolensAggregates(&r, row.Latency, row.Utilization)
	in.SetStart(&r, row.CreatedAt)
	r.Env.GPUName = knownText(row.GPUName)
	r.Env.DriverVersion = knownText(row.Driver)
	if m := cudaVersionOf.FindStringSubmatch(strings.TrimSpace(row.CUDA)); m != nil {
		r.Env.CUDAVersion = m[1] + m[2]
	}
	var tags map[string]foreign.Text
	if foreign.Decode([]byte(row.Tags), &tags) == nil {
		setTags(&r, tags)
	}
	describe(&r, row)
	return r
}

func setTags(r *schema.Run, tags map[string]foreign.Text) {
	for name, text := range tags {
		foreign.Put(&r.Tags, name, string(text))
	}
}

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
	var f fingerprint
	if err := in.JSON().Decode(&f); err != nil {
		return out.RefuseMismatch(err)
	}
	if document := runBeside(in, f.RunID); document != "" {
		out.LeaveTo(document, "fingerprint whose run document is read instead", 1)
		return nil
	}
	r := schema.Run{Benchmark: "fingerprint", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "run_id", f.RunID)
	foreign.SetFact(&r, "source.run_sha", f.SourceSHA)
	in.SetStart(&r, f.CreatedAt)
	total := positive(f.Summary.TotalLatencyMS)
	foreign.Add(&r, foreign.Aggregate(schema.PrimaryMetric, "ms", lone(total, "ms")), "ms")
	for i, text := range f.Ops {
		var o fingerprintOp
		if decode(out, fmt.Sprintf("/ops/%d", i), text, &o) {
			r.Ops = append(r.Ops, f.op(i, &o, total))
		}
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
			foreign.Put(&op.Counters, name, *v)
		}
	}
}

// runBeside returns the path of the run document of a fingerprint, if it is where the tool puts it: in the same folder of a
// run store, or in runs/ of a sweep or a bundle.
func runBeside(in *foreign.Input, runID string) string {
	stem, ok := strings.CutSuffix(path.Base(in.Path), fingerprintEnding)
	if !ok {
		return ""
	}
	for _, folder := range []string{"", "../runs/"} {
		var d struct {
			RunID *string `json:"run_id"`
		}
		if side(in, folder+stem+".json", &d) == nil && d.RunID != nil && *d.RunID == runID {
			return folder + stem + ".json"
		}
	}
	return ""
}

// enrich adds the fingerprint of a run to its ops, if it is where the tool puts it.
func enrich(in *foreign.Input, runID string, r *schema.Run) {
	stem := strings.TrimSuffix(path.Base(in.Path), ".json")
	for _, folder := range []string{"", "../fp/", "../fingerprints/"} {
		var f fingerprint
		if side(in, folder+stem+fingerprintEnding, &f) != nil || f.RunID != runID || f.Ops == nil {
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
