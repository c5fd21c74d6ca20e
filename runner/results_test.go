package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// aTool returns the run of a tool's output, with a point of its own.
func aTool() schema.Run {
	run := schema.Run{
		Benchmark: "tool/x", Backend: "CUDA", BatchSize: new(int64(8)), Params: map[string]string{"threads": "2"}, Status: schema.StatusOK,
		Purpose: schema.PurposeMeasure, Primary: "throughput",
		Metrics: []schema.Metric{{Name: "throughput", Unit: "1/s", Better: "higher", Reals: []float64{5, 7}}},
	}
	run.PointID = schema.PointID(&run)
	return run
}

// TestAddPoint: what the point says and the tool does not is added; a label of the point names the tool's; a size that the
// tool says otherwise is refused.
func TestAddPoint(t *testing.T) {
	run := aTool()
	p := sweep.Point{
		Variant: "new", Backend: "cuda", Precision: "fp16", BatchSize: new(int64(8)), SeqLen: new(int64(64)),
		Params: map[string]string{"threads": "2", "size": "3"},
	}
	valuetest.OK(t, addPoint(&run, &p))
	if run.Variant != "new" || run.Backend != "cuda" || run.Precision != "fp16" || *run.BatchSize != 8 || *run.SeqLen != 64 ||
		run.Params["threads"] != "2" || run.Params["size"] != "3" || run.PointID != schema.PointID(&run) || run.Benchmark != "tool/x" {
		t.Errorf("%+v", run)
	}
	for want, p := range map[string]sweep.Point{
		"batch_size 4 was requested, but the result has 8": {BatchSize: new(int64(4))},
		"threads 1 was requested, but the result has 2":    {Params: map[string]string{"threads": "1"}},
	} {
		run := aTool()
		valuetest.ErrorText(t, addPoint(&run, &p), want+"…")
	}
	run = aTool()
	before := run.PointID
	if err := addPoint(&run, &sweep.Point{}); err != nil || run.PointID != before {
		t.Errorf("a point that says nothing changes the run: %v", err)
	}
}

// TestResults: each launch gives the runs of the tool, under the environment of the session, and a run of its own after
// them; what cannot be read is an error of that, and no result.
func TestResults(t *testing.T) {
	const text = "command: [echo, \"{size}\"]\ngrid: {size: [3, 4]}\nrepeats: 2\nmetrics: {results: {read: some-tool}}\n"
	measure := func(text string, read ReadResults) (runs []schema.Run, result Result) {
		s := parse(t, text)
		result = valuetest.Must(Run(t.Context(), s, Options{Machine: "lab3", Locks: t.TempDir(), Results: read}, func(r schema.Run) error {
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
			runs = append(runs, r)
			return nil
		}))
		return runs, result
	}
	runs, result := measure(text, func(_ context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error) {
		said, err := io.ReadAll(outputs[file])
		if format != "some-tool" || file != "stdout" || err != nil || len(said) != 2 {
			t.Errorf("%s of %s: %q, %v", format, file, said, err)
		}
		other := aTool()
		other.Benchmark = "tool/y"
		other.PointID = schema.PointID(&other)
		return []schema.Run{aTool(), other, other}, nil
	})
	if len(runs) != 16 || result.Runs() != 16 || result.Failed() != 0 {
		t.Fatalf("%d runs, %+v", len(runs), result)
	}
	seen := map[string]bool{}
	for i, r := range runs {
		own := i%4 == 3
		if own != (r.Benchmark == "echo") || seen[r.RunID] || r.Env.Machine != "lab3" || r.SessionID != result.Session || r.Source != schema.SourceNeuroLens {
			t.Errorf("run %d: %+v", i, r)
		}
		seen[r.RunID] = true
		if own {
			continue
		}
		size := []string{"3", "4"}[i/4%2]
		if r.Params["size"] != size || r.Params["threads"] != "2" || r.Env.Facts[schema.FactRead] != "some-tool" || r.Primary != "throughput" ||
			r.Metric("throughput").Summary == (schema.Summary{}) || r.Metric("latency") != nil || (r.RepeatIndex != nil) != (i%4 == 0) {
			t.Errorf("run %d: %+v", i, r)
		}
	}
	if n := len(runs[3].Metric("latency").Ticks); n != 1 || runs[3].Metric("latency").WarmupTicks != nil {
		t.Errorf("a launch has %d processes", n)
	}
	for read, want := range map[*ReadResults]string{
		new(ReadResults(nil)): "metric results: stdout: no reader for some-tool is available",
		new(ReadResults(func(context.Context, string, string, map[string]*io.SectionReader) ([]schema.Run, error) {
			return nil, errors.New("no such thing")
		})): "metric results: stdout: no such thing",
		new(ReadResults(func(context.Context, string, string, map[string]*io.SectionReader) ([]schema.Run, error) {
			run := aTool()
			run.Params = map[string]string{"size": "9"}
			return []schema.Run{aTool(), run}, nil
		})): "metric results: stdout: size 3 was requested, but the result has 9",
	} {
		runs, _ := measure(text, *read)
		if len(runs) != 4 || runs[0].Status != schema.StatusError || runs[0].ErrorKind != "metric" || runs[0].Stage != "validate" || !strings.HasPrefix(runs[0].Error, want) {
			t.Errorf("%d runs, %s: want %s", len(runs), runs[0].Error, want)
		}
	}
	runs, _ = measure(strings.Replace(text, "read: some-tool", "read: some-tool, from: none.json, optional: true", 1), nil)
	if len(runs) != 4 || runs[0].Status != schema.StatusOK || runs[0].Env.Missing["results"] != "absent" {
		t.Errorf("%d runs, %+v", len(runs), runs[0])
	}
}

// TestLevels: the worker is told the level of the first good run of its point, but never one that the user chose, or that the
// clock is too slow for.
func TestLevels(t *testing.T) {
	run := func(point string, level schema.Level) schema.Run {
		return schema.Run{
			PointID: point, Executor: schema.ExecutorPython, Status: schema.StatusOK, Purpose: schema.PurposeMeasure,
			Metrics: []schema.Metric{{Name: schema.PrimaryMetric, Level: level}},
		}
	}
	short, asked, failed, command := run("short", schema.LevelIteration), run("asked", schema.LevelIteration), run("failed", schema.LevelMean), run("command", schema.LevelProcess)
	short.Warnings = []string{stat.WarnShort}
	asked.Env.Facts = map[string]string{"runner.iterations_per_sample": "1"}
	failed.Status = schema.StatusTimeout
	command.Executor = schema.ExecutorCommand
	known := levels{}
	known.learn([]schema.Run{run("a", schema.LevelMean), run("a", schema.LevelIteration), run("b", schema.LevelIteration), short, asked, failed, command})
	now := run("b", schema.LevelMean)
	known.note("b", &now)
	known.note("new", &now)
	for point, want := range map[string]schema.Level{
		"a": schema.LevelMean, "b": schema.LevelIteration, "new": schema.LevelMean, "short": "", "asked": "", "failed": "", "command": "",
	} {
		valuetest.DeepEqual(t, known.of(&sweep.Point{PointID: point}), want, point)
	}
	if got := known.of(&sweep.Point{PointID: "a", Worker: sweep.Worker{IterationsPerSample: 3}}); got != "" {
		t.Errorf("a point with its own number of iterations is told %q", got)
	}
}

// TestLevelOfAPoint: a point keeps the level of its first run, whatever a call takes in later ones: within a session, and
// in the next one.
func TestLevelOfAPoint(t *testing.T) {
	path, dir := valuetest.Python(t, "json", "json"), t.TempDir()
	const text = `
import os, time
first = not os.path.exists("again")
open("again", "w").close()
def bench_it():
    if first: time.sleep(.001)
`
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "b.py"), []byte(text), 0o600))
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader("file: b.py\ncwd: "+dir+"\nrepeats: 2\n"), sweep.Overrides{Given: map[string]string{"python": path}}))
	session := func(earlier ...schema.Run) (runs []schema.Run) {
		_, err := Run(t.Context(), s, Options{
			Version: "test", Machine: "lab3", Locks: t.TempDir(), Rerun: RerunAll,
			Done: func(string) ([]schema.Run, error) { return earlier, nil },
		}, func(r schema.Run) error { runs = append(runs, r); return nil })
		if err != nil || len(runs) != 2 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		return runs
	}
	check := func(runs []schema.Run, want schema.Level) {
		t.Helper()
		for i := range runs {
			m := runs[i].Metric(schema.PrimaryMetric)
			if m == nil || m.Level != want || (want == schema.LevelMean) != (len(m.IterationsPerSample) == 1) {
				t.Fatalf("run %d is %s (%s): %+v, want level %s", i, runs[i].Status, runs[i].Error, m, want)
			}
		}
	}
	slowFirst := session()
	check(slowFirst, schema.LevelIteration)
	mean := slowFirst[0]
	mean.Metrics = slices.Clone(mean.Metrics)
	mean.Metric(schema.PrimaryMetric).Level = schema.LevelMean
	valuetest.OK(t, os.Remove(filepath.Join(dir, "again")))
	check(session(mean), schema.LevelMean)
}

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
