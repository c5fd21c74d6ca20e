package formats

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// criterion are the formats of Criterion.rs. In its tree, GROUP/FUNCTION/VALUE/new/, the samples are read, and next to
// them the name of the benchmark.
var criterion = []foreign.Format{
	{
		Name:  "criterion",
		About: "Criterion.rs: the folder target/criterion; new/sample.json and benchmark.json are read",
		Level: "a run is a benchmark of a cargo bench, a sample is the mean of its iterations",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("sampling_mode", "iters", "times") || (h.Name == "sample.json" && h.Matches(twoArrays))
		},
		Read: readCriterion,
	},
	{
		Name:      "criterion-messages",
		About:     "cargo-criterion: its messages (--message-format=json)",
		Level:     "a run is a benchmark of a cargo criterion, a sample is the mean of its iterations",
		Recognize: func(h *foreign.Head) bool { return h.Has("reason", "id", "iteration_count", "measured_values") },
		Read:      readCriterionMessages,
	},
	{
		Name:  "criterion-tree",
		About: "Criterion.rs: benchmark.json, estimates.json, tukey.json and raw.csv",
		Side:  "read together with sample.json",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("group_id", "function_id", "value_str") || (h.Name == "tukey.json" && h.Matches(fourNumbers)) ||
				h.HasAny("mean.confidence_interval.confidence_level", "Mean.confidence_interval.confidence_level") ||
				strings.HasPrefix(h.FirstLine(), "group,function,value,throughput_num,")
		},
	},
}

var (
	twoArrays   = regexp.MustCompile(`^\s*\[\s*\[[-+0-9.eE,\s]+\]\s*,\s*\[[-+0-9.eE,\s]*`)
	fourNumbers = regexp.MustCompile(`^\s*\[(?:\s*-?[0-9.eE+-]+\s*,){3}\s*-?[0-9.eE+-]+\s*\]\s*$`)
)

// criterionSample is sample.json: the time in ns of as many iterations, sample by sample. It was two bare arrays until
// Criterion 0.3.3.
type criterionSample struct {
	Mode  string           `json:"sampling_mode"`
	Iters []foreign.Number `json:"iters"`
	Times []foreign.Number `json:"times"`
}

type criterionBenchmark struct {
	Group      string         `json:"group_id"`
	Function   string         `json:"function_id"`
	Value      string         `json:"value_str"`
	Throughput jsontext.Value `json:"throughput"`
}

// criterionThroughput is the work of an iteration.
type criterionThroughput struct {
	Bytes        foreign.Number
	BytesDecimal foreign.Number
	Bits         foreign.Number
	Elements     foreign.Number
	Both         struct {
		Bytes    foreign.Number `json:"bytes"`
		Elements foreign.Number `json:"elements"`
	} `json:"ElementsAndBytes"`
}

func readCriterion(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	if older(in) {
		out.LeaveOut("copies of an earlier run, next to new/", 1)
		return j.Skip()
	}
	var sample criterionSample
	var err error
	if j.Kind() == '[' {
		var arrays [2][]foreign.Number
		err = j.Decode(&arrays)
		sample.Iters, sample.Times = arrays[0], arrays[1]
	} else {
		err = j.Decode(&sample)
	}
	if err != nil {
		return out.RefuseMismatch(err)
	}
	var b criterionBenchmark
	if err := side(in, "benchmark.json", &b); err != nil {
		out.Refuse("benchmark.json", err)
		return nil
	}
	r := schema.Run{Benchmark: cmp.Or(b.Group, b.Function)}
	if b.Group != "" && b.Function != "" {
		r.Benchmark += "/" + b.Function
	}
	if b.Group == "" && b.Function == "" && b.Value == "" {
		out.Refuse("benchmark.json", errors.New("the benchmark has no name: the file is missing or has none"))
		return nil
	}
	foreign.SetParam(&r, "value", b.Value)
	foreign.SetFact(&r, "sampling_mode", sample.Mode)
	m, err := perIteration(sample.Iters, sample.Times, "ns")
	if err != nil {
		out.Refuse("/times", err)
		return nil
	}
	foreign.Add(&r, m, "ns")
	if b.Throughput != nil {
		var t criterionThroughput
		if err := foreign.DecodeAt("/throughput", b.Throughput, &t); err != nil {
			out.LeaveOut("throughputs in an unknown layout", 1)
		} else {
			addWork(&r, m, t)
		}
	}
	return out.Run("/", r)
}

// older reports whether a file is from an earlier run that Criterion keeps next to the new one: base/, or a baseline with
// another name.
func older(in *foreign.Input) bool {
	switch path.Base(path.Dir(in.Path)) {
	case "new", ".":
		return false
	case "base":
		return true
	}
	_, err := in.Side("../new/sample.json")
	return !errors.Is(err, fs.ErrNotExist)
}

// perIteration returns the latency of samples that are the time of several iterations each.
func perIteration(iterations, times []foreign.Number, unit string) (schema.Metric, error) {
	if len(iterations) != len(times) {
		return schema.Metric{}, fmt.Errorf("%d iteration counts for %d times", len(iterations), len(times))
	}
	s, err := foreign.SeriesOf(times, unit)
	if err != nil {
		return schema.Metric{}, fmt.Errorf("reading times: %w", err)
	}
	m := s.Metric(schema.PrimaryMetric, schema.LevelIteration)
	values, equal := m.Values(), true
	for i, text := range iterations {
		n := text.Int64()
		if n == nil || *n <= 0 {
			return schema.Metric{}, fmt.Errorf("sample %d has %q iterations", i, text)
		}
		values[i] /= float64(*n)
		m.IterationsPerSample = append(m.IterationsPerSample, *n)
		equal = equal && *n == m.IterationsPerSample[0]
	}
	if equal && len(iterations) > 0 {
		m.IterationsPerSample = m.IterationsPerSample[:1]
	}
	if len(values) == 0 {
		return schema.Metric{}, fmt.Errorf("no samples")
	}
	m.Ticks, m.Tick, m.Reals = nil, 0, values
	return m, nil
}

// addWork sets the work of an iteration, and adds the rate.
func addWork(r *schema.Run, latency schema.Metric, t criterionThroughput) {
	for _, n := range []foreign.Number{t.Bytes, t.BytesDecimal, t.Both.Bytes} {
		if r.Work.Bytes == nil {
			r.Work.Bytes = n.Int64()
		}
	}
	if bits := t.Bits.Int64(); bits != nil && *bits%8 == 0 {
		r.Work.Bytes = new(*bits / 8)
	}
	for _, n := range []foreign.Number{t.Elements, t.Both.Elements} {
		if r.Work.Items == nil {
			r.Work.Items = n.Finite("")
		}
	}
	if r.Work.Bytes != nil {
		foreign.Add(r, rateOf("bandwidth", "B/s", float64(*r.Work.Bytes), latency), "")
	}
	if r.Work.Items != nil {
		foreign.Add(r, rateOf("throughput", "1/s", *r.Work.Items, latency), "")
	}
}

// rateOf returns the work per second, sample by sample.
func rateOf(name, unit string, work float64, latency schema.Metric) schema.Metric {
	s := foreign.Series{Unit: unit, Given: unit, Reals: make([]float64, len(latency.Reals))}
	for i, ns := range latency.Reals {
		s.Reals[i] = work / ns * 1e9
	}
	m := s.Metric(name, latency.Level)
	m.IterationsPerSample = latency.IterationsPerSample
	return m
}

type criterionMessage struct {
	Reason     string           `json:"reason"`
	ID         string           `json:"id"`
	Unit       string           `json:"unit"`
	Iterations []foreign.Number `json:"iteration_count"`
	Values     []foreign.Number `json:"measured_values"`
	Throughput []struct {
		PerIteration foreign.Number `json:"per_iteration"`
		Unit         string         `json:"unit"`
	} `json:"throughput"`
}

func readCriterionMessages(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	for n := 1; j.More(); n++ {
		err := readNext(j, out, func(_ string, message *criterionMessage) error {
			if message.Reason != "benchmark-complete" {
				return nil
			}
			r, err := message.run()
			return out.RunOr(fmt.Sprintf("message %d", n), r, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (message *criterionMessage) run() (schema.Run, error) {
	if message.ID == "" {
		return schema.Run{}, fmt.Errorf("the benchmark has no id")
	}
	r := schema.Run{Benchmark: message.ID}
	m, err := perIteration(message.Iterations, message.Values, message.Unit)
	if err != nil {
		return schema.Run{}, err
	}
	if m.Unit != "ns" { // another measurement than time
		m.Name = "measurement"
	}
	foreign.Add(&r, m, message.Unit)
	var t criterionThroughput
	for _, w := range message.Throughput {
		switch w.Unit {
		case "bytes":
			t.Bytes = w.PerIteration
		case "elements":
			t.Elements = w.PerIteration
		}
	}
	if m.Unit == "ns" {
		addWork(&r, m, t)
	}
	return r, nil
}
