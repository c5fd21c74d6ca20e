package formats

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// systems returns the formats whose edges are tried here.
func systems() []foreign.Format { return append(quasim, swiftMNIST, operationGrid) }

// TestQuasimKernelIsItsSummary: a kernel file gives the run that the summary gives, whichever of them is there.
func TestQuasimKernelIsItsSummary(t *testing.T) {
	dir := filepath.Join(root, "fixtures", "results", "quasim", "reports")
	file := func(name string) *fstest.MapFile {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: content}
	}
	_, _, fromSummary, err := One(systems(), os.DirFS(dir), "summary.json")
	if err != nil {
		t.Fatal(err)
	}
	const kernel = "kernels/heat_step.json"
	alone := fstest.MapFS{"r/env.json": file("env.json"), "r/" + kernel: file(kernel)}
	_, _, fromKernel, err := One(systems(), alone, "r/"+kernel)
	if err != nil || len(fromKernel) != 1 {
		t.Fatalf("%d runs, %v", len(fromKernel), err)
	}
	if fromKernel[0].RunID != fromSummary[0].RunID {
		t.Errorf("run %s, of the summary %s", fromKernel[0].RunID, fromSummary[0].RunID)
	}
	damaged := fstest.MapFS{"r/summary.json": {Data: []byte(`{"results": [1, {"kernel_name": `)}, "r/" + kernel: file(kernel)}
	if _, _, runs, err := One(systems(), damaged, "r/"+kernel); err != nil || len(runs) != 1 {
		t.Errorf("beside a damaged summary: %d runs, %v", len(runs), err)
	}
}

// TestSwiftReportTellsItsRowsApart: two rows that differ in nothing but the lost hidden size are two points.
func TestSwiftReportTellsItsRowsApart(t *testing.T) {
	row := `{"model":"mlp","backend":"cpu","compiled":false,"timestamp":"20250101_000000","training_time_seconds":`
	folder := fstest.MapFS{"report.json": {Data: []byte(
		`{"summary":{"total_benchmarks":2,"config":{"hidden_size":256}},"results":[` + row + `1},` + row + `2}]}`)}}
	_, _, runs, err := One(systems(), folder, "report.json")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if runs[0].PointID == runs[1].PointID {
		t.Errorf("both are %s", Point(&runs[0]))
	}
	if _, ok := runs[0].Params["hidden_size"]; ok {
		t.Error("a report does not know the hidden size")
	}
}

// TestSystemsHostile: input that no harness writes is refused or left out.
func TestSystemsHostile(t *testing.T) {
	deep := strings.Repeat(`[`, 20_000)
	for name, tt := range map[string]struct {
		format foreign.Format
		text   string
		runs   int
	}{
		"quasim: deep":       {quasim[0], `{"total_kernels":1,"results":` + deep, 0},
		"quasim: deep size":  {quasim[0], `{"results":[{"kernel_name":"x","problem_size":{"n":` + deep, 0},
		"quasim: no times":   {quasim[0], `{"results":[{"kernel_name":"x","success":true,"timing":{"iterations":3}}]}`, 0},
		"quasim: zero":       {quasim[0], `{"results":[{"kernel_name":"x","success":true,"timing":{"latency_ms_mean":0,"iterations":0}}]}`, 0},
		"quasim: nan":        {quasim[0], `{"results":[{"kernel_name":"x","timing":{"raw_times_ms":[NaN,1,Infinity]}}]}`, 1},
		"quasim: huge":       {quasim[0], `{"results":[{"kernel_name":"x","timing":{"raw_times_ms":[1e999,9007199254740993]}}]}`, 1},
		"swift: wrong types": {swiftMNIST, `{"executable":1,"model":[],"metrics":"x"}`, 0},
		"swift: empty":       {swiftMNIST, `{"summary":{"total_benchmarks":0,"models":[],"backends":[]},"results":[]}`, 0},
		"grid: wrong types":  {operationGrid, `[{"operation":1},{"operation":"x","implementation":"y","time_ms":1},7]`, 1},
		"grid: wide": {
			operationGrid,
			"Implementation,Avg Time (ms)," + strings.Repeat("x,", 100_000) + "\nPyTorch,1," + strings.Repeat("2,", 100_000) + "\n", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs, report, err := readTextOf(t, tt.format, tt.text)
			if len(runs) != tt.runs {
				t.Errorf("%d runs, want %d\n%s", len(runs), tt.runs, Report(report, err))
			}
		})
	}
}

// TestEnvironmentOfRuns: each run is read with its own environment, not with the environment of the newest run. The ids are the same as in earlier
// versions.
func TestEnvironmentOfRuns(t *testing.T) {
	const file = `{"total_kernels": 1, "successful": 1, "failed": 0, "environment": {"os": "Linux", "os_version": null, "kernel": "6.1", "python_version": "3.12.3",
"architecture": "x86_64", "processor": "EPYC", "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "dirty": false},
"cuda": {"available": true, "version": "12.8", "device_count": 2, "device_name": "H100"}, "numpy_version": "2.4.6", "machines": ["lab"]},
"results": [{"kernel_name": "a", "backend": "cpu", "timing": {"latency_ms_p50": 1}, "success": true, "runs": [
{"timing": {"latency_ms_mean": 1, "raw_times_ms": [1]}, "neurolens": {"run_id": "1", "status": "ok", "point": {"benchmark": "a"}}},
{"timing": {"latency_ms_mean": 2, "raw_times_ms": [2]}, "neurolens": {"run_id": "2", "status": "ok", "machine": "lab", "point": {"benchmark": "a"}}, "environment": {"os": "Darwin"}}]}]}`
	_, _, runs, err := One(systems(), fstest.MapFS{"summary.json": {Data: []byte(file)}}, "summary.json")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, want := range []struct{ id, machine, os string }{{"00000000008241VY8CZQW34PF8", "", ""}, {"0000000000ZQW34PF8S9A9VWV3", "lab", "darwin"}} {
		r := &runs[i]
		e := r.Env
		e.Facts = nil
		if wanted := (schema.Env{Machine: want.machine, OS: want.os}); !reflect.DeepEqual(e, wanted) || len(r.Env.Facts) != 2 {
			t.Errorf("run %d has the environment %+v, want %+v", i, r.Env, wanted)
		}
		if r.RunID != want.id {
			t.Errorf("run %d has the id %s, want %s", i, r.RunID, want.id)
		}
	}
}

// TestEmptyOwn: a member neurolens that names no run is none, and a number of samples below 1 is none.
func TestEmptyOwn(t *testing.T) {
	values := `{"run_id": "1", "status": "ok", "point": {"benchmark": "a"}, "values": [{"metric": "few", "unit": "", "n": -1, "value": 1}, ` +
		`{"metric": "none", "unit": "", "n": 0, "value": 1}, {"metric": "one", "unit": "", "n": 1, "value": 1}]}`
	kernel := `{"kernel_name": "a", "backend": "cpu", "timing": {"latency_ms_p50": 1, "latency_ms_mean": 1}, "success": true, `
	for name, text := range map[string]string{
		"kernel":          kernel + `"neurolens": {}}`,
		"row":             `[{"operation": "a", "implementation": "CUDA", "time_ms": 1, "neurolens": {}}]`,
		"run":             `{"executable": "a", "model": "mlp", "backend": "cpu", "metrics": {"training_time_seconds": 1}, "neurolens": {"run_id": "1"}}`,
		"kernel, listed":  kernel + `"runs": [{"neurolens": {}}]}`,
		"kernel, values":  kernel + `"runs": [{"neurolens": ` + values + `}]}`,
		"row with values": `[{"operation": "a", "implementation": "CUDA", "time_ms": 1, "neurolens": ` + values + `}]`,
	} {
		_, report, runs, err := One(systems(), fstest.MapFS{"a.json": {Data: []byte(text)}}, "a.json")
		if refused := name == "kernel, listed"; err != nil || refused != (report.Refused == 1) || refused == (len(runs) == 1) {
			t.Errorf("%s: %d runs, %+v, %v", name, len(runs), report.Refusals, err)
			continue
		}
		for _, r := range runs {
			if r.Benchmark != "a" || r.Metric("few") != nil || r.Metric("none") != nil || strings.Contains(text, "few") != (r.Metric("one") != nil) {
				t.Errorf("%s: benchmark %q with %+v", name, r.Benchmark, r.Metrics)
			}
		}
	}
}
