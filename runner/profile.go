package runner

import (
	"maps"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/profiler"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// ofKernels are metrics of the kernels of a profiled run, in order, with their names on a raw page of Nsight Compute.
var ofKernels = []struct{ name, raw string }{
	{"sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
	{"dram_throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
	{"l2_hit_rate", "lts__t_sector_hit_rate.pct"},
	{"occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
}

// ofDevice are the sums of times on a device that readers of profiles report, in ns.
var ofDevice = []string{"kernel_time", "memory_time"}

// profile is what a profiler recorded, of all processes of a run.
type profile struct {
	ops   []*profiledOp
	byKey map[opKey]*profiledOp
	all   means // of all kernels
	times map[string]float64
}

type opKey struct{ name, kind, device string }

type profiledOp struct {
	schema.Op
	means means
}

// means are means of metrics, weighted with the time of each launch.
type means map[string]*struct{ sum, weight float64 }

func (m means) add(name string, value, weight float64) {
	if m[name] == nil {
		m[name] = &struct{ sum, weight float64 }{}
	}
	m[name].sum += value * weight
	m[name].weight += weight
}

// of returns a mean; false: nothing was measured.
func (m means) of(name string) (float64, bool) {
	if m[name] == nil || m[name].weight <= 0 {
		return 0, false
	}
	return m[name].sum / m[name].weight, true
}

// addProfile adds a report to the outcome of its pass. Each run is a process with operators, as of Nsight Systems, or a kernel whose
// samples are its launches, as of Nsight Compute.
func addProfile(o *task.Outcome, runs []schema.Run) {
	p := profile{byKey: map[opKey]*profiledOp{}, all: means{}, times: map[string]float64{}}
	for i := range runs {
		for _, op := range runs[i].Ops {
			if op.Name != profiler.RangeMeasure { // all others are within it
				p.add(op)
			}
		}
		for _, name := range ofDevice {
			if m := runs[i].Metric(name); m != nil {
				for _, time := range m.Values() {
					p.times[name] += time
				}
			}
		}
		p.addKernel(&runs[i])
	}
	for _, op := range p.ops {
		op.Index = int64(len(o.Ops))
		o.Ops = append(o.Ops, op.withMeans())
	}
	p.addMetrics(o)
}

// add adds up operators of the same name, kind and device.
func (p *profile) add(op schema.Op) *profiledOp {
	key := opKey{op.Name, op.Type, op.Device}
	total := p.byKey[key]
	if total == nil {
		op.Counters = maps.Clone(op.Counters)
		total = &profiledOp{Op: op, means: means{}}
		p.ops, p.byKey[key] = append(p.ops, total), total
		return total
	}
	for _, sum := range []struct{ to, from **int64 }{{&total.DurationNS, &op.DurationNS}, {&total.Count, &op.Count}} {
		if *sum.to != nil && *sum.from != nil {
			*sum.to = new(**sum.to + **sum.from)
		}
	}
	if total.Counters == nil {
		total.Counters = map[string]float64{}
	}
	for name, value := range op.Counters {
		total.Counters[name] += value
	}
	return total
}

// addKernel adds a run whose samples are launches of one kernel.
func (p *profile) addKernel(run *schema.Run) {
	latency := run.Metric(schema.PrimaryMetric)
	if latency == nil || len(run.Ops) > 0 {
		return
	}
	times, sum := latency.Values(), 0.0
	for _, time := range times {
		sum += time
	}
	_, kernel, _ := strings.Cut(run.Benchmark, "/") // behind its process
	op := p.add(schema.Op{
		Name: kernel, Type: "kernel", Device: "cuda:" + run.Params["device"], DurationNS: new(int64(sum)), Count: new(int64(len(times))),
	})
	for _, metric := range ofKernels {
		m := run.Metric(metric.raw)
		if m == nil || len(m.Values()) != len(times) { // of some launches it is not known
			continue
		}
		for i, value := range m.Values() {
			op.means.add(metric.name, value, times[i])
			p.all.add(metric.name, value, times[i])
		}
	}
}

// withMeans returns the operator with the means of its launches as counters.
func (o *profiledOp) withMeans() schema.Op {
	for _, metric := range ofKernels {
		if mean, ok := o.means.of(metric.name); ok {
			if o.Counters == nil {
				o.Counters = map[string]float64{}
			}
			o.Counters[metric.name] = mean
		}
	}
	return o.Op
}

// addMetrics adds the metrics of all kernels: the means of their launches, and times on the device per iteration, if it is known how many
// iterations there are.
func (p *profile) addMetrics(o *task.Outcome) {
	for _, metric := range ofKernels {
		if mean, ok := p.all.of(metric.name); ok {
			kind, _ := schema.KindOfMetric(metric.name)
			o.Metrics = append(o.Metrics, schema.Metric{
				Name: metric.name, Unit: kind.Unit, Better: kind.Better, Level: schema.LevelMean, Reals: []float64{mean},
			})
		}
	}
	iterations, err := strconv.ParseInt(o.Facts[task.FactProfiled], 10, 64)
	if err != nil || iterations <= 0 {
		return
	}
	for _, name := range ofDevice {
		if time, ok := p.times[name]; ok {
			o.Metrics = append(o.Metrics, schema.Metric{
				Name: name, Unit: "ns", Better: schema.BetterLower, Level: schema.LevelMean, Reals: []float64{time / float64(iterations)},
				IterationsPerSample: []int64{iterations},
			})
		}
	}
}
