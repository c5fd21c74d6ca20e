package formats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// values are numbers and other things by name.
type values map[string]jsontext.Value

// measuredRun is one side of a pair in a results file.
type measuredRun struct {
	time, p75, p90, memory  foreign.Number
	percentiles             map[string]foreign.Number
	throughput, custom, gpu values
	traces                  [4]string // in the order of profilers
	profiler                values
	word, why               string // status and reason
	regressed               bool   // against an expectation
}

// profilers are the names of the profilers.
var profilers = [4]string{"nsys", "ncu", "torch", "proton"}

// emit makes a run from the measured values, and one for each profiler.
func (m *measuredRun) emit(where string, out *foreign.Output, r schema.Run) error {
	profiled := r
	v := m.time.Float64()
	switch {
	case v == nil:
		failRun(&r, m.word, m.why)
	case *v <= 0:
		zeroTime(&r, m.word, m.why)
	default:
		m.outcome(&r)
		m.metrics(&r)
	}
	if err := out.Run(where, r); err != nil {
		return err
	}
	return m.profiles(where, out, profiled)
}

// profiles makes a run for each profiler. The harness profiles in separate processes.
func (m *measuredRun) profiles(where string, out *foreign.Output, r schema.Run) error {
	for i, name := range profilers {
		if err := m.profile(where, out, r, name, m.traces[i]); err != nil {
			return err
		}
	}
	return nil
}

// zeroTime sets how a run with a time of 0 ended: the harness writes that for a timeout, and calls it a success.
func zeroTime(r *schema.Run, word, why string) {
	if why == "" {
		why = "TIMEOUT: 0 ms is what the harness writes for one"
	}
	failRun(r, word, why)
	if r.Status == schema.StatusError {
		r.Status, r.Stage, r.ErrorKind = schema.StatusTimeout, schema.StageMeasure, ""
	}
}

// outcome sets how a run with a time ended. A run that is slower than expected was measured all the same.
func (m *measuredRun) outcome(r *schema.Run) {
	switch m.word {
	case "failed_verification":
		r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, m.word, m.why
	case "failed", "failed_error", "failed_generic", "error", "timeout", "crashed":
		failRun(r, m.word, m.why)
	case regression:
		m.regressed = true
	}
	if m.regressed {
		setTags(r, map[string]foreign.Text{"regression": "true"})
	}
}

func (m *measuredRun) metrics(r *schema.Run) {
	s := schema.Summary{
		Mean: m.time.Finite("ms"), P75: m.p75.Finite("ms"), P90: m.p90.Finite("ms"),
	}
	setPercentiles(&s, m.percentiles)
	addLatency(r, s)
	addSample(r, harnessQuantity{name: "device_memory_peak", unit: "MiB"}, "", positive(m.memory), schema.LevelProcess)
	addThroughput(r, m.throughput)
	addGPU(r, m.gpu)
	addCustom(r, m.custom)
}

// factPercentiles is the fact with the definition of the percentiles of a tool.
const factPercentiles = "source.percentiles"

// addLatency adds aggregates of the times of a run. The percentiles of the harness are measured values: the one at or
// below the rank.
func addLatency(r *schema.Run, s schema.Summary) {
	latency := foreign.Aggregate(schema.PrimaryMetric, "ms", s)
	if latency.Summary == (schema.Summary{}) {
		return
	}
	if s.P25 != nil || s.P50 != nil || s.P75 != nil || s.P90 != nil || s.P95 != nil || s.P99 != nil {
		foreign.SetFact(r, factPercentiles, "floor rank")
	}
	foreign.Add(r, latency, "ms")
	r.Primary = latency.Name
}

// setPercentiles sets percentiles in ms whose keys are numbers: "75.0".
func setPercentiles(s *schema.Summary, percentiles map[string]foreign.Number) {
	for key, n := range percentiles {
		if n.Finite("ms") != nil {
			setStatistic(s, "p"+strings.TrimSuffix(key, ".0"), n, "ms")
		}
	}
}

// throughputs are the rates of the harness: they are counts of one iteration over its mean time.
var throughputs = []struct {
	key string
	harnessQuantity
}{
	{"requests_per_s", harnessQuantity{"request_throughput", "1/s", schema.BetterHigher}},
	{"tokens_per_s", harnessQuantity{"token_throughput", "1/s", schema.BetterHigher}},
	{"samples_per_s", harnessQuantity{"sample_throughput", "1/s", schema.BetterHigher}},
	{"bytes_per_s", harnessQuantity{"bandwidth", "B/s", schema.BetterHigher}},
	{"goodput", harnessQuantity{"goodput", "ratio", schema.BetterHigher}},
}

func addThroughput(r *schema.Run, v values) {
	for _, t := range throughputs {
		addMean(r, t.harnessQuantity, t.key, positive(numberOf(v[t.key])))
	}
	if name := foreign.TextOf(v["custom_unit_name"]); name != "" {
		q := harnessQuantity{foreign.MetricName(name) + "_throughput", "1/s", schema.BetterHigher}
		addMean(r, q, "custom_unit_throughput", positive(numberOf(v["custom_unit_per_s"])))
	}
}

// gpuReadings are the values that the harness reads from a GPU after a benchmark.
var gpuReadings = []struct {
	key string
	harnessQuantity
}{
	{"temperature_gpu_c", harnessQuantity{"temperature", "Cel", schema.BetterLower}},
	{"temperature_memory_c", harnessQuantity{"memory_temperature", "Cel", schema.BetterLower}},
	{"power_draw_w", harnessQuantity{"power", "W", schema.BetterLower}},
	{"utilization_gpu_pct", harnessQuantity{"gpu_utilization", "%", schema.BetterHigher}},
	{"utilization_memory_pct", harnessQuantity{"memory_utilization", "%", schema.BetterHigher}},
	{"graphics_clock_mhz", harnessQuantity{"clock_graphics", "MHz", schema.BetterHigher}},
	{"memory_clock_mhz", harnessQuantity{"clock_memory", "MHz", schema.BetterHigher}},
}

func addGPU(r *schema.Run, v values) {
	for _, g := range gpuReadings {
		addSample(r, g.harnessQuantity, g.key, numberOf(v[g.key]), schema.LevelInterval)
	}
}

// addCustom adds the metrics of the benchmark itself, under its own names.
func addCustom(r *schema.Run, v values) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		addSample(r, quantityOf(key), key, numberOf(v[key]), schema.LevelProcess)
	}
}

// profile makes a run from the numbers of a profiler. The harness profiles in a separate process.
func (m *measuredRun) profile(where string, out *foreign.Output, r schema.Run, profiler, trace string) error {
	var numbers values
	if text := m.profiler[profiler]; text != nil && foreign.Decode(text, &numbers) != nil {
		out.Refuse(where+" "+profiler, fmt.Errorf("the metrics of %s are not an object", profiler))
	}
	if trace == "" && len(numbers) == 0 {
		return nil
	}
	r.Params, r.Env.Facts = maps.Clone(r.Params), maps.Clone(r.Env.Facts)
	profileRun(&r, profiler, numbers)
	if trace != "" {
		if below, err := foreign.Below(trace); err != nil || below != trace { // elsewhere than in the folder of the results
			trace = baseName(trace)
		}
		r.Artifacts = []schema.Artifact{{Kind: profiler, Path: trace}}
	}
	return out.Run(where, r)
}

// profileRun makes a run a pass of a profiler with these numbers.
func profileRun(r *schema.Run, profiler string, numbers values) {
	r.Purpose = schema.PurposeProfile
	foreign.SetParam(r, "profiler", profiler)
	for _, key := range slices.Sorted(maps.Keys(numbers)) {
		if name := strings.TrimPrefix(key, profiler+"_"); name != "schemaVersion" {
			addMean(r, quantityOf(name), name, numberOf(numbers[key]))
		}
	}
	for _, more := range []string{"raw_metrics", "summary_stats"} {
		var raw values
		if foreign.Decode(numbers[more], &raw) == nil {
			for _, key := range slices.Sorted(maps.Keys(raw)) {
				addMean(r, quantityOf(key), key, numberOf(raw[key]))
			}
		}
	}
}

// harnessQuantity is the meaning of a key with a number: "peak_bandwidth_gbs" is peak_bandwidth in GB/s, and higher is better.
type harnessQuantity struct {
	name   string
	unit   string
	better schema.Better
}

// unitEndings are the endings of keys that name their unit. A longer ending comes before one that it ends with.
var unitEndings = []struct{ ending, unit string }{
	{"_percent", "%"},
	{"_pct", "%"},
	{"_tflops", "Tflop/s"},
	{"_gflops", "Gflop/s"},
	{"_tbs", "TB/s"},
	{"_gbs", "GB/s"},
	{"_gbps", "GB/s"},
	{"_seconds", "s"},
	{"_sec", "s"},
	{"_ms", "ms"},
	{"_us", "us"},
	{"_ns", "ns"},
	{"_bytes", "B"},
	{"_gb", "GB"},
	{"_mb", "MiB"}, // the harness divides by 1024 twice
	{"_mhz", "MHz"},
	{"_w", "W"},
	{"_c", "Cel"},
}

// quantityOf reads the key of a number.
func quantityOf(key string) harnessQuantity {
	q := harnessQuantity{name: key}
	for _, ending := range []string{"_per_second", "_per_sec", "_per_s"} {
		if items, ok := strings.CutSuffix(key, ending); ok && items != "" {
			return harnessQuantity{items + "_throughput", "1/s", schema.BetterHigher}
		}
	}
	if strings.Contains(key, "__") && strings.Contains(key, ".") {
		return counterOf(key)
	}
	for _, e := range unitEndings {
		if name, ok := strings.CutSuffix(key, e.ending); ok && name != "" {
			q.name, q.unit = name, e.unit
			break
		}
	}
	q.better = directionOf(q)
	return q
}

// counterOf returns the metric of a Nsight Compute counter, whose name stays unchanged. The harness reads its times as ms.
func counterOf(name string) harnessQuantity {
	q := harnessQuantity{name: name}
	switch {
	case strings.Contains(name, ".pct"):
		q.unit, q.better = "%", schema.BetterHigher
	case strings.HasPrefix(name, "gpu__time_duration."):
		q.unit, q.better = "ms", schema.BetterLower
	case strings.Contains(name, "__bytes") && strings.HasSuffix(name, ".per_second"):
		q.unit = "B/s"
	case strings.Contains(name, "__bytes"):
		q.unit = "B"
	}
	q.better = cmp.Or(q.better, directionOf(q))
	return q
}

var (
	moreIsBetter = []string{
		"speedup", "throughput", "bandwidth", "flops", "goodput", "utilization", "occupancy", "hit_rate", "accuracy", "efficiency", "savings",
	}
	lessIsBetter = []string{"time", "latency", "duration", "overhead", "memory", "error", "loss", "stall"}
)

// directionOf returns the direction by the words of a name, or else by the unit; it is empty if neither decides.
func directionOf(q harnessQuantity) schema.Better {
	for _, word := range moreIsBetter {
		if strings.Contains(q.name, word) {
			return schema.BetterHigher
		}
	}
	for _, word := range lessIsBetter {
		if strings.Contains(q.name, word) {
			return schema.BetterLower
		}
	}
	switch stored, _, _ := schema.StoredUnit(q.unit); stored {
	case "ns", "B", "mW", "Cel":
		return schema.BetterLower
	case "B/s", "flop/s", "1/s", "MHz":
		return schema.BetterHigher
	}
	return ""
}

// metric adds a metric of this quantity to a run; key is its name if another metric has the short one.
func (q harnessQuantity) metric(r *schema.Run, m schema.Metric, key string) {
	m.Name = foreign.MetricName(q.name)
	if m.Name == "" || r.Metric(m.Name) != nil {
		m.Name = foreign.MetricName(key)
	}
	if m.Name == "" || r.Metric(m.Name) != nil {
		return
	}
	m.Better = q.better
	if kind, ok := schema.KindOfMetric(m.Name); ok {
		m.Better = kind.Better
	}
	foreign.Add(r, m, q.unit)
}

// addSample adds a metric of one raw value to a run: a reading, or a count of a process.
func addSample(r *schema.Run, q harnessQuantity, key string, n foreign.Number, level schema.Level) {
	if s, err := foreign.SeriesOf([]foreign.Number{n}, q.unit); err == nil {
		q.metric(r, s.Metric(q.name, level), key)
	}
}

// addMean adds a metric for which the file has only the mean.
func addMean(r *schema.Run, q harnessQuantity, key string, n foreign.Number) {
	if mean := n.Finite(q.unit); mean != nil {
		q.metric(r, foreign.Aggregate(q.name, q.unit, schema.Summary{Mean: mean}), key)
	}
}
