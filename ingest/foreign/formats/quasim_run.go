package formats

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// emit makes a run from a result, or one for each run of a point in a file that NeuroLens wrote. The zeros of a kernel that failed are not
// measurements.
func (q *quasimResult) emit(where string, out *foreign.Output, env *schema.Env) error {
	if q.Kernel == "" {
		out.Refuse(where, fmt.Errorf("a result without kernel_name"))
		return nil
	}
	for i := range q.Runs {
		one := &q.Runs[i]
		if one.Own = one.Own.known(); one.Own == nil {
			out.Refuse(fmt.Sprintf("%s/runs/%d", where, i), fmt.Errorf("a run without the member neurolens"))
			continue
		}
		run := *q
		run.run, run.Own, run.Success = one, one.Own, new(one.Own.Status == string(schema.StatusOK))
		if len(q.Runs) > 1 {
			run.Timing, run.Metadata = quasimTiming{}, one.Metadata
			run.Memory, run.Energy, run.Accuracy = nil, nil, nil // medians over the runs
		}
		if one.Timing != nil {
			run.Timing = *one.Timing
		}
		if err := run.one(fmt.Sprintf("%s/runs/%d", where, i), out, env); err != nil {
			return err
		}
	}
	if len(q.Runs) > 0 {
		return nil
	}
	return q.one(where, out, env)
}

// one makes a run.
func (q *quasimResult) one(where string, out *foreign.Output, env *schema.Env) error {
	q.Own = q.Own.known()
	r := schema.Run{Benchmark: q.Kernel, Backend: q.Backend, Env: *env}
	r.Env.Facts, r.Env.Machine = maps.Clone(env.Facts), ""
	more := func(r *schema.Run) { // values that earlier versions did not read, or read differently: they do not change the id
		switch {
		case q.run != nil:
			q.run.environment(r, env)
		case r.Env.Machine == "":
			r.Env.Machine = env.Machine
		}
		if maps.DeleteFunc(r.Applied, func(_, text string) bool { return text == "" }); len(r.Applied) == 0 { // unknown
			r.Applied = nil
		}
		if m := r.Metric("relative_error"); m != nil && q.Own == nil {
			m.Name = schema.MetricOverNorm // the file has no number of values to convert it
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.ProblemSize)) {
		foreign.SetParam(&r, name, foreign.TextOf(q.ProblemSize[name]))
	}
	if q.Precision != "unknown" {
		foreign.SetParam(&r, "precision", q.Precision)
	}
	for name, text := range q.Metadata {
		switch name {
		case "iterations", "warmup", "seed":
			if r.Applied == nil {
				r.Applied = map[string]string{}
			}
			r.Applied[name] = string(text)
		}
	}
	if q.Success != nil && !*q.Success {
		r.Status, r.Error = schema.StatusError, q.Error
		q.Own.identify(&r)
		return out.RunWith(where, r, more)
	}
	if err := q.latency(&r); err != nil {
		out.Refuse(where, err)
		return nil
	}
	q.others(&r)
	q.Own.identify(&r)
	q.Own.values(&r)
	return out.RunWith(where, r, more)
}

// environment sets the environment of a run from its entry. The file has the environment of the newest run only, which earlier versions read for
// every run.
func (q *quasimRun) environment(r *schema.Run, file *schema.Env) {
	facts := r.Env.Facts
	r.Env = q.Environment.env()
	r.Env.GitCommit, r.Env.Machine = q.Own.Commit, q.Own.Machine
	for name, text := range facts {
		if file.Facts[name] == "" {
			foreign.SetFact(r, name, text)
		}
	}
}

// quasimClock is what bench_all.py measures with.
const quasimClock = "perf_counter"

// latency adds the times of the calls, or their aggregates if the file has only those.
func (q *quasimResult) latency(r *schema.Run) error {
	const unit = "ms"
	t := &q.Timing
	if q.Own != nil && t.Mean == "" {
		return nil // it is about another metric
	}
	name := q.Own.metric("timing", "latency")
	s, err := foreign.ReadSeries(t.Raw, unit)
	switch {
	case err != nil && len(t.Raw) > 0 && t.Raw.Kind() != 'n':
		return fmt.Errorf("reading raw_times_ms: %w", err)
	case err == nil && s.Len() > 0:
		m := s.Metric(name, schema.LevelIteration)
		m.Clock = quasimClock
		q.Own.timing(&m)
		foreign.Add(r, m, unit)
		return nil
	}
	n := t.Iterations.Int64()
	if n != nil && *n <= 0 {
		return fmt.Errorf("a success with %d iterations", *n)
	}
	summary := schema.Summary{
		Mean: t.Mean.Finite(unit), StdDev: sampleDeviation(t.Std.Finite(unit), n),
		P50: t.P50.Finite(unit), P90: t.P90.Finite(unit), P99: t.P99.Finite(unit),
	}
	if summary == (schema.Summary{}) {
		return fmt.Errorf("a success without times")
	}
	summary.N = n
	m := foreign.Aggregate(name, unit, summary)
	m.Clock = quasimClock
	q.Own.timing(&m)
	foreign.Add(r, m, unit)
	return nil
}

// sampleDeviation is the sample standard deviation of n values of which the population's is known.
func sampleDeviation(population *float64, n *int64) *float64 {
	if population == nil || n == nil || *n < 2 {
		return nil
	}
	return new(*population * math.Sqrt(float64(*n)/float64(*n-1)))
}

// others adds the other metrics.
func (q *quasimResult) others(r *schema.Run) {
	if q.Own == nil { // otherwise it is computed from the mean, and the measured one is among the values
		foreign.Add(r, foreign.Aggregate("throughput", "1/s", schema.Summary{Mean: q.Timing.Throughput.Finite("1/s")}), "1/s")
	}
	if m := q.Memory; m != nil {
		single(r, q.Own.metric("peak_mb", "device_memory_peak"), m.Peak, "MiB")
		single(r, "device_memory_allocated", m.Allocated, "MiB")
		single(r, "device_memory_reserved", m.Reserved, "MiB")
	}
	if e := q.Energy; e != nil {
		single(r, "power", e.Power, "W")
		foreign.Add(r, foreign.Aggregate("energy", "J", schema.Summary{Mean: e.Energy.Finite("J")}), "J")
	}
	if a := q.Accuracy; a != nil {
		single(r, "rmse", a.RMSE, "")
		single(r, "max_error", a.Max, "")
		single(r, q.Own.metric("relative_error", "relative_error"), a.Relative, "ratio")
		single(r, "determinism_std", a.Determinism, "")
	}
}

// single adds a metric with one value per run. Lower is better, unless higher is known to be.
func single(r *schema.Run, name string, value foreign.Number, unit string) {
	if value == "" {
		return
	}
	s, err := foreign.SeriesOf([]foreign.Number{value}, unit)
	if err != nil {
		return // what is no number is no value
	}
	m := s.Metric(name, schema.LevelProcess)
	if m.Better == "" {
		m.Better = schema.BetterLower
	}
	foreign.Add(r, m, unit)
}
