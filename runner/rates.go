package runner

import (
	"slices"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// nsPerSecond makes rates of latencies, which are in nanoseconds.
const nsPerSecond = 1e9

// addWork fills in the work of a run that the benchmark itself did not state, and adds the rates at which it was done: work
// by latency, sample by sample. Only a sweep that has the key work has its runs rated.
func addWork(run *schema.Run, p *sweep.Point) {
	if p.Work == nil || run.Purpose != schema.PurposeMeasure {
		return
	}
	if run.Work.Items == nil {
		run.Work.Items = p.Work.Items
	}
	if run.Work.Bytes == nil {
		run.Work.Bytes = p.Work.Bytes
	}
	if run.Work.Flops == nil {
		run.Work.Flops = p.Work.Flops
	}
	var bytes *float64
	if run.Work.Bytes != nil {
		bytes = new(float64(*run.Work.Bytes))
	}
	for _, rate := range []struct {
		metric string
		amount *float64
	}{{"throughput", run.Work.Items}, {"bandwidth", bytes}, {"compute", run.Work.Flops}} {
		if rate.amount != nil && run.Metric(rate.metric) == nil { // a benchmark may have measured it itself
			addRate(run, rate.metric, *rate.amount)
		}
	}
}

// addRate adds the metric of a rate. An iteration that took no measurable time has none, and then neither has the run.
func addRate(run *schema.Run, name string, amount float64) {
	latency := run.Metric(schema.PrimaryMetric)
	if latency == nil {
		return
	}
	taken := latency.Values()
	if len(taken) == 0 {
		return
	}
	if slices.Min(taken) <= 0 {
		run.Env.Missing[name] = "a latency is 0"
		return
	}
	rates := make([]float64, len(taken))
	for i, ns := range taken {
		rates[i] = amount / (ns / nsPerSecond)
	}
	kind, _ := schema.KindOfMetric(name)
	run.Metrics = append(run.Metrics, schema.Metric{
		Name: name, Unit: kind.Unit, Better: kind.Better, Clock: latency.Clock, Level: latency.Level,
		Reals: rates, AtNS: latency.AtNS, IterationsPerSample: latency.IterationsPerSample,
	})
}
