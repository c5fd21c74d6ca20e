package formats

import (
	"math"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// neurolensOp is an operator of a timeline with the kernels it launched.
type neurolensOp struct {
	Index      foreign.Number    `json:"op_index"`
	Name       string            `json:"op_name"`
	Type       string            `json:"op_type"`
	StartMS    foreign.Number    `json:"start_ms"`
	DurationMS foreign.Number    `json:"duration_ms"`
	LaunchMS   foreign.Number    `json:"api_launch_overhead_ms"`
	Kernels    []neurolensKernel `json:"kernels"`
}

type neurolensKernel struct {
	Name        string         `json:"name"`
	Occupancy   foreign.Number `json:"achieved_occupancy"`
	WarpEff     foreign.Number `json:"warp_execution_efficiency"`
	SMEff       foreign.Number `json:"sm_efficiency"`
	Utilization foreign.Number `json:"gpu_utilization"`
	L2Hit       foreign.Number `json:"l2_hit_rate"`
	ReadGB      foreign.Number `json:"dram_read_gb"`
	WriteGB     foreign.Number `json:"dram_write_gb"`
	ReadBytes   foreign.Number `json:"bytes_read"`
	WriteBytes  foreign.Number `json:"bytes_write"`
}

// op is the operator at index i of the timeline.
func (o *neurolensOp) op(i int) schema.Op {
	op := schema.Op{
		Index: int64(i), Name: o.Name, Type: o.Type,
		StartNS: nanosecondsOf(o.StartMS, "ms"), DurationNS: nanosecondsOf(o.DurationMS, "ms"),
	}
	if index := o.Index.Int64(); index != nil {
		op.Index = *index
	}
	counted := counters{}
	for i := range o.Kernels {
		op.Kernels = append(op.Kernels, o.Kernels[i].Name)
		o.Kernels[i].count(counted)
	}
	for name, values := range counted {
		setCounter(&op, name, values.value(name))
	}
	if v := positive(o.LaunchMS).Finite("ms"); v != nil {
		setCounter(&op, "api_launch_overhead_ns", *v)
	}
	return op
}

// counters are what the kernels of an op counted, by name.
type counters map[string]*counter

type counter struct{ sum, n float64 }

func (c counters) add(name string, v *float64) {
	if v == nil {
		return
	}
	if c[name] == nil {
		c[name] = &counter{}
	}
	c[name].sum += *v
	c[name].n++
}

// value is the sum for bytes, and otherwise the mean, as the tool itself combines kernels.
func (c *counter) value(name string) float64 {
	if strings.HasSuffix(name, "_bytes") {
		return c.sum
	}
	return c.sum / c.n
}

// count adds the counters of a kernel. A kernel that ran has warps: without warps, nothing was counted, and all values
// are zero.
func (k *neurolensKernel) count(c counters) {
	if positive(k.Occupancy) == "" && positive(k.WarpEff) == "" {
		return
	}
	c.add("achieved_occupancy", k.Occupancy.Finite(""))
	c.add("warp_execution_efficiency", k.WarpEff.Finite(""))
	c.add("sm_efficiency", k.SMEff.Finite(""))
	c.add("gpu_utilization", k.Utilization.Finite(""))
	c.add("l2_hit_rate", k.L2Hit.Finite(""))
	read, write := k.ReadBytes.Finite("B"), k.WriteBytes.Finite("B")
	if read == nil {
		read = k.ReadGB.Finite("GB")
	}
	if write == nil {
		write = k.WriteGB.Finite("GB")
	}
	c.add("dram_read_bytes", read)
	c.add("dram_write_bytes", write)
}

func setCounter(op *schema.Op, name string, value float64) {
	if op.Counters == nil {
		op.Counters = map[string]float64{}
	}
	op.Counters[name] = value
}

// numbered gives the ops by their index, or by their position if two have the same index.
func numbered(ops []schema.Op) []schema.Op {
	seen := map[int64]bool{}
	for i := range ops {
		seen[ops[i].Index] = true
	}
	if len(seen) < len(ops) {
		for i := range ops {
			ops[i].Index = int64(i)
		}
	}
	return ops
}

// nanosecondsOf converts a time. It is nil if it is not a time, or too large.
func nanosecondsOf(n foreign.Number, unit string) *int64 {
	v := n.Finite(unit)
	if v == nil || math.Abs(*v) >= math.MaxInt64 {
		return nil
	}
	return new(int64(math.Round(*v)))
}
