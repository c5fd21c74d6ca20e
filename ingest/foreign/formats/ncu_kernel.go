package formats

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// ncuKey distinguishes the kernels of a report.
type ncuKey struct{ pid, process, name, grid, block, device string }

// ncuKernel is what is known of a kernel: its metrics, with a sample of each launch.
type ncuKernel struct {
	ncuKey
	line             int // where it came first
	host, capability string
	began            time.Time
	source           schema.TimeSource
	launch           string
	seen             map[string]string // texts of the metrics of the launch at hand, by name
	metrics          []*ncuMetric
	byName           map[string]*ncuMetric
	applied          map[string]string // how it was launched
	lacking          map[string]int    // number of values that the tool could not determine, by metric or setting
}

type ncuMetric struct {
	name, given string // the unit of the file
	unit        string // of ours
	numbers     []foreign.Number
	summary     schema.Summary
}

// ncuValue is a value of a metric as written in the file.
type ncuValue struct{ section, name, unit, text string }

// ncuKernels are the kernels of a report.
type ncuKernels struct {
	all    []*ncuKernel
	keys   map[ncuKey]*ncuKernel
	room   int
	noRoom int
}

func newNCUKernels() ncuKernels { return ncuKernels{keys: map[ncuKey]*ncuKernel{}, room: maxNames} }

// find gives the kernel of a key, nil if there is no room for another one.
func (n *ncuKernels) find(key ncuKey) *ncuKernel {
	if k := n.keys[key]; k != nil {
		return k
	}
	n.room -= len(key.name) + len(key.process) + len(key.grid) + len(key.block) + 10*perName
	if n.room < 0 {
		n.noRoom++
		return nil
	}
	k := &ncuKernel{ncuKey: key, launch: "\x00", byName: map[string]*ncuMetric{}, applied: map[string]string{}, lacking: map[string]int{}}
	n.all, n.keys[key] = append(n.all, k), k
	return k
}

// add adds a value of the current launch. How it was launched is not a measurement.
func (k *ncuKernel) add(v ncuValue) {
	if v.text == "" {
		return
	}
	if isNotAvailable(v.text) {
		k.lack(v)
		return
	}
	if v.isSetting() {
		if name := snake(strings.TrimPrefix(v.name, "launch__")); k.applied[name] == "" {
			k.applied[name] = v.setting()
		}
		return
	}
	number, ok := ncuNumber(v.text)
	if !ok || strings.HasPrefix(v.name, "device__attribute") {
		return
	}
	name, unit := ncuName(v)
	if before, ok := k.seen[name]; ok {
		if before == v.text { // the same, in another section
			return
		}
		name = snake(v.section) + "/" + name
		if _, ok := k.seen[name]; ok {
			return
		}
	}
	k.seen[name] = v.text
	m := k.metric(name, unit, v.unit)
	if m.unit != unit { // which changes with the size of the number
		if number, ok = rescaled(number, unit, m.unit); !ok {
			return
		}
	}
	m.numbers = append(m.numbers, number)
}

// isNotAvailable reports whether the tool says that it has no value.
func isNotAvailable(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "n/a") }

// lack counts a value that the tool could not measure.
func (k *ncuKernel) lack(v ncuValue) {
	name, _ := ncuName(v)
	if v.isSetting() {
		k.lacking["launch."+snake(strings.TrimPrefix(v.name, "launch__"))]++
		return
	}
	k.lacking["metric."+name]++
}

// isSetting reports whether a value says how a launch was made.
func (v ncuValue) isSetting() bool {
	return v.section == "Launch Statistics" || strings.HasPrefix(v.name, "launch__")
}

// setting is how a launch was made, as text: a number, with its unit where that changes with its size.
func (v ncuValue) setting() string {
	number, ok := ncuNumber(v.text)
	switch {
	case !ok:
		return v.text
	case len(v.unit) > 1 && strings.HasPrefix(strings.ToLower(v.unit[1:]), "byte"):
		return foreign.Canonical(string(number)) + " " + v.unit
	}
	return foreign.Canonical(string(number))
}

// addSummary adds the aggregates of a metric over all launches.
func (k *ncuKernel) addSummary(v ncuValue, minimum, maximum, mean, invocations string) error {
	if isNotAvailable(mean) {
		k.lack(v)
		return nil
	}
	name, unit := ncuName(v)
	m := k.metric(name, unit, v.unit)
	values := [3]*float64{}
	for i, text := range []string{minimum, maximum, mean} {
		if number, ok := ncuNumber(text); ok {
			values[i] = number.Finite(unit)
		}
	}
	if values[2] == nil {
		return fmt.Errorf("%s: %q is not an average", v.name, foreign.Brief(mean))
	}
	m.summary = schema.Summary{Min: values[0], Max: values[1], Mean: values[2], N: foreign.Number(invocations).Int64()}
	return nil
}

func (k *ncuKernel) metric(name, unit, given string) *ncuMetric {
	m := k.byName[name]
	if m == nil {
		m = &ncuMetric{name: name, unit: unit, given: given}
		k.metrics, k.byName[name] = append(k.metrics, m), m
	}
	return m
}

// rescaled is a number in a unit of the same kind.
func rescaled(n foreign.Number, from, to string) (foreign.Number, bool) {
	a, one, known := schema.StoredUnit(from)
	b, other, _ := schema.StoredUnit(to)
	v := n.Float64()
	if !known || a != b || v == nil {
		return "", false
	}
	return foreign.Number(fmt.Sprint(*v * one / other)), true
}

func (k *ncuKernel) run() schema.Run {
	benchmark := k.name
	if process := path.Base(strings.ReplaceAll(k.process, `\`, "/")); k.process != "" {
		benchmark = process + "/" + k.name
	}
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: benchmark, Backend: "cuda", Applied: k.applied}
	for name, text := range map[string]string{"grid": k.grid, "block": k.block, "device": k.device} {
		foreign.SetParam(&r, name, text)
	}
	if len(k.applied) == 0 {
		r.Applied = nil
	}
	if k.host != "127.0.0.1" && k.host != "localhost" {
		r.Env.Hostname, r.Env.Machine = k.host, k.host
	}
	foreign.SetFact(&r, "gpu.compute_capability", k.capability)
	foreign.SetStart(&r, k.began, k.source)
	for name, n := range k.lacking {
		if r.Env.Missing == nil {
			r.Env.Missing = map[string]string{}
		}
		r.Env.Missing[name] = fmt.Sprintf("the profiler printed n/a for %d of its launches", n)
	}
	for _, m := range k.metrics {
		metric := foreign.Aggregate(m.name, m.unit, m.summary)
		if len(m.numbers) > 0 {
			series, err := foreign.SeriesOf(m.numbers, m.unit)
			if err != nil {
				continue
			}
			metric = series.Metric(m.name, schema.LevelIteration)
		}
		if metric.Better == "" {
			metric.Better = ncuBetter(m.name)
		}
		foreign.Add(&r, metric, m.given)
		if m.name == "latency" {
			r.Primary = "latency"
		}
	}
	return r
}

// ncuUnits are the units of the tool, as older versions and newer ones write them, in ours.
var ncuUnits = map[string]string{
	"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s",
	"byte": "B", "kbyte": "kB", "mbyte": "MB", "gbyte": "GB", "tbyte": "TB",
	"byte/second": "B/s", "kbyte/second": "kB/s", "mbyte/second": "MB/s", "gbyte/second": "GB/s", "tbyte/second": "TB/s",
	"byte/s": "B/s", "kbyte/s": "kB/s", "mbyte/s": "MB/s", "gbyte/s": "GB/s", "tbyte/s": "TB/s",
	"hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
	"cycle/second": "Hz", "cycle/usecond": "MHz", "cycle/nsecond": "GHz", "cycle/s": "Hz", "cycle/us": "MHz", "cycle/ns": "GHz",
}

// ncuName is the name of a metric, and its unit as NeuroLens writes it.
func ncuName(v ncuValue) (name, unit string) {
	unit = v.unit
	if u, ok := ncuUnits[strings.ToLower(v.unit)]; ok {
		unit = u
	}
	stored, _, _ := schema.StoredUnit(unit)
	name = v.name
	if strings.Contains(name, "__") { // as the raw page has them
		name = foreign.MetricName(name)
	} else {
		name = snake(name)
	}
	switch {
	case stored == "ns" && (name == "duration" || name == "gpu__time_duration.sum" || name == "gpu__time_duration.avg"):
		return "latency", unit
	case stored == "B/s" && name == "memory_throughput", name == "dram__bytes.sum.per_second" && stored == "B/s":
		return "bandwidth", unit
	case stored == "MHz" && (name == "sm_frequency" || name == "gpc__cycles_elapsed.avg.per_second" || name == "smsp__cycles_elapsed.avg.per_second"):
		return "clock_sm", unit
	}
	return name, unit
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// snake is a title in small letters with _ between words: "Compute (SM) Throughput" is compute_sm_throughput.
func snake(title string) string {
	return foreign.MetricName(strings.Trim(notWord.ReplaceAllString(strings.ToLower(title), "_"), "_"))
}

// Metrics with a known direction, by words in their names.
var (
	ncuHigher = regexp.MustCompile(`throughput|bandwidth|frequency|occupancy|hit_rate|pct_of_peak|ipc|eligible|active_warps|busy|issued|bytes.*per_second`)
	ncuLower  = regexp.MustCompile(`cycles|duration|stall|conflict|spill|latency`)
)

func ncuBetter(name string) schema.Better {
	switch {
	case ncuHigher.MatchString(name):
		return schema.BetterHigher
	case ncuLower.MatchString(name):
		return schema.BetterLower
	}
	return ""
}

var (
	thousands = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)
	european  = regexp.MustCompile(`^-?\d{1,3}(\.\d{3})+(,\d+)?$|^-?\d+,\d+$`)
)

// ncuNumber reads a number, which may have separators between thousands, as the user's language has them.
func ncuNumber(text string) (foreign.Number, bool) {
	switch {
	case thousands.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case strings.Contains(text, ",") && european.MatchString(text):
		text = strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
	}
	n := foreign.Number(text)
	v, err := foreign.SeriesOf([]foreign.Number{n}, "")
	return n, err == nil && v.Len() == 1
}
