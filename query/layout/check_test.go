package layout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Golden returns the path of a file that a layout writes, or of the folder of all of them: kernels/env.json, kernels. Tests of ingest read
// these files too.
func Golden(name string) string {
	system := map[string]string{"chapters": "benchmark-harness", "kernels": "quasim", "matrix": "swift-mnist", "grid": "operation-grid"}
	layout, file, _ := strings.Cut(name, "/")
	return filepath.Join("..", "..", "fixtures", "results", system[layout], "layout", file)
}

// put makes a folder of files.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		valuetest.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
		valuetest.OK(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

func golden(t *testing.T, name string) string {
	t.Helper()
	text := valuetest.Must(os.ReadFile(Golden(name)))
	return string(text)
}

// lines returns the problems of a report as lines, less the folder.
func lines(r CheckReport, dir string) (all []string) {
	for _, p := range r.Problems {
		all = append(all, strings.TrimPrefix(p.File, dir+"/")+" "+p.Pointer+": "+p.Why)
	}
	return all
}

// TestRefusals: errors in a file are found, with their positions.
func TestRefusals(t *testing.T) {
	const kernel, training, row, suite = "kernels/kernels/softmax_cuda_fp16.json", "matrix/classic_mps_h512_20260302_143031.json",
		"grid/benchmark_results.json", "chapters/benchmark_test_results.json"
	for _, test := range []struct{ file, old, new, want string }{
		{kernel, `"latency_ms_p50": 2.000001`, `"latency_ms_p50": "2"`, "/timing/latency_ms_p50: got string, want null or number"},
		{kernel, `"latency_ms_p90": `, `"p90": `, "/timing: missing latency_ms_p90"},
		{kernel, `"success": true`, `"success": false`, "/error_message: got null, want string"},
		{kernel, `"kernel_name": "softmax"`, `"kernel_name": ""`, "/kernel_name: minLength: got 0, want 1"},
		{kernel, `"status": "ok"`, `"status": "fine"`, "/runs/0/neurolens/status: value must be one of"},
		{kernel, `"point": {`, `"points": {`, "/runs/0/neurolens: missing point"},
		{"kernels/kernels/drift.json", `"latency_ms_mean": null`, `"latency_ms_mean": 0`, "/timing/latency_ms_mean: got number, want null"},
		{"kernels/summary.json", `"total_kernels": 7`, `"total_kernels": -1`, "/total_kernels: minimum: got -1, want 0"},
		{"kernels/env.json", `"kernel": "6.1"`, `"kernel": 6.1`, "/kernel: got number, want null or string"},
		{"kernels/kernel_manifest.json", `"dependencies": []`, `"dependencies": null`, "/0/dependencies: got null, want array"},
		{training, `"training_time_seconds": `, `"seconds": `, "/metrics: missing training_time_seconds"},
		{training, `"test_accuracy_percent": 90.41`, `"test_accuracy_percent": 904.1`, "/metrics/test_accuracy_percent: maximum: got 904.1, want 100"},
		{training, `"timestamp": "20260302_143031"`, `"timestamp": "2026-03-02"`, "/timestamp: '2026-03-02' does not match pattern"},
		{training, `"run_id": "01`, `"run_id": "91`, "/neurolens/run_id: "},
		{"matrix/report/report.json", `"compiled": true`, `"compiled": 1`, "/results/0/compiled: got number, want boolean"},
		{row, `"time_ms": 0.442`, `"time_ms": -1`, "/1/time_ms: minimum: got -1, want 0"},
		{row, `"operation": "LayerNorm",`, ``, "/1: missing operation"},
		{row, `"time_ms": 0.442`, `"time_ms": null`, "/1/time_ms: got null, want number"},
		{"grid/benchmark_results.failed.json", `"time_ms": null`, `"time_ms": 0`, "/0/time_ms: got number, want null"},
		{"matrix/report/report.json", `"peak_memory_mb": null,
      "test_accuracy_percent": null,
      "executable": "MNISTClassic"`, `"peak_memory_mb": 0,
      "test_accuracy_percent": null,
      "executable": "MNISTClassic"`, "/failed/0/peak_memory_mb: got number, want null"},
		{kernel, `"status": "ok"`, `"status": "error"`, "/runs/0/neurolens/values: "},
		{suite, `"std_ms": `, `"std": `, "/results/0/benchmarks/0/optimizations/0/runs/0/timing: missing std_ms"},
		{suite, `"status": "timeout"`, `"status": "late"`, "/results/1/benchmarks/0/optimizations/0/runs/0/watchdog/measurement/status: value must be one of"},
		{suite, `"best_speedup": 2.0`, `"best_speedup": "2x"`, "/results/0/benchmarks/0/best_speedup: got string, want null or number"},
		{suite, `"status": "completed"`, `"status": "PASS"`, "/results/0/status: value must be one of"},
		{suite, `"successful": `, `"passed": `, "/results/0/summary: missing successful"},
		{suite, `"status": "succeeded"`, `"status": "done"`, "/results/0/benchmarks/0/optimizations/1/status: 'done' does not match pattern"},
	} {
		text := golden(t, test.file)
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Errorf("%s is not in %s", test.old, test.file)
			continue
		}
		dir := put(t, map[string]string{strings.SplitN(test.file, "/", 2)[1]: changed})
		r, err := Check(dir)
		if err != nil || !slices.ContainsFunc(lines(r, dir), func(line string) bool { return strings.Contains(line, " "+test.want) }) {
			t.Errorf("%s with %s: %v, %q, want %s", test.file, test.new, err, lines(r, dir), test.want)
		}
	}
}

// TestDamaged: a truncated or incomplete file is recognized by its name if it is among files of its layout.
func TestDamaged(t *testing.T) {
	half := func(name string) string { text := golden(t, name); return text[:len(text)/2] }
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"benchmark_test_results.json": half("chapters/benchmark_test_results.json")}, "benchmark_test_results.json : not JSON: "},
		{map[string]string{"benchmark_results.json": "{}"}, "benchmark_results.json : missing operation, implementation,"},
		{map[string]string{"summary.json": golden(t, "kernels/summary.json"), "kernels/x.json": half("kernels/kernels/Scan.json")}, "kernels/x.json : not JSON: "},
		{map[string]string{"kernel_manifest.json": golden(t, "kernels/kernel_manifest.json"), "env.json": "{}"}, "env.json : missing os, os_version,"},
		{map[string]string{"report.json": golden(t, "matrix/report/report.json"), "classic_cpu_20260302_143031.json": ""}, "classic_cpu_20260302_143031.json : not JSON: "},
		{map[string]string{"summary.csv": "run_id,backend,batch_size,seq_len,precision,total_latency_ms\r\n"}, "summary.csv line 1: column 7: want gpu_utilization"},
		{
			map[string]string{"summary.csv": "run_id,backend,batch_size,seq_len,precision,total_latency_ms,gpu_utilization\r\na,torch,1,2,fp32,fast,\r\n"},
			`summary.csv line 2: column total_latency_ms: "fast" is not a number`,
		},
		{
			map[string]string{"gelu_comparison.csv": "Implementation,Avg Time (ms),Avg Memory (MB),Avg Inference Speed,Avg GPU Efficiency\nCUDA,1,2,3\n"},
			"gelu_comparison.csv line 2: 4 columns, the header has 5",
		},
	} {
		dir := put(t, test.files)
		r, err := Check(dir)
		if got := lines(r, dir); err != nil || len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%q, %v, want %s", got, err, test.want)
		}
	}
}

// TestOthers: files of no layout are counted and not checked, even if they have the name of a layout's file.
func TestOthers(t *testing.T) {
	r, err := Check(put(t, map[string]string{
		"summary.json": "{}", "env.json": `{"os": "linux"}`, "report.json": "[", "kernels/a.json": "1", "x.csv": "a,b\n1,2\n", "package.json": "{}", "notes.md": "text",
	}))
	if err != nil || r.Files() > 0 || len(r.Problems) > 0 || r.Unknown != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	valuetest.Fails(t, valuetest.Error(Check(filepath.Join(t.TempDir(), "none"))), "", "what is not there was checked")
	one, err := Check(Golden("kernels/kernels/Scan.json"))
	valuetest.DeepEqual(t, []any{err, one.Files(), len(one.Problems)}, []any{nil, 1, 0}, "one file", one)
}

// TestSamples: the real files of the systems match the schemas.
func TestSamples(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	for _, test := range []struct {
		folder, layout string
		files          int
	}{
		{"seed0_neurolens/generated/bench_runs", "runs", 49},
		{"seed0_neurolens/real", "runs", 4},
		{"seed1_benchmark_harness", "chapters", 1},
		{"seed2_quasim", "kernels", 19},
		{"seed3_swift_mnist", "matrix", 7},
		{"seed4_cuda_triton", "grid", 5},
	} {
		r, err := Check(filepath.Join(samples, test.folder))
		if err != nil || len(r.Problems) > 0 || r.Layouts[test.layout] != test.files || len(r.Layouts) != 1 {
			t.Errorf("%s: %v, %+v", test.folder, err, r)
		}
	}
}

// TestSampleMembers: the files written here have every member of the real files, at every level.
func TestSampleMembers(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	for real, ours := range map[string]string{
		"seed1_benchmark_harness/benchmark_test_results_20251105_28ebcda8.json": "chapters/benchmark_test_results.json",
		"seed2_quasim/reports_1bccf0f5/summary.json":                            "kernels/summary.json",
		"seed2_quasim/reports_1bccf0f5/env.json":                                "kernels/env.json",
		"seed2_quasim/reports_1bccf0f5/kernel_manifest.json":                    "kernels/kernel_manifest.json",
		"seed2_quasim/reports_1bccf0f5/kernels/quasim_runtime.json":             "kernels/kernels/softmax_cuda_fp16.json",
		"seed3_swift_mnist/benchmarks/classic_cpu_h256_20260210_161706.json":    "matrix/classic_mps_h512_20260302_143031.json",
		"seed3_swift_mnist/report.json":                                         "matrix/report/report.json",
		"seed4_cuda_triton/benchmark_results.json":                              "grid/benchmark_results.json",
	} {
		want, got := members(t, filepath.Join(samples, real)), members(t, Golden(ours))
		for name := range want {
			free := strings.HasPrefix(name, "/problem_size/") || strings.Contains(name, "/problem_size/") || strings.Contains(name, "/config/") && strings.HasPrefix(name, "/[]")
			if !got[name] && !free {
				t.Errorf("%s has %s, %s has not", real, name, ours)
			}
		}
	}
}

// members returns the paths of all members in a file of JSON.
func members(t *testing.T, path string) map[string]bool {
	t.Helper()
	text := valuetest.Must(os.ReadFile(path))
	var v any
	valuetest.OK(t, json.Unmarshal(text, &v))
	all := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				all[at+"/"+name] = true
				walk(at+"/"+name, value)
			}
		case []any:
			for _, value := range v {
				walk(at+"/[]", value)
			}
		}
	}
	walk("", v)
	return all
}

// FuzzCheck: any text under any recognized name is at most reported as wrong.
func FuzzCheck(f *testing.F) {
	for _, name := range []string{"chapters/benchmark_test_results.json", "kernels/summary.json", "kernels/env.json", "matrix/report/report.json", "grid/benchmark_results.json"} {
		text := valuetest.Must(os.ReadFile(Golden(name)))
		f.Add(text)
	}
	f.Add([]byte("run_id,backend,batch_size,seq_len,precision,total_latency_ms,gpu_utilization\r\na,b,\"\n"))
	f.Add([]byte(`{"results": [{"chapter": 1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		for _, name := range []string{"benchmark_test_results.json", "summary.json", "summary.csv"} {
			valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
		}
		r := valuetest.Must(Check(dir))
		valuetest.Equal(t, r.Files()+r.Unknown, 3, r)
	})
}

// TestLevels: the member neurolens may have each level of a sample that a run may have.
func TestLevels(t *testing.T) {
	var documented struct {
		Properties struct{ Level struct{ Enum []string } }
	}
	text := valuetest.Must(os.ReadFile(filepath.Join("schemas", "neurolens.json")))
	valuetest.OK(t, json.Unmarshal(text, &documented))
	_, words, _ := strings.Cut((&schema.Metric{Name: "latency", Level: "none"}).Validate().Error(), "want one of ")
	valuetest.DeepEqual(t, documented.Properties.Level.Enum, strings.Fields(words), "the level is one of")
}
