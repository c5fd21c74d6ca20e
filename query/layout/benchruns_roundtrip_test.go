package layout

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// readBack returns the runs that ingest reads in a directory, by the id of the run that each is from.
func readBack(t *testing.T, dir string) map[string]schema.Run {
	t.Helper()
	folder, reader := os.DirFS(dir), foreign.NewReader(foreign.Added{}, nil)
	all := map[string]schema.Run{}
	valuetest.OK(t, fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := foreign.Open(t.Context(), folder, name, nil)
		if err != nil {
			return err
		}
		defer in.Close()
		format, err := in.Format(formats.All())
		if err != nil {
			return err
		}
		report, err := reader.Read(in, format, func(v schema.Valid) bool {
			r := v.Run()
			id := r.Env.Facts["source.run_id"]
			if there, is := all[id]; is && there.RunID != r.RunID {
				t.Errorf("run %s was read twice, and not as one", id)
			}
			all[id] = r
			return true
		})
		if report.Refused > 0 {
			t.Errorf("%s: refused %+v", name, report.Refusals)
		}
		return err
	}))
	return all
}

// kept describes a run as this layout keeps it; what the schema has no place for is left out, and has to be NULL when it is read: samples,
// other metrics than these, and of a row without a document everything but its columns.
func kept(r *schema.Run, document bool) string {
	median := func(name string) any {
		m := r.Metric(name)
		if m == nil || r.Status != schema.StatusOK || r.Purpose == schema.PurposeProfile && name == schema.PrimaryMetric {
			return nil
		}
		return fmt.Sprintf("%.12g", *m.Summary.P50)
	}
	number := func(n *int64) any {
		if n == nil {
			return nil
		}
		return *n
	}
	params := map[string]string{}
	maps.Copy(params, r.Params)
	text := fmt.Sprintf("%q %q %q %q %q %q %v %v %v %s %v %v", r.Suite, r.Benchmark, r.Variant, r.Backend, r.Model, r.Precision, number(r.BatchSize),
		number(r.SeqLen), params, r.Status, median(schema.PrimaryMetric), median("gpu_utilization"))
	if !document {
		return text
	}
	tags := map[string]string{}
	if r.Purpose != schema.PurposeProfile { // whose operators are in the documents of others
		maps.Copy(tags, r.Tags)
	}
	text += fmt.Sprintf("\n%s %s %s %s %q %q %v %q %v %v %v %q", r.Env.Machine, r.Env.GitCommit, r.Purpose, r.Stage, r.ErrorKind, r.Error, number(r.ExitCode), r.Signal, r.StartedAt, tags, median("sm_efficiency"), r.BackendVersion)
	if r.Status != schema.StatusOK {
		return text
	}
	for _, op := range r.Ops {
		if op.DurationNS != nil && *op.DurationNS > 0 {
			text += fmt.Sprintf("\n%d %s %q %v %v %q", op.Index, op.Name, op.Type, number(op.StartNS), *op.DurationNS, op.Kernels)
		}
	}
	return text
}

// TestRoundTrip: the files, read by ingest, are the runs that were written, value for value. What the schema cannot hold is NULL.
func TestRoundTrip(t *testing.T) {
	var runs []schema.Run
	add := func(edit func(*schema.Run)) {
		r := measured(byte(len(runs) + 1))
		r.Env.Machine, r.Env.GitCommit = "lab", "0123456789abcdef0123456789abcdef01234567"
		r.StartedAt = started.Add(time.Duration(len(runs)) * time.Second)
		r.Metrics[0].Better, r.Metrics[0].Ticks = schema.BetterLower, slices.Clone(r.Metrics[0].Ticks)
		edit(&r)
		r.PointID = schema.PointID(&r)
		stat.Complete(&r)
		runs = append(runs, r)
	}
	add(func(r *schema.Run) {})
	add(func(r *schema.Run) { r.RepeatIndex, r.Metrics[0].Ticks = new(int64(0)), []int64{1, 2, math.MaxInt32} })
	add(func(r *schema.Run) { // of the point of both
		ops := onGPU(9).Ops
		r.Purpose, r.Metrics, r.Ops, r.RepeatIndex, r.Primary, r.Tags = schema.PurposeProfile, nil, ops, nil, "", nil
	})
	add(func(r *schema.Run) {
		r.Suite, r.Variant, r.Params, r.BatchSize, r.SeqLen, r.RepeatIndex = "s", "v", map[string]string{"a b": `"1"`, "x": "[1,2]"}, nil, nil, nil
		r.Metrics = append(r.Metrics, schema.Metric{Name: "gpu_utilization", Unit: "ratio", Better: schema.BetterHigher, Reals: []float64{0}},
			schema.Metric{Name: "sm_efficiency", Unit: "ratio", Reals: []float64{.25, .75}}, schema.Metric{Name: "score", Reals: []float64{-1}})
	})
	add(func(r *schema.Run) {
		r.Model, r.Benchmark, r.Tags = "", "ch1/a|b\n", map[string]string{"note": "", "n": "a,\"b\""}
	})
	add(func(r *schema.Run) {
		r.Model, r.Status, r.Stage, r.ErrorKind, r.Error, r.ExitCode, r.Signal = "other", schema.StatusCrashed, schema.StageMeasure, "signal", "SIGSEGV\n|", new(int64(-11)), "SIGSEGV"
	})
	add(func(r *schema.Run) { r.Precision, r.Status, r.Error = "", schema.StatusSkipped, "no GPU" })
	add(func(r *schema.Run) { // a program
		r.Backend, r.Model, r.Precision, r.BatchSize, r.Params, r.BackendVersion, r.Tags = "", "", "", nil, map[string]string{"n": "3"}, "", nil
		r.Metrics[0].Ticks = []int64{0, 0, 5}
	})
	dir := t.TempDir()
	b := open(t, dir)
	for _, r := range runs {
		valuetest.OK(t, b.Add(r))
	}
	valuetest.OK(t, b.Close())
	back := readBack(t, dir)
	for i := range runs {
		document := runs[i].Backend != ""
		r, is := back[runs[i].RunID]
		stat.Complete(&r)
		if got, want := kept(&r, document), kept(&runs[i], document); !is || got != want {
			t.Errorf("run %d is\n%s\nwant\n%s", i, got, want)
		}
		for _, m := range r.Metrics {
			if whole := runs[i].Metric(m.Name); whole == nil || m.Summary.Mean != nil || m.Unit != whole.Unit {
				t.Errorf("run %d has the metric %+v", i, m)
			}
		}
	}
	valuetest.Equal(t, len(back), len(runs))
}
