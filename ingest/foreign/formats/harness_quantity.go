package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

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

// counterOf gives the metric of a Nsight Compute counter, whose name stays unchanged. The harness reads its times as ms.
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
	if q.better == "" {
		q.better = directionOf(q)
	}
	return q
}

var (
	moreIsBetter = []string{
		"speedup", "throughput", "bandwidth", "flops", "goodput", "utilization", "occupancy", "hit_rate", "accuracy", "efficiency", "savings",
	}
	lessIsBetter = []string{"time", "latency", "duration", "overhead", "memory", "error", "loss", "stall"}
)

// directionOf gives the direction by the words of a name, or else by the unit; it is empty if neither decides.
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

// metric gives a run a metric of this quantity; key is its name where another metric has the short one.
func (q harnessQuantity) metric(r *schema.Run, m schema.Metric, key string) {
	m.Name = foreign.MetricName(q.name)
	if m.Name == "" || r.Metric(m.Name) != nil {
		m.Name = foreign.MetricName(key)
	}
	if m.Name == "" || r.Metric(m.Name) != nil {
		return
	}
	if kind, ok := schema.KindOfMetric(m.Name); ok {
		m.Better = kind.Better
	} else {
		m.Better = q.better
	}
	foreign.Add(r, m, q.unit)
}

// addSample gives a run a metric of one raw value: a reading, or what a process counted.
func addSample(r *schema.Run, q harnessQuantity, key string, n foreign.Number, level schema.Level) {
	s, err := foreign.SeriesOf([]foreign.Number{n}, q.unit)
	if n == "" || err != nil { // a non-empty Number is always a number
		return
	}
	q.metric(r, s.Metric(q.name, level), key)
}

// addMean adds a metric of which the file has only the mean.
func addMean(r *schema.Run, q harnessQuantity, key string, n foreign.Number) {
	if mean := n.Finite(q.unit); mean != nil {
		q.metric(r, foreign.Aggregate(q.name, q.unit, schema.Summary{Mean: mean}), key)
	}
}

// numberOf is the number in a JSON value, or empty for anything else.
func numberOf(value jsontext.Value) foreign.Number {
	var n foreign.Number
	if value.Kind() == jsontext.KindString && strings.Trim(string(value), `"`) == "" {
		return ""
	}
	if foreign.Decode(value, &n) != nil {
		return ""
	}
	return n
}

// positive is a number, or empty if it is not positive: these tools write such numbers for unknown values.
func positive(n foreign.Number) foreign.Number {
	if v := n.Float64(); v != nil && *v <= 0 {
		return ""
	}
	return n
}

// lone is the summary of one value.
func lone(n foreign.Number, unit string) schema.Summary {
	v := n.Finite(unit)
	if v == nil {
		return schema.Summary{}
	}
	return schema.Summary{N: new(int64(1)), Min: v, Max: v, Mean: v, P50: v}
}
