package task

import (
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// maxOps bounds the operators of one run.
const maxOps = 1 << 20

// reports is what a worker reports about a run, apart from the file of samples.
type reports struct {
	latency  schema.Metric   // attributes alone: clock, level, tick, iterations per sample
	metrics  []schema.Metric // in the order of their first event
	values   int             // of all metrics together
	ops      []schema.Op
	warnings []string
	shaped   bool
	// shortened are the stages whose deadlines the benchmark has made shorter.
	shortened []schema.Stage
	dumps     bool // it writes its stack on SIGUSR1
	version   string
}

// receive handles an event of the worker. Events after the runner ended the run do not count. The error is an event that breaks the protocol.
func (r *run) receive(e event) error {
	if r.cause != nil {
		return nil
	}
	switch e.Event {
	case eventHello:
		r.reports.dumps = e.Dumps
	case eventShape:
		return r.reshape(e)
	case eventMetrics:
		if err := e.toStoredUnit(); err != nil {
			return err
		}
		return r.reports.addMetric(e)
	case eventOps:
		return r.reports.addOp(e.Op)
	case eventWarning:
		if e.Value != "" && !slices.Contains(r.reports.warnings, e.Value) {
			r.reports.warnings = append(r.reports.warnings, e.Value)
		}
	case eventVersion:
		r.reports.version = e.BackendVersion
	case eventDeadlines:
		return r.shorten(e)
	}
	return nil
}

// reshape takes over the benchmark's own counts. The worker has already resized the file of samples.
func (r *run) reshape(e event) error {
	switch {
	case r.reports.shaped || r.stage != schema.StageSetup:
		return fmt.Errorf("event shape in %s: want it once, in setup", r.stage)
	case e.Warmup < 0 || e.Iterations < 1 || e.Warmup > maxRows || e.Iterations > maxRows-e.Warmup:
		return fmt.Errorf("warmup %d and iterations %d: want 0 and 1 to %d together", e.Warmup, e.Iterations, maxRows)
	}
	r.reports.shaped = true
	r.job.Warmup, r.job.Iterations = e.Warmup, e.Iterations
	r.samples.shape = r.job.shape()
	return nil
}

// shorten makes deadlines shorter, as the benchmark asks. It cannot make one longer: it could stop a suite.
func (r *run) shorten(e event) error {
	if r.stage != schema.StageSetup {
		return fmt.Errorf("event deadlines in %s: want it in setup", r.stage)
	}
	for stage, own := range e.Deadlines {
		if stageNumber(stage) == 0 || own <= 0 {
			return fmt.Errorf("deadline %d ns of stage %q: want more than 0 of one of %v", own, stage, schema.StageNames)
		}
		if limit := r.spec.Deadlines.of(stage); own < *limit {
			*limit = own
			r.reports.shortened = append(r.reports.shortened, stage)
		}
	}
	if r.phase == phaseRunning {
		r.arm()
	}
	return nil
}

// addMetric starts a metric, or adds samples to it.
func (t *reports) addMetric(e event) error {
	if e.Metric == nil || e.Metric.Name == "" {
		return fmt.Errorf("event metric without a name")
	}
	if t.values += len(e.Ticks) + len(e.Reals); t.values > maxRows {
		return fmt.Errorf("metric %s: more than %d samples", e.Metric.Name, maxRows)
	}
	if e.Metric.Name == schema.PrimaryMetric {
		if len(e.Ticks)+len(e.Reals) > 0 {
			return fmt.Errorf("metric %s: its samples belong in the file of samples", schema.PrimaryMetric)
		}
		t.latency = schema.Metric{Clock: e.Metric.Clock, Level: e.Metric.Level, Tick: e.Metric.Tick, IterationsPerSample: e.IterationsPerSample}
		return nil
	}
	i := slices.IndexFunc(t.metrics, func(m schema.Metric) bool { return m.Name == e.Metric.Name })
	if i < 0 {
		i = len(t.metrics)
		t.metrics = append(t.metrics, schema.Metric{
			Name: e.Metric.Name, Unit: e.Metric.Unit, Better: e.Metric.Better,
			Clock: e.Metric.Clock, Level: e.Metric.Level, Tick: e.Metric.Tick,
		})
	}
	m := &t.metrics[i]
	if len(e.Ticks) > 0 && m.Tick == 0 || len(e.Reals) > 0 && m.Tick != 0 {
		return fmt.Errorf("metric %s: want ticks with a tick, or reals without one", m.Name)
	}
	if e.Metric.Warmup {
		m.WarmupTicks, m.WarmupReals = append(m.WarmupTicks, e.Ticks...), append(m.WarmupReals, e.Reals...)
	} else {
		m.Ticks, m.Reals = append(m.Ticks, e.Ticks...), append(m.Reals, e.Reals...)
	}
	m.IterationsPerSample = append(m.IterationsPerSample, e.IterationsPerSample...)
	return nil
}

func (t *reports) addOp(op *eventOp) error {
	if op == nil || op.Name == "" {
		return fmt.Errorf("event op without a name")
	}
	if len(t.ops) == maxOps {
		return fmt.Errorf("more than %d operators", maxOps)
	}
	t.ops = append(t.ops, schema.Op{
		Index: int64(len(t.ops)), Name: op.Name, Type: op.Type, Device: op.Device,
		StartNS: op.StartNS, DurationNS: op.DurationNS, Count: op.Count, Kernels: op.Kernels, Counters: op.Counters,
	})
	return nil
}
