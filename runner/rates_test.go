package runner

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// ratedRun has latencies in ticks of 100 ns: 1 ms, 2 ms, 4 ms.
func ratedRun() schema.Run {
	return schema.Run{
		Purpose: schema.PurposeMeasure, Env: schema.Env{Missing: map[string]string{}}, Metrics: []schema.Metric{{
			Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 100,
			Ticks: []int64{10_000, 20_000, 40_000}, AtNS: []int64{1, 2, 3}, IterationsPerSample: []int64{7},
		}},
	}
}

// TestRates: each iteration that has a latency has rates, in stored units.
func TestRates(t *testing.T) {
	run := ratedRun()
	addWork(&run, &sweep.Point{Work: &schema.Work{Items: new(8.0), Bytes: new(int64(1000)), Flops: new(2e6)}})
	for metric, want := range map[string][]float64{
		"throughput": {8000, 4000, 2000}, "bandwidth": {1e6, 5e5, 2.5e5}, "compute": {2e9, 1e9, 5e8},
	} {
		m := run.Metric(metric)
		if m == nil || !slices.Equal(m.Reals, want) {
			t.Errorf("%s: %+v, want %v", metric, m, want)
			continue
		}
		kind, _ := schema.KindOfMetric(metric)
		if m.Unit != kind.Unit || m.Better != schema.BetterHigher || m.Level != schema.LevelIteration || m.Clock != "monotonic" ||
			!slices.Equal(m.AtNS, []int64{1, 2, 3}) || !slices.Equal(m.IterationsPerSample, []int64{7}) {
			t.Errorf("%s is %+v", metric, m)
		}
	}
	if *run.Work.Items != 8 || *run.Work.Bytes != 1000 || *run.Work.Flops != 2e6 {
		t.Errorf("work is %+v", run.Work)
	}
	stat.Complete(&run)
	if m := run.Metric("throughput"); m.Summary.P50 == nil || *m.Summary.P50 != 4000 {
		t.Errorf("the summary is %+v", m.Summary)
	}
}

// TestRatesOfOthers: what a benchmark states or measures itself stays, without work: in the sweep nothing is rated, and nothing
// is divided by 0.
func TestRatesOfOthers(t *testing.T) {
	run := ratedRun()
	run.Work.Items = new(2.0)
	run.Metrics = append(run.Metrics, schema.Metric{Name: "bandwidth", Unit: "B/s", Reals: []float64{5}})
	addWork(&run, &sweep.Point{Work: &schema.Work{Items: new(8.0), Bytes: new(int64(1000))}})
	if m := run.Metric("throughput"); *run.Work.Items != 2 || m == nil || m.Reals[0] != 2000 {
		t.Errorf("what the benchmark stated was replaced: %v, %+v", *run.Work.Items, m)
	}
	if m := run.Metric("bandwidth"); len(run.Metrics) != 3 || m.Reals[0] != 5 {
		t.Errorf("what the benchmark measured was replaced: %+v", run.Metrics)
	}
	for name, edit := range map[string]func(*schema.Run, *sweep.Point){
		"no key":     func(_ *schema.Run, p *sweep.Point) { p.Work = nil },
		"profile":    func(r *schema.Run, _ *sweep.Point) { r.Purpose = schema.PurposeProfile },
		"no latency": func(r *schema.Run, _ *sweep.Point) { r.Metrics[0].Name = "tpot" },
		"no samples": func(r *schema.Run, _ *sweep.Point) { r.Metrics[0].Ticks = nil },
		"0":          func(r *schema.Run, _ *sweep.Point) { r.Metrics[0].Ticks[1] = 0 },
		"no work":    func(_ *schema.Run, p *sweep.Point) { p.Work = &schema.Work{} },
	} {
		run, p := ratedRun(), sweep.Point{Work: &schema.Work{Items: new(8.0)}}
		edit(&run, &p)
		addWork(&run, &p)
		if len(run.Metrics) != 1 || (run.Env.Missing["throughput"] != "") != (name == "0") {
			t.Errorf("%s: %d metrics, %v", name, len(run.Metrics), run.Env.Missing)
		}
	}
}

// TestWorkOfSweep: the work of a sweep is in the columns of its runs, with the rates; other sweeps have none. What the
// benchmark states itself is rated too.
func TestWorkOfSweep(t *testing.T) {
	k := &shelf{}
	for _, work := range []string{"", "work: {items: 10 * batch_size}\n"} {
		k.bench(t, parse(t, "command: ['true', '{bs}']\ngrid: {bs: [2, 4]}\niterations: 2\nrepeats: 1\nwarmup: 0\n"+work), 0, nil)
		k.bench(t, parse(t, "backend: builtin\nbenchmark: MSE\ngrid: {batch_size: 2, dim: 4}\niterations: 2\nwarmup: 0\n"+work), 0, nil)
	}
	if len(k.runs) != 6 {
		t.Fatalf("%d runs: with other work a run is another one", len(k.runs))
	}
	for i, r := range k.runs {
		command, rated := r.Executor == schema.ExecutorCommand, i >= 3
		rates := map[string]bool{"throughput": rated, "bandwidth": rated && !command, "compute": rated && !command}
		for name, want := range rates {
			if m := r.Metric(name); (m != nil) != want || want && len(m.Reals) != 2 {
				t.Errorf("run %d: %s is %+v", i, name, m)
			}
		}
		if command && (r.Work.Items != nil) != rated || command && rated && *r.Work.Items != 10*float64(*r.BatchSize) {
			t.Errorf("run %d: work is %+v", i, r.Work)
		}
		if rated && r.Metric("throughput").Reals[0] != *r.Work.Items/(r.Metric("latency").Values()[0]/1e9) {
			t.Errorf("run %d: throughput is %v", i, r.Metric("throughput").Reals)
		}
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
	}
}
