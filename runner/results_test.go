package runner

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// aTool is the run of a tool's output, with a point of its own.
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
	if err := addPoint(&run, &p); err != nil {
		t.Fatal(err)
	}
	if run.Variant != "new" || run.Backend != "cuda" || run.Precision != "fp16" || *run.BatchSize != 8 || *run.SeqLen != 64 ||
		run.Params["threads"] != "2" || run.Params["size"] != "3" || run.PointID != schema.PointID(&run) || run.Benchmark != "tool/x" {
		t.Errorf("%+v", run)
	}
	for want, p := range map[string]sweep.Point{
		"batch_size 4 was requested, but the result has 8": {BatchSize: new(int64(4))},
		"threads 1 was requested, but the result has 2":    {Params: map[string]string{"threads": "1"}},
	} {
		run := aTool()
		if err := addPoint(&run, &p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
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
		result, err := Run(t.Context(), s, Options{Machine: "lab3", Locks: t.TempDir(), Results: read}, func(r schema.Run) error {
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
			runs = append(runs, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
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
		if r.Params["size"] != size || r.Params["threads"] != "2" || r.Env.Facts[factRead] != "some-tool" || r.Primary != "throughput" ||
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
