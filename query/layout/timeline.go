package layout

import (
	"fmt"
	"strconv"

	"github.com/neurolens/neurolens/schema"
)

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
	LatencyMS      float64  `json:"latency_ms"` // of one call
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

// hasOperators reports whether a timeline has more than the whole iteration. Only then there is a fingerprint, because those of two runs
// without operators are equal whatever was run.
func hasOperators(timeline []operation) bool {
	return len(timeline) > 1 || len(timeline) == 1 && timeline[0].OpType != iteration
}

// expressible reports whether the schema can express an op: its duration must be known and above 0.
func expressible(op *schema.Op) bool {
	return op.DurationNS != nil && *op.DurationNS > 0 && op.Index >= 0 && (op.StartNS == nil || *op.StartNS >= 0)
}

// factProfiledIterations is the fact with the number of iterations that the durations of ops are summed over.
const factProfiledIterations = "profile.iterations"

// profiledIterations returns that number, or 1 if it is unknown, so that the sums stay unchanged.
func profiledIterations(run *schema.Run) float64 {
	n, err := strconv.ParseFloat(run.Env.Facts[factProfiledIterations], 64)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// profiled is an op per iteration.
func profiled(op *schema.Op, iterations float64) operation {
	start := 0.0
	if op.StartNS != nil {
		start = float64(*op.StartNS) / 1e6
	}
	duration := toMS(float64(*op.DurationNS) / iterations)
	o := newOperation(orUnknownText(op.Name), orUnknownText(op.Type), start, duration)
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
