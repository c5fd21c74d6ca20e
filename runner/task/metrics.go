package task

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// wallTime is the metric with the whole time of a process, of which latency is a part.
const wallTime = "wall_time"

// registered returns a metric without samples, with its properties in the registry.
func registered(name string) schema.Metric {
	kind, _ := schema.KindOfMetric(name)
	return schema.Metric{Name: name, Unit: kind.Unit, Better: kind.Better}
}

// metrics turns the samples into metrics.
func (r *run) metrics(o *Outcome) {
	add := func(name, clock string, tick float64, column int) {
		if r.measured+r.warmup == 0 || r.spec.Profile {
			return
		}
		m := registered(name)
		m.Clock, m.Level, m.Tick = clock, schema.LevelIteration, tick
		if r.spec.perProcess() {
			m.Level = schema.LevelProcess
		}
		m.Ticks = r.samples.rows(column, r.job.Warmup, r.measured)
		if r.warmup > 0 {
			m.WarmupTicks = r.samples.rows(column, 0, r.warmup)
		}
		o.Metrics = append(o.Metrics, m)
	}
	add(schema.PrimaryMetric, "monotonic", 1, columnLatency)
	if latency := r.reports.latency; len(o.Metrics) > 0 && latency.Clock != "" {
		m := &o.Metrics[0]
		m.Clock, m.IterationsPerSample = latency.Clock, latency.IterationsPerSample
		if n := len(m.IterationsPerSample); n > 1 && n != r.measured {
			m.IterationsPerSample = nil // it has a value for each row, and some rows are missing
		}
		if latency.Level != "" {
			m.Level = latency.Level
		}
		if latency.Tick > 0 {
			m.Tick = latency.Tick
		}
	}
	r.withoutStart(o)
	if r.spec.perProcess() {
		add("cpu_user", "rusage", 1000, columnCPUUser)
		add("cpu_system", "rusage", 1000, columnCPUSystem)
	}
	if r.spec.Profiler == nil { // which is in them
		r.peakMemory(o)
		r.counters(o)
	}
	kept, events := r.keptOutputs()
	r.readOutputs(o, kept)
	r.receiveEvents(o, events, kept.Processes)
	r.reportedMetrics(o)
}

// reportedMetrics adds the metrics that the benchmark reported by events. An invalid one is left out and makes the run an error.
func (r *run) reportedMetrics(o *Outcome) {
	for _, m := range r.reports.metrics {
		if slices.ContainsFunc(o.Metrics, func(have schema.Metric) bool { return have.Name == m.Name }) {
			continue // a benchmark cannot replace a metric that the runner measured
		}
		if kind, known := schema.KindOfMetric(m.Name); known {
			m.Unit, m.Better = cmp.Or(m.Unit, kind.Unit), cmp.Or(m.Better, kind.Better)
		}
		if m.Ticks == nil && m.Tick > 0 {
			m.Ticks = []int64{}
		}
		if err := m.Validate(); err != nil {
			o.Fail(schema.StageMeasure, kindProtocol, fmt.Sprintf("metric %q: %v", m.Name, err))
			continue
		}
		o.Metrics = append(o.Metrics, m)
	}
}

// peakMemory adds the metric peak_memory: of each process of a command, or of a worker; otherwise the reason why it is missing.
func (r *run) peakMemory(o *Outcome) {
	m := registered("peak_memory")
	m.Level, m.Tick = schema.LevelProcess, 1
	source := "worker"
	if r.spec.perProcess() {
		source = "wait4"
		floor := r.samples.word(offFloor)
		for _, peak := range r.samples.rows(columnPeakMemory, r.job.Warmup, r.measured) {
			if floor != unset && peak > floor {
				m.Ticks = append(m.Ticks, peak)
			}
		}
	}
	if peak := r.samples.word(offPeak); m.Ticks == nil && peak != unset && r.measured > 0 {
		m.Ticks = []int64{peak}
	}
	switch {
	case m.Ticks != nil:
		o.Metrics = append(o.Metrics, m)
		o.Facts["peak_memory.source"] = source
	case r.measured > 0 && r.spec.perProcess():
		o.Missing["peak_memory"] = "below floor"
	}
}
