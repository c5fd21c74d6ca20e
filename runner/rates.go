package runner

import (
	"slices"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// nsPerSecond converts latencies, which are in nanoseconds, for rates.
const nsPerSecond = 1e9

// addWork sets amounts of work that the benchmark did not report, and adds rates: work divided by latency, sample by sample.
// Rates exist only if the sweep has the key work.
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

// addRate adds the metric of a rate. If an iteration took no measurable time, the run has no rate.
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
