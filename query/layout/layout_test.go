package layout_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

var began = time.Date(2026, 3, 2, 14, 30, 22, 123456000, time.UTC)

// maker makes runs, each with ids of its own.
type maker struct{ n byte }

// run returns an ok run with these times in ns, changed by edit.
func (m *maker) run(times []int64, edit func(*schema.Run)) schema.Run {
	m.n++
	at := began.Add(time.Duration(m.n) * time.Second)
	r := schema.Run{
		RunID: schema.ULIDFrom(at, [10]byte{9: m.n}).String(), SessionID: schema.ULIDFrom(began, [10]byte{9: 255}).String(),
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Status: schema.StatusOK, StartedAt: at, TimeSource: schema.TimeClock,
		Primary: "latency",
		Env: schema.Env{
			Machine: "lab", OS: "linux", OSKernel: "6.1", CPUModel: "EPYC", PythonVersion: "3.12.3",
			GitCommit: "0123456789abcdef0123456789abcdef01234567", GitBranch: "main", GitDirty: new(false),
			Facts: map[string]string{"runner.iterations": "3", "runner.warmup": "1", "runner.seed": "42"},
		},
	}
	if times != nil {
		r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "perf_counter", Level: schema.LevelIteration, Tick: 1, Ticks: times}}
	}
	edit(&r)
	if r.Status != schema.StatusOK {
		r.Primary = ""
	}
	r.PointID = schema.PointID(&r)
	stat.Complete(&r)
	return r
}

// single returns a metric of one sample.
func single(name, unit string, v float64) schema.Metric {
	return schema.Metric{Name: name, Unit: unit, Level: schema.LevelProcess, Reals: []float64{v}}
}

// failed makes a run one that failed.
func failed(r *schema.Run, status schema.Status, kind, text string) {
	r.Status, r.ErrorKind, r.Error = status, kind, text
	if status == schema.StatusError {
		r.Stage = schema.StageValidate
	}
}

// selections returns runs for each layout: with every member that it has, and with runs of every status.
func selections() map[layout.Layout][]schema.Run {
	var m maker
	kernel := func(name, backend, precision string, size int) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Benchmark, r.Backend, r.Precision, r.BatchSize = name, backend, precision, new(int64(8))
			r.Params = map[string]string{"size": strconv.Itoa(size), "grid": "[64,64]", "mode": "fast"}
			r.Env.Facts["runner.file"], r.Env.Facts["runner.object"] = "src/kernels/"+name+".py", "run_benchmark"
		}
	}
	also := func(edit func(*schema.Run), more func(*schema.Run)) func(*schema.Run) {
		return func(r *schema.Run) { edit(r); more(r) }
	}
	all := map[layout.Layout][]schema.Run{}
	all[layout.Kernels] = []schema.Run{
		m.run([]int64{1_500_000, 2_500_000, 2_000_001}, also(kernel("softmax", "cuda", "fp16", 64), func(r *schema.Run) {
			r.Metrics = append(r.Metrics, single("device_memory_peak", "B", 3<<20), single("device_memory_allocated", "B", 1<<20),
				single("energy", "mJ", 15), single("power", "mW", 150_000), single("rmse", "", 1e-6), single("relative_error", "ratio", .25),
				single("occupancy", "ratio", .5))
			r.Env.GPUName, r.Env.GPUCount, r.Env.CUDAVersion = "H100", new(int64(2)), "12.8"
		})),
		m.run([]int64{9_000_000, 3_000_000}, also(kernel("softmax", "cpu", "fp16", 64), func(r *schema.Run) {
			r.Metrics = append(r.Metrics, single("peak_memory", "B", 1<<24))
		})),
		m.run([]int64{4_000_000}, kernel("softmax", "cpu", "fp16", 128)), // another point of the same name, backend and precision
		m.run([]int64{4_000_000}, kernel("softmax", "cpu", "fp16", 128)), // the same again
		m.run([]int64{700}, kernel("Scan", "", "", 1)),                   // what is not known is unknown
		m.run([]int64{5}, also(kernel("drift", "cpu", "fp32", 1), func(r *schema.Run) { failed(r, schema.StatusError, "check", "rmse <= 1e-3 does not hold\nat all") })),
		m.run(nil, also(kernel("drift", "cuda", "fp32", 1), func(r *schema.Run) { failed(r, schema.StatusSkipped, "skip_if", "CUDA not available") })),
		m.run(nil, also(kernel("scan", "cpu", "fp8", 1), func(r *schema.Run) { failed(r, schema.StatusUnsupported, "not_applied", "") })),
	}
	training := func(hidden, backend string) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Suite, r.Benchmark, r.Model, r.Backend, r.BatchSize = "mnist", "MNISTClassic", "mlp", backend, new(int64(32))
			r.Params = map[string]string{"epochs": "5", "hidden_size": hidden}
			r.Primary = "training_time"
			r.Metrics = append(r.Metrics, single("training_time", "ns", 5_010_000_001), single("peak_memory", "B", 242.67*(1<<20)), single("accuracy", "ratio", .9041))
		}
	}
	all[layout.Matrix] = []schema.Run{
		m.run([]int64{6_000_000_000}, training("512", "mps")),
		m.run([]int64{6_000_000_000}, training("256", "mps")),
		m.run([]int64{6_000_000_000}, also(training("256", "mps"), func(r *schema.Run) { r.Params["epochs"] = "1" })),
		m.run([]int64{6_000_000_000}, also(training("256", "cpu"), func(r *schema.Run) {
			r.Benchmark, r.Params, r.Primary = "MNISTMLX", map[string]string{"compiled": "true"}, "latency"
			r.Metrics = append(r.Metrics[:1], single("cpu_user", "ns", 3e9), single("cpu_system", "ns", 25e7))
		})),
		m.run(nil, also(training("512", "cpu"), func(r *schema.Run) { failed(r, schema.StatusTimeout, "", "measure took more than 30m") })),
	}
	operation := func(name, variant, backend string, batch, seq int64, dim string) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Suite, r.Benchmark, r.Variant, r.Backend, r.BatchSize, r.SeqLen = "operations", name, variant, backend, &batch, &seq
			r.Params = map[string]string{"tensor_dimension": dim}
			r.Metrics = append(r.Metrics, single("device_memory_peak", "B", 1.5*(1<<20)), single("gpu_efficiency", "ratio", .853), single("bandwidth", "B/s", 2<<30))
		}
	}
	all[layout.Grid] = []schema.Run{
		m.run([]int64{48_000, 52_000}, operation("Swish", "Triton", "triton", 32, 512, "64")),
		m.run([]int64{442_000}, operation("LayerNorm", "Triton", "triton", 16, 256, "64")),
		m.run([]int64{442_000}, operation("LayerNorm", "PyTorch", "torch", 16, 256, "64")),
		m.run([]int64{40_000}, also(operation("Loss", "PyTorch", "torch", 16, 256, "64"), func(r *schema.Run) { r.Params["loss"] = "mse" })),
		m.run([]int64{41_000}, also(operation("Loss", "PyTorch", "torch", 16, 256, "64"), func(r *schema.Run) { r.Params["loss"] = "cross_entropy" })),
		m.run([]int64{1}, also(operation("Swish", "CUDA", "cuda", 32, 512, "64"), func(r *schema.Run) {
			failed(r, schema.StatusError, "check", "mismatched == 0 does not hold")
		})),
		m.run([]int64{30}, func(r *schema.Run) { r.Benchmark, r.Params = "Other", map[string]string{"tensor_dimension": "wide"} }),
	}
	example := func(name, variant string) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Benchmark, r.Variant, r.Backend = name, variant, "torch"
			r.Env.Facts["runner.file"] = strings.Replace(name, "/", "/"+variant+"_", 1) + ".py"
		}
	}
	batch := func(n int64) func(*schema.Run) { return func(r *schema.Run) { r.BatchSize = &n } }
	all[layout.Chapters] = []schema.Run{
		m.run([]int64{12_500_000, 12_000_000, 13_000_000}, also(example("ch1/moe", "baseline"), func(r *schema.Run) {
			r.Metrics = append(r.Metrics, single("device_memory_peak", "B", 1<<30), single("throughput", "1/s", 80), single("peak_memory", "B", 1<<21))
		})),
		m.run([]int64{6_250_000}, example("ch1/moe", "sparse")),
		m.run([]int64{25_000_000}, example("ch1/moe", "wrong_way")), // slower
		m.run([]int64{25_000_000}, also(example("ch1/moe", "expected"), func(r *schema.Run) { r.Tags = map[string]string{"regression": "true"} })),
		m.run(nil, also(example("ch1/moe", "sparse"), func(r *schema.Run) { r.Purpose, r.Metrics, r.Primary = schema.PurposeProfile, nil, "" })),
		m.run([]int64{7_000_000}, also(example("ch10/kernel", "baseline"), batch(8))),
		m.run([]int64{8_000_000}, also(example("ch10/kernel", "baseline"), batch(8))), // a second run of the same point
		m.run([]int64{3_750_000}, also(example("ch10/kernel", "optimized"), batch(8))),
		m.run([]int64{1}, also(example("ch10/kernel", "baseline"), batch(16))), // the same example, other axes
		m.run(nil, also(example("ch10/kernel", "optimized"), func(r *schema.Run) {
			batch(16)(r)
			failed(r, schema.StatusTimeout, "", "measure took more than 15s")
			r.Stage, r.Stages = schema.StageMeasure, schema.Stages{Setup: new(int64(2_100_000_000)), Warmup: new(int64(1_500_000_000)), Measure: new(int64(45_200_000_000))}
			r.Env.Facts["runner.timeouts"] = "build=30m0s setup=30s warmup=15s measure=15s validate=15s teardown=15s profile=3m0s"
		})),
		m.run(nil, also(example("ch2/tma", "baseline"), func(r *schema.Run) { failed(r, schema.StatusSkipped, "skip_if", "needs Blackwell") })),
		m.run([]int64{900}, also(example("ch3/alone", "fast"), func(r *schema.Run) { r.Backend = "cuda" })), // without a baseline
		m.run([]int64{1000}, func(r *schema.Run) { r.Suite, r.Benchmark = "loose", "nothing" }),             // without a chapter
	}
	return all
}

// write writes runs into a folder.
func write(t *testing.T, l layout.Layout, dir string, runs ...schema.Run) []string {
	t.Helper()
	f := folderOf(l, runs...)
	paths := valuetest.Must(f.Write(dir))
	return paths
}

func folderOf(l layout.Layout, runs ...schema.Run) *layout.Folder {
	f := &layout.Folder{Layout: l}
	for _, r := range runs {
		f.Add(r)
	}
	return f
}

// texts returns the files of a folder, by their paths in it.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

// valid checks a folder by the schemas.
func valid(t *testing.T, dir string, l layout.Layout) {
	t.Helper()
	report, err := layout.Check(dir)
	if err != nil || report.Files() == 0 || len(report.Layouts) != 1 || report.Layouts[string(l)] == 0 || report.Unknown > 0 {
		t.Errorf("%s: %+v, %v", l, report, err)
	}
	for _, p := range report.Problems {
		t.Errorf("%s: %s: %s: %s", l, p.File, p.Pointer, p.Why)
	}
}

// TestGolden: each layout writes the expected files, and they match its schemas.
func TestGolden(t *testing.T) {
	for l, runs := range selections() {
		dir := t.TempDir()
		if l == layout.Kernels { // two of the kernels are compared with runs that were slower, or faster
			f := folderOf(l, runs...)
			for i, r := range []schema.Run{runs[0], runs[4]} {
				r.Metrics = slices.Clone(r.Metrics)
				r.Metrics[0].Ticks = []int64{1_000_000 + int64(i)}
				stat.Complete(&r)
				f.AddBase(r)
			}
			valuetest.Must(f.Write(dir))
		} else {
			write(t, l, dir, runs...)
		}
		valid(t, dir, l)
		golden := layout.Golden(string(l))
		got := texts(t, dir)
		if *layout.Update {
			valuetest.OK(t, os.RemoveAll(golden))
			valuetest.OK(t, os.CopyFS(golden, os.DirFS(dir)))
			continue
		}
		want := texts(t, golden)
		for name, text := range got {
			valuetest.Equal(t, text, want[name], l, name)
			delete(want, name)
		}
		for name := range want {
			t.Errorf("%s: %s is not written", l, name)
		}
	}
}

// TestWriteAgain: writing again gives the same files, whatever the order of the runs.
func TestWriteAgain(t *testing.T) {
	for l, runs := range selections() {
		one, other := t.TempDir(), t.TempDir()
		write(t, l, one, runs...)
		slices.Reverse(runs)
		write(t, l, other, runs...)
		write(t, l, other, runs...)
		a, b := texts(t, one), texts(t, other)
		valuetest.Equal(t, len(a), len(b), l)
		for name := range a {
			valuetest.Equal(t, a[name], b[name], l, name, "differs")
		}
	}
}

// TestOrder: the results of two sessions are in one order, although the runner draws the order of its runs.
func TestOrder(t *testing.T) {
	for l, file := range map[layout.Layout]string{layout.Chapters: "benchmark_test_results.json", layout.Kernels: "summary.json"} {
		names := func(drawn ...int) []string {
			var m maker
			runs := make([]schema.Run, len(drawn))
			for i, n := range drawn {
				runs[i] = m.run([]int64{1e6}, func(r *schema.Run) {
					r.Benchmark, r.Variant = []string{"ch1/moe", "ch1/add"}[n%2], []string{"baseline", "b", "a"}[n/2]
					r.Precision, r.Params = []string{"fp32", "fp16"}[n%2], map[string]string{"n": strconv.Itoa(n)}
					if l == layout.Chapters {
						r.Precision, r.Params = "", nil
					}
				})
			}
			dir := t.TempDir()
			write(t, l, dir, runs...)
			return regexp.MustCompile(`"(example|technique|kernel_name|precision|n)": .*`).FindAllString(texts(t, dir)[file], -1)
		}
		one, other := names(0, 1, 2, 3, 4, 5), names(5, 2, 1, 4, 0, 3)
		if len(one) < 6 || !slices.Equal(one, other) {
			t.Errorf("%s: %q, then %q", l, one, other)
		}
	}
}

// TestNothing: without runs each layout has its files, and they match the schemas.
func TestNothing(t *testing.T) {
	for _, l := range layout.All {
		dir := t.TempDir()
		write(t, l, dir)
		for name, text := range texts(t, dir) {
			if strings.HasSuffix(name, ".json") && !bytes.HasSuffix([]byte(text), []byte("\n")) {
				t.Errorf("%s: %s ends with %q", l, name, text[len(text)-1:])
			}
		}
		report, err := layout.Check(dir)
		valuetest.DeepEqual(t, []any{err, len(report.Problems)}, []any{nil, 0}, l, report)
	}
}
