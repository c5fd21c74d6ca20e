package formats

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var jmh = foreign.Format{
	Name:      "jmh",
	About:     "JMH, the Java microbenchmark harness: JSON of its results (-rf json), also as a JavaScript array",
	Level:     "a run is a fork, a sample is the score of an iteration (in mode sample: a call)",
	Recognize: func(h *foreign.Head) bool { return jmhStart(h) >= 0 },
	Read:      readJMH,
}

var (
	jmhScript = regexp.MustCompile(`=\s*\[\s*\{\s*"`)
	jmhWords  = regexp.MustCompile(`"primaryMetric"\s*:`)
)

// jmhStart returns the offset of the results: of the array, which in JavaScript is assigned to a variable; -1 for none.
func jmhStart(h *foreign.Head) int {
	if h.Has("[].benchmark", "[].mode", "[].primaryMetric.scoreUnit") {
		return h.JSONAt
	}
	if h.Has("benchmark", "mode", "primaryMetric.scoreUnit") {
		if before := bytes.TrimSpace(h.Bytes[:h.JSONAt]); bytes.HasSuffix(before, []byte("[")) {
			return bytes.LastIndexByte(h.Bytes[:h.JSONAt], '[')
		}
		return h.JSONAt
	}
	if at := jmhScript.FindIndex(h.Bytes); at != nil && h.JSONAt < 0 && h.Matches(jmhWords) {
		return at[0] + bytes.IndexByte(h.Bytes[at[0]:], '[')
	}
	return -1
}

type jmhResult struct {
	JMHVersion       string                  `json:"jmhVersion" fact:"jmh_version"`
	Benchmark        string                  `json:"benchmark" run:"Benchmark"`
	Mode             string                  `json:"mode"`
	Threads          foreign.Text            `json:"threads"`
	JVMArgs          []string                `json:"jvmArgs"`
	JDKVersion       string                  `json:"jdkVersion" fact:"jdk_version"`
	VMName           string                  `json:"vmName" fact:"vm_name"`
	VMVersion        string                  `json:"vmVersion" fact:"vm_version"`
	WarmupIterations foreign.Text            `json:"warmupIterations" fact:"warmup_iterations"`
	WarmupTime       foreign.Text            `json:"warmupTime" fact:"warmup_time"`
	MeasurementTime  foreign.Text            `json:"measurementTime" fact:"measurement_time"`
	MeasurementBatch foreign.Text            `json:"measurementBatchSize" fact:"measurement_batch_size"`
	Params           map[string]foreign.Text `json:"params"`
	Primary          jmhMetric               `json:"primaryMetric"`
	Secondary        map[string]jmhMetric    `json:"secondaryMetrics"`
}

type jmhMetric struct {
	Score       foreign.Number            `json:"score"`
	Percentiles map[string]foreign.Number `json:"scorePercentiles"`
	Unit        string                    `json:"scoreUnit"`
	// RawData has the scores of the iterations by fork; in mode sample it has values with their counts instead, by fork and iteration.
	RawData   [][]foreign.Number      `json:"rawData"`
	Histogram [][][][2]foreign.Number `json:"rawDataHistogram"`
}

// forks returns how many forks have raw values.
func (m *jmhMetric) forks() int { return max(len(m.RawData), len(m.Histogram)) }

func readJMH(in *foreign.Input, out *foreign.Output) error {
	if at := jmhStart(in.Head); at >= 0 {
		in.Head.JSONAt = at
	}
	j := in.JSON()
	for first := true; first || j.Kind() == '[' || another(j); first = false {
		read := func(where string, result *jmhResult) error { return result.read(where, out) }
		var err error
		if j.Kind() == '[' {
			err = eachElement(j, out, read)
		} else {
			err = readNext(j, out, read)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read yields the runs of a result: one for each fork, or one for all if there are only aggregates.
func (result *jmhResult) read(where string, out *foreign.Output) error {
	out.Version(result.JMHVersion)
	if result.Benchmark == "" {
		return refusal(where, "a result without the name of a benchmark")
	}
	forks := result.Primary.forks()
	if forks == 0 {
		return out.Run(where, result.score())
	}
	for fork := range forks {
		if err := out.RefuseMismatch(result.yieldFork(fork, where, out)); err != nil {
			return err
		}
	}
	return nil
}

// run returns a run with the values that all forks of a result share.
func (result *jmhResult) run() (r schema.Run) {
	describe(&r, result)
	for _, name := range slices.Sorted(maps.Keys(result.Params)) {
		foreign.SetParam(&r, name, string(result.Params[name]))
	}
	// A benchmark can have parameters of these names, too.
	for name, text := range map[string]string{"mode": result.Mode, "threads": string(result.Threads)} {
		if _, taken := result.Params[name]; taken {
			name = "jmh_" + name
		}
		foreign.SetParam(&r, name, text)
	}
	options := slices.DeleteFunc(slices.Clone(result.JVMArgs), func(arg string) bool {
		return !strings.HasPrefix(arg, "-X") // others may be paths and secrets
	})
	foreign.SetFact(&r, "jvm_options", strings.Join(options, " "))
	return r
}

// jmhPercentile matches the names of the percentiles of an iteration's samples.
var jmhPercentile = regexp.MustCompile(`(^|·)p[01]\.[0-9]+$`)

// yieldFork yields the run of a fork.
func (result *jmhResult) yieldFork(fork int, where string, out *foreign.Output) error {
	r := result.run()
	m, err := result.Primary.samples("", fork)
	if err != nil {
		return refusal(fmt.Sprintf("%s/primaryMetric, fork %d", where, fork), "%w", err)
	}
	if m.Values() == nil {
		r.Status, r.Error = schema.StatusError, "no iteration was measured"
	}
	foreign.Add(&r, m, result.Primary.Unit)
	for _, name := range slices.Sorted(maps.Keys(result.Secondary)) {
		secondary := result.Secondary[name]
		if result.Primary.Histogram != nil && jmhPercentile.MatchString(name) {
			out.LeaveOutNamed("percentiles of samples", name)
			continue
		}
		if secondary.Unit == "---" { // text of a profiler
			out.LeaveOutNamed("profiles in text form", name)
			continue
		}
		m, err := secondary.samples(name, fork)
		if err == nil && r.Metric(m.Name) != nil {
			err = fmt.Errorf("metric %s appears twice", m.Name)
		}
		if err != nil {
			out.Refuse(fmt.Sprintf("%s/secondaryMetrics/%s, fork %d", where, name, fork), err)
			continue
		}
		foreign.Add(&r, m, secondary.Unit)
	}
	return out.Run(where, r)
}

// score returns the run of a result without raw values.
func (result *jmhResult) score() schema.Run {
	r := result.run()
	p, q := &result.Primary, result.Primary.quantity("")
	value := func(n foreign.Number) *float64 {
		s, err := q.series([]foreign.Number{n})
		if n.Finite("") == nil || err != nil {
			return nil
		}
		m := s.Metric(q.metric, "")
		return &m.Values()[0]
	}
	m := foreign.Aggregate(q.metric, q.stored, schema.Summary{
		Mean: value(p.Score), Min: value(p.Percentiles["0.0"]), P50: value(p.Percentiles["50.0"]), P90: value(p.Percentiles["90.0"]),
		P95: value(p.Percentiles["95.0"]), P99: value(p.Percentiles["99.0"]), Max: value(p.Percentiles["100.0"]),
	})
	m.Better = q.better
	if m.Summary == (schema.Summary{}) {
		r.Status, r.Error = schema.StatusError, "no score"
	}
	foreign.Add(&r, m, p.Unit)
	return r
}

// quantity is the metric of a JMH score, by its unit.
type quantity struct {
	metric string
	stored string  // unit
	as     string  // unit with the same power of ten, by which the digits are read
	factor float64 // if no power of ten matches; 0 for none
	better schema.Better
}

// jmhTimes are the units of time in JMH, with the unit whose value in 1/s equals one per this time.
var jmhTimes = map[string]struct {
	unit  string
	per   string
	perBy float64
}{
	"ns": {"ns", "s", 0}, "us": {"us", "ms", 0}, "ms": {"ms", "us", 0}, "s": {"s", "", 0}, "min": {"min", "", 1. / 60}, "hr": {"h", "", 1. / 3600},
}

// quantity returns the quantity of a metric; the name is empty for the primary one. The unit decides, not the mode, because
// files have thrpt for s/op.
func (m *jmhMetric) quantity(name string) quantity {
	metric := foreign.MetricName(strings.TrimLeft(name, "·"))
	named := func(usual string) string {
		if name == "" {
			return usual
		}
		return metric
	}
	if t, ok := jmhTimes[strings.TrimSuffix(m.Unit, "/op")]; ok {
		return quantity{named("latency"), "ns", t.unit, 0, schema.BetterLower}
	}
	if per, ok := strings.CutPrefix(m.Unit, "ops/"); ok {
		if t, ok := jmhTimes[per]; ok {
			return quantity{named("throughput"), "1/s", t.per, t.perBy, schema.BetterHigher}
		}
	}
	switch {
	case m.Unit == "B/op":
		return quantity{named("memory"), "B", "B", 0, schema.BetterLower}
	case m.Unit == "MB/sec" && strings.HasPrefix(metric, "gc."): // of 1024 * 1024 bytes
		return quantity{metric, "B/s", "MiB", 0, schema.BetterLower}
	case m.Unit == "insns/clk":
		return quantity{named("score"), m.Unit, "", 0, schema.BetterHigher}
	case m.Unit == "#/op", m.Unit == "clks/insn", strings.HasPrefix(metric, "gc."):
		return quantity{named("score"), m.Unit, "", 0, schema.BetterLower}
	}
	stored, _, _ := schema.StoredUnit(m.Unit)
	return quantity{named("score"), stored, m.Unit, 0, ""}
}

// series reads scores.
func (q quantity) series(numbers []foreign.Number) (foreign.Series, error) {
	s, err := foreign.SeriesOf(numbers, q.as)
	if err != nil {
		return foreign.Series{}, err
	}
	if q.factor != 0 {
		m := s.Metric(q.metric, "")
		s.Reals, s.Ticks = append([]float64{}, m.Values()...), nil
		for i := range s.Reals {
			s.Reals[i] *= q.factor
		}
	}
	s.Unit = q.stored
	return s, nil
}

// maxSamples limits the number of samples of a histogram.
const maxSamples = 4 << 20

// samples returns the scores of a fork. A metric without scores in the fork has no values.
func (m *jmhMetric) samples(name string, fork int) (schema.Metric, error) {
	var numbers []foreign.Number
	if fork < len(m.RawData) {
		numbers = m.RawData[fork]
	}
	if fork < len(m.Histogram) {
		for _, iteration := range m.Histogram[fork] {
			for _, bin := range iteration {
				count := bin[1].Int64()
				if count == nil || *count < 0 || *count > int64(maxSamples-len(numbers)) {
					return schema.Metric{}, fmt.Errorf("a value occurs %q times: want a count, and at most %d samples", bin[1], maxSamples)
				}
				for range *count {
					numbers = append(numbers, bin[0])
				}
			}
		}
	}
	q := m.quantity(name)
	s, err := q.series(numbers)
	if err != nil {
		return schema.Metric{}, err
	}
	metric := s.Metric(q.metric, schema.LevelIteration)
	metric.Better = q.better
	return metric, nil
}
