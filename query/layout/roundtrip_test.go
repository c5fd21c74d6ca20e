package layout_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// readBack returns the runs that ingest reads in a directory. A file that no format reads has to be Markdown.
func readBack(t *testing.T, dir string) []schema.Run {
	t.Helper()
	folder := os.DirFS(dir)
	var all []schema.Run
	valuetest.OK(t, fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		format, report, runs, err := one(t, folder, name)
		switch {
		case path.Ext(name) == ".md":
			return nil
		case err != nil || report.Refused > 0:
			t.Errorf("%s: %v, refused %+v", name, err, report.Refusals)
		case format.Read != nil:
			all = append(all, runs...)
		}
		return nil
	}))
	return all
}

// one reads a file of a folder. format is nil where not exactly one format is its own.
func one(t *testing.T, folder fs.FS, name string) (format *foreign.Format, report foreign.Report, runs []schema.Run, err error) {
	t.Helper()
	in, err := foreign.Open(t.Context(), folder, name, nil)
	if err != nil {
		return nil, report, nil, err
	}
	defer in.Close()
	format, err = in.Format(formats.All())
	if err != nil || format.Read == nil {
		return format, report, nil, err
	}
	report, err = foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(v schema.Valid) bool {
		runs = append(runs, v.Run())
		return true
	})
	return format, report, runs, err
}

// store returns runs of every kind, with the values, names and texts that are hardest to keep.
func store() (all []schema.Run) {
	var m maker
	add := func(times []int64, edits ...func(*schema.Run)) {
		all = append(all, m.run(times, func(r *schema.Run) {
			r.Suite, r.Benchmark, r.Backend, r.RepeatIndex = "all", "kernel", "cpu", new(int64(0))
			for _, edit := range edits {
				edit(r)
			}
		}))
	}
	point := func(benchmark, variant string, params map[string]string) func(*schema.Run) {
		return func(r *schema.Run) { r.Benchmark, r.Variant, r.Params = benchmark, variant, params }
	}
	with := func(metrics ...schema.Metric) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics = append(r.Metrics, metrics...) }
	}
	not := func(status schema.Status, stage schema.Stage, kind, text string) func(*schema.Run) {
		return func(r *schema.Run) { r.Status, r.Stage, r.ErrorKind, r.Error = status, stage, kind, text }
	}
	// Repeats of a point, one of which failed: with several samples, one sample, none.
	for i := range int64(3) {
		add([]int64{1_000_001 * (i + 1), 3_000_000, 2_000_000}, func(r *schema.Run) { r.RepeatIndex = &i }, with(
			single("device_memory_peak", "B", float64(i)), single("rmse", "", 1e-7*float64(i)), single("accuracy", "ratio", .1*float64(i)),
			schema.Metric{Name: "bandwidth", Unit: "B/s", Better: schema.BetterHigher, Clock: "perf_counter", Level: schema.LevelIteration, Reals: []float64{1e9, 2e9, 4e9}},
			schema.Metric{Name: "energy", Unit: "mJ", Better: schema.BetterLower, Level: schema.LevelInterval, Reals: []float64{1, 2, 30}},
			schema.Metric{Name: "peak_memory", Unit: "B", Level: schema.LevelProcess, Ticks: []int64{5, 7}, Tick: 1},
			schema.Metric{Name: "gpu_efficiency", Unit: "ratio", Better: schema.BetterHigher, Level: schema.LevelIteration, Reals: []float64{.5, .25}},
		))
	}
	add([]int64{9}, not(schema.StatusTimeout, schema.StageMeasure, "", "measure took more than 15s"), func(r *schema.Run) {
		r.RepeatIndex = new(int64(3))
		r.Stages = schema.Stages{Setup: new(int64(2_100_000_000)), Measure: new(int64(15_000_000_001))}
	})
	// Every other end.
	add(nil, point("kernel", "", map[string]string{"n": "1"}), not(schema.StatusSkipped, "", "skip_if", "no GPU: \"none\" | <found>"))
	add(nil, point("kernel", "", map[string]string{"n": "2"}), not(schema.StatusUnsupported, schema.StageSetup, "not_applied", "cuda"))
	add(nil, point("kernel", "", map[string]string{"n": "3"}), not(schema.StatusCrashed, schema.StageMeasure, "signal", "SIGSEGV\nin two lines"), func(r *schema.Run) {
		r.Signal, r.ExitCode = "SIGSEGV", new(int64(139))
	})
	add([]int64{5}, point("kernel", "", map[string]string{"n": "4"}), not(schema.StatusError, schema.StageValidate, "check", "rmse <= 1e-3 does not hold"))
	add(nil, point("kernel", "", map[string]string{"n": "5"}), not(schema.StatusOOM, schema.StageSetup, "", "")) // without a reason
	// Zero, negative, tiny and huge values; a time of 0; no time at all.
	add([]int64{0}, point("zero", "", nil), with(
		single("training_time", "ns", 0), single("power", "mW", 0), single("throughput", "1/s", 0), single("score", "", -1.5), single("relative_error", "ratio", 1e-300),
		single("tokens", "", 1e300), single("small", "", -1e-9), single("bandwidth", "B/s", 1.0/3)))
	add(nil, point("untimed", "", nil), func(r *schema.Run) { r.Primary = "score" }, with(single("score", "", 0), single("peak_memory", "B", 242.67*(1<<20))))
	add(nil, point("training", "", nil), func(r *schema.Run) { r.Primary = "training_time" }, with(
		schema.Metric{Name: "training_time", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelProcess, Reals: []float64{5_010_000_001.5, 4e9}}))
	// What an import knows: a mean, or a median and a number of samples, without samples.
	add(nil, point("imported", "", nil), func(r *schema.Run) { r.StartedAt, r.Warnings = time.Time{}, []string{"mean"} }, with(
		schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "cuda_event", Summary: schema.Summary{Mean: new(442_000.)}},
		schema.Metric{Name: "memory_throughput", Unit: "B/s", Better: schema.BetterHigher, Summary: schema.Summary{Mean: new(2e9)}},
		schema.Metric{Name: "ttft", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelRequest, Summary: schema.Summary{N: new(int64(7)), P50: new(3e6)}}))
	// Names.
	for i, name := range []string{"ch1/a", "ch1/a/b", "/", "a/", "Kernel", "../x", "a b", "ü", "a|b", `a"b`, "[a]", "unknown", "kernel_cpu", strings.Repeat("long", 80)} {
		add([]int64{int64(i)}, point(name, "", nil))
		add([]int64{int64(i)}, point(name, "baseline", map[string]string{"size": "[64,64]", "mode": "fast", "flag": "true", "half": "0.5", "a b": "=", "text": `"1"`}))
	}
	add([]int64{3}, point("axes", "wide", map[string]string{
		"tensor_dimension": "64", "hidden_size": "wide", "epochs": "5", "seed": "7", "compiled": "false", "row": "2", "baseline_file": "x.py", "status": "ok",
	}), func(r *schema.Run) {
		r.Model, r.Precision, r.BatchSize, r.SeqLen, r.Backend = "mlp", "fp16", new(int64(0)), new(int64(512)), ""
	})
	add([]int64{3}, point("axes", "", map[string]string{"compiled": "true"}), func(r *schema.Run) { r.Precision = "fp64" })
	// One point in two suites, at two commits, with tags and warnings.
	for i, suite := range []string{"one", "two", ""} {
		add([]int64{4}, point("shared", "", nil), func(r *schema.Run) {
			r.Suite, r.Tags, r.Warnings = suite, map[string]string{"note": suite + " |\n", "regression": "true"}, []string{"load: 4.0"}
			r.Env.GitCommit = strings.Repeat(strconv.Itoa(i), 40)
		})
	}
	// Environments: what one run has is not what another has.
	for _, env := range []schema.Env{
		{},
		{Machine: "other", OS: "darwin", OSKernel: "25", PythonVersion: "3.13.1", Facts: map[string]string{"cpu.architecture": "arm64", "numpy.version": "2.4.6"}},
		{Machine: "lab", GPUName: "H100", GPUCount: new(int64(2)), CUDAVersion: "12.8", GitCommit: strings.Repeat("c", 40), GitBranch: "topic", GitDirty: new(true)},
	} {
		add([]int64{4}, point("elsewhere", "", nil), func(r *schema.Run) { r.Env = env })
	}
	// Requests that failed, of a point with one run and of one with two.
	for i, warnings := range [][]string{{"16 of 24 requests failed"}, {"1 request failed"}, nil} {
		add([]int64{4, 6, 8}, point("served", "", map[string]string{"n": strconv.Itoa(min(i, 1))}), func(r *schema.Run) { r.Warnings = warnings })
	}
	add(nil, point("kernel", "", nil), func(r *schema.Run) {
		r.Purpose, r.Primary = schema.PurposeProfile, "" // only chapters lists it
	}, with(single("occupancy", "ratio", .5)))
	return all
}

// kept returns a run as its file in a layout keeps it: without what the layout cannot hold, which has to be NULL when it is read.
func kept(l layout.Layout, r schema.Run) schema.Run {
	k := schema.Run{
		RunID: r.RunID, Purpose: r.Purpose, Suite: r.Suite, Benchmark: r.Benchmark, Variant: r.Variant, Backend: r.Backend, Model: r.Model, Precision: r.Precision,
		BatchSize: r.BatchSize, SeqLen: r.SeqLen, Params: r.Params, RepeatIndex: r.RepeatIndex, Tags: r.Tags, Warnings: r.Warnings, StartedAt: r.StartedAt,
		Status: r.Status, Stage: r.Stage, ErrorKind: r.ErrorKind, Error: r.Error, ExitCode: r.ExitCode, Signal: r.Signal, PointID: r.PointID,
	}
	k.Env.GitCommit, k.Env.Machine = r.Env.GitCommit, r.Env.Machine
	if e := &r.Env; l == layout.Kernels {
		k.Env.OS, k.Env.OSKernel, k.Env.PythonVersion, k.Env.GitBranch, k.Env.GitDirty = e.OS, e.OSKernel, e.PythonVersion, e.GitBranch, e.GitDirty
		k.Env.GPUName, k.Env.GPUCount, k.Env.CUDAVersion = e.GPUName, e.GPUCount, e.CUDAVersion
		k.Env.Facts = map[string]string{"cpu.architecture": e.Facts["cpu.architecture"], "numpy.version": e.Facts["numpy.version"]}
	}
	if r.Status == schema.StatusOK { // values of a run that is not ok are not shown
		k.Primary = r.Primary
		if r.Primary == "" && len(r.Metrics) > 0 { // ingest gives each run a primary metric
			k.Primary = r.Metrics[0].Name
		}
		for _, m := range r.Metrics {
			m.WarmupTicks, m.WarmupReals, m.AtNS, m.IterationsPerSample = nil, nil, nil, nil
			k.Metrics = append(k.Metrics, m)
		}
	}
	if l == layout.Kernels {
		for _, name := range []string{"iterations", "warmup", "seed"} {
			if text := cmp.Or(r.Applied[name], r.Env.Facts["runner."+name]); text != "" {
				if k.Applied == nil {
					k.Applied = map[string]string{}
				}
				k.Applied[name] = text
			}
		}
	}
	if l == layout.Chapters && r.Status != schema.StatusOK {
		k.Stages = schema.Stages{Setup: r.Stages.Setup, Warmup: r.Stages.Warmup, Measure: r.Stages.Measure}
	}
	return k
}

// differences compares a run with the one that was read: everything that a layout keeps is the same. Of the statistics of a metric, those that
// were read are the same, and the number of its samples and its median, or its mean, are among them; with samples, all samples.
func differences(want, got *schema.Run, samples bool) (all []string) {
	differ := func(what string, a, b any) {
		if x, y := fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b); x != y {
			all = append(all, fmt.Sprintf("%s is %s, want %s", what, y, x))
		}
	}
	read := reflect.ValueOf(kept("", *got))
	for i, v := 0, reflect.ValueOf(*want); i < v.NumField(); i++ {
		switch name := v.Type().Field(i).Name; name {
		case "RunID", "Metrics", "Env", "Applied", "Stages":
		case "BatchSize", "SeqLen", "RepeatIndex", "ExitCode":
			differ(name, deref(v.Field(i).Interface().(*int64)), deref(read.FieldByName(name).Interface().(*int64)))
		case "StartedAt":
			differ(name, want.StartedAt.UnixNano(), got.StartedAt.UnixNano())
		case "Params", "Tags", "Warnings":
			if v.Field(i).Len()+read.FieldByName(name).Len() > 0 {
				differ(name, v.Field(i).Interface(), read.FieldByName(name).Interface())
			}
		default:
			differ(name, v.Field(i).Interface(), read.FieldByName(name).Interface())
		}
	}
	of := func(e *schema.Env) any {
		dirty := "unknown"
		if e.GitDirty != nil {
			dirty = strconv.FormatBool(*e.GitDirty)
		}
		return []any{
			e.Machine, e.GitCommit, e.GitBranch, dirty, e.OS, e.OSKernel, e.PythonVersion, e.GPUName, deref(e.GPUCount), e.CUDAVersion,
			e.Hostname, e.CPUModel, e.Facts["cpu.architecture"], e.Facts["numpy.version"],
		}
	}
	differ("environment", of(&want.Env), of(&got.Env))
	if want.Applied != nil || got.Applied != nil {
		differ("applied", want.Applied, got.Applied)
	}
	for name, pair := range map[string][2]*int64{
		"setup": {want.Stages.Setup, got.Stages.Setup}, "warmup": {want.Stages.Warmup, got.Stages.Warmup}, "measure": {want.Stages.Measure, got.Stages.Measure},
	} {
		differ(name, deref(pair[0]), deref(pair[1]))
	}
	if len(got.Metrics) != len(want.Metrics) {
		all = append(all, fmt.Sprintf("it has the metrics %v, want %v", got.Metrics, want.Metrics))
		return all
	}
	for i := range want.Metrics {
		all = append(all, metricDifferences(&want.Metrics[i], got.Metric(want.Metrics[i].Name), samples)...)
	}
	return all
}

func metricDifferences(want, got *schema.Metric, samples bool) (all []string) {
	if got == nil {
		return []string{want.Name + " is missing"}
	}
	if a, b := fmt.Sprint(want.Unit, want.Better, want.Clock, want.Level), fmt.Sprint(got.Unit, got.Better, got.Clock, got.Level); a != b {
		all = append(all, fmt.Sprintf("%s is in %s, want %s", want.Name, b, a))
	}
	if n := len(want.Values()); n > 0 && (samples && want.Name == schema.PrimaryMetric || n == 1) && !slices.Equal(want.Values(), got.Values()) {
		all = append(all, fmt.Sprintf("the samples of %s are %v, want %v", want.Name, got.Values(), want.Values()))
	}
	w, g := reflect.ValueOf(want.Summary), reflect.ValueOf(got.Summary)
	for i := range w.NumField() {
		name := w.Type().Field(i).Name
		switch a, b := w.Field(i), g.Field(i); {
		case b.IsNil() && (name == "N" && want.Summary.P50 != nil || name == "P50") && !a.IsNil():
			all = append(all, want.Name+" has lost "+name)
		case b.IsNil() || name == "Version":
		case a.IsNil():
			all = append(all, fmt.Sprintf("%s has %s %v, want NULL", want.Name, name, b.Elem()))
		case a.Elem().Kind() == reflect.Int64 && a.Elem().Int() != b.Elem().Int(),
			a.Elem().Kind() == reflect.Float64 && math.Abs(a.Elem().Float()-b.Elem().Float()) > 1e-12*math.Abs(a.Elem().Float()):
			all = append(all, fmt.Sprintf("%s has %s %v, want %v", want.Name, name, b.Elem(), a.Elem()))
		}
	}
	return all
}

func deref(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

// checkBack compares runs with those that were read in the folder that they were written to.
func checkBack(t *testing.T, l layout.Layout, runs, back []schema.Run) {
	t.Helper()
	read := map[string]*schema.Run{}
	for i := range back {
		stat.Complete(&back[i])
		id := back[i].Env.Facts["source.run_id"]
		valuetest.Equal(t, read[id], nil, l, "run", id, "was read twice")
		read[id] = &back[i]
	}
	want := 0
	for _, r := range runs {
		if r.Purpose == schema.PurposeProfile && l != layout.Chapters {
			continue
		}
		want++
		stat.Complete(&r)
		k := kept(l, r)
		if read[r.RunID] == nil {
			t.Errorf("%s: no run of %s %s %s", l, r.Benchmark, r.Variant, r.Status)
			continue
		}
		for _, d := range differences(&k, read[r.RunID], l != layout.Matrix) {
			t.Errorf("%s: %.40s %s %v %s: %s", l, r.Benchmark, r.Variant, r.Params, r.Status, d)
		}
	}
	valuetest.Equal(t, len(back), want, l)
}

// TestRoundTrip: the files of each layout, read by ingest, are the runs that were written, value for value. What a format cannot hold is NULL.
func TestRoundTrip(t *testing.T) {
	for l, runs := range selections() {
		for name, runs := range map[string][]schema.Run{"all": store(), "typical": runs, "one": runs[:1]} {
			t.Run(string(l)+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				write(t, l, dir, runs...)
				write(t, l, dir, runs...) // again, into the same folder
				valid(t, dir, l)
				checkBack(t, l, runs, readBack(t, dir))
			})
		}
	}
}

// TestReportAlone: the report of the Swift scripts has everything that the files beside it have.
func TestReportAlone(t *testing.T) {
	runs := selections()[layout.Matrix]
	dir, whole := t.TempDir(), t.TempDir()
	f := folderOf(layout.Matrix, runs...)
	f.JSON, f.Markdown, f.SummaryOnly = filepath.Join(dir, "all.json"), filepath.Join(dir, "all.md"), true
	if paths, err := f.Write(whole); err != nil || len(paths) != 2 || len(texts(t, whole)) > 0 {
		t.Fatalf("%q, %v", paths, err)
	}
	checkBack(t, layout.Matrix, runs, readBack(t, dir))
}

// TestSamplesBack: the real files of each system, read, written and read again, are the same points with the same values.
func TestSamplesBack(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	for _, test := range []struct {
		layout layout.Layout
		path   string
		runs   int
	}{
		{layout.Chapters, "seed1_benchmark_harness/benchmark_test_results_20251105_28ebcda8.json", 503},
		{layout.Kernels, "seed2_quasim/reports_1bccf0f5/summary.json", 3},
		{layout.Kernels, "seed2_quasim/generated/summary_with_failure.json", 4},
		{layout.Matrix, "seed3_swift_mnist/benchmarks", 5},
		{layout.Grid, "seed4_cuda_triton/benchmark_results.json", 288},
	} {
		runs := readSamples(t, filepath.Join(samples, test.path))
		valuetest.Equal(t, len(runs), test.runs, test.path)
		for i := range runs {
			stat.Complete(&runs[i])
		}
		dir := t.TempDir()
		write(t, test.layout, dir, runs...)
		valid(t, dir, test.layout)
		checkBack(t, test.layout, runs, readBack(t, dir))
	}
}

func readSamples(t *testing.T, name string) []schema.Run {
	t.Helper()
	sources := valuetest.Must(foreign.Sources([]string{name}, nil))
	var all []schema.Run
	for _, s := range sources {
		in := valuetest.Must(s.Open(t.Context(), nil))
		format := valuetest.Must(in.Format(formats.All()))
		valuetest.Must(foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(v schema.Valid) bool {
			all = append(all, v.Run())
			return true
		}))
		valuetest.OK(t, in.Close())
	}
	return all
}

// TestSuiteOfSamples: for the real suite file, the report has the number of slower optimizations and the true worst speedup.
func TestSuiteOfSamples(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	dir := t.TempDir()
	runs := readSamples(t, filepath.Join(samples, "seed1_benchmark_harness/benchmark_test_results_20251105_28ebcda8.json"))
	write(t, layout.Chapters, dir, runs...)
	text := texts(t, dir)["benchmark_test_results.md"]
	for _, want := range []string{
		"- **Chapters tested:** 20/20\n", "- **Total benchmarks:** 257\n", "- **Slower than their baseline:** 102 of 222\n", "- **Worst speedup:** 0.0065x (",
		"- **Geometric mean speedup:** 1.54x\n", "- **Best speedup:** 21822.68x (",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text[:min(1200, len(text))])
		}
	}
}
