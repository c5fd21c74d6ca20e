package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
)

// readOnly reads a text that is recognised.
func readOnly(t *testing.T, name, text string) (report string, runs []schema.Run) {
	t.Helper()
	format, said, runs, err := One(All(), fstest.MapFS{name: {Data: []byte(text)}}, name)
	if format == nil || err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return Report(said, err), runs
}

// TestOwnContext: what users add to the context of Google Benchmark is a fact of each run, or is named. It changes no id: an
// earlier version, which did not read it, gave the same ids.
func TestOwnContext(t *testing.T) {
	t.Parallel()
	const file = `{"context": {"date": "2026-11-22T01:32:28+00:00", "num_cpus": 2, "library_build_type": "release"%s}, "benchmarks": [
	{"name": "BM_a/8", "run_type": "iteration", "iterations": 10, "real_time": 1.5, "cpu_time": 1.25, "time_unit": "us"},
	{"name": "BM_b/8", "run_type": "iteration", "iterations": 10, "real_time": 2.5, "cpu_time": 2.25, "time_unit": "us"}]}`
	_, before := readOnly(t, "a.json", fmt.Sprintf(file, ""))
	report, runs := readOnly(t, "a.json", fmt.Sprintf(file, `, "labrt_version": "4.0.99", "Default Device": "Example GPU", "threads": 8, "debug": false, "nested": {"a": 1}, "list": [1]`))
	if len(runs) != 2 || !slices.Equal(idsOf(runs), idsOf(before)) {
		t.Errorf("%v, want the ids %v", idsOf(runs), idsOf(before))
	}
	for _, r := range runs {
		for name, want := range map[string]string{"context.labrt_version": "4.0.99", "context.Default_Device": "Example GPU", "context.threads": "8", "context.debug": "false"} {
			if got := r.Env.Facts[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	if !strings.Contains(report, "2 left out: members of the context that are no text (nested, list)") {
		t.Error(report)
	}
}

// TestPerflogFacts: a performance log of ReFrame keeps the job, words without a value and units of bytes.
func TestPerflogFacts(t *testing.T) {
	t.Parallel()
	_, runs := readOnly(t, "a.log", "2026-01-02T03:04:05|reframe 4.4.1|Net %n=2 /0f809d01 @lab:gpu+gnu|jobid=51|bw=2500.5|ref=2400 (l=-0.05, u=0.05)|Mbytes/sec|biband,n=2\n")
	if len(runs) != 1 {
		t.Fatal(runs)
	}
	r := &runs[0]
	if m := r.Metric("bw"); m == nil || m.Unit != "B/s" || m.Values()[0] != 2500.5e6 || m.Better != schema.BetterHigher || r.Env.Facts["source.unit.bw"] != "MB/s" {
		t.Errorf("%+v %v", m, r.Env.Facts)
	}
	if r.Env.Facts["reframe.jobid"] != "51" || r.Env.Facts["reframe.tags"] != "biband" {
		t.Errorf("%v", r.Env.Facts)
	}
}

// TestOwnWarnings: trtexec's warnings about its measurement are warnings of the run.
func TestOwnWarnings(t *testing.T) {
	t.Parallel()
	_, runs := readOnly(t, "a.log", `&&&& RUNNING TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=a.onnx
[11/20/2026-10:11:12] [W] [TRT] A calibrator is not used.
[11/20/2026-10:11:12] [I] === Performance summary ===
[11/20/2026-10:11:12] [I] Latency: min = 1.0 ms, max = 2.0 ms, mean = 1.5 ms, median = 1.5 ms
[11/20/2026-10:11:12] [W] * GPU compute time is unstable, with coefficient of variance = 6.6%.
[11/20/2026-10:11:12] [W]   If not already in use, locking GPU clock frequency may improve the stability.
&&&& PASSED TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=a.onnx
`)
	if len(runs) != 1 || !slices.Equal(runs[0].Warnings, []string{"GPU compute time is unstable, with coefficient of variance = 6.6%"}) {
		t.Errorf("%+v", runs)
	}
}

// TestNoKernels: a profile without kernels says so, in its run and when it is read.
func TestNoKernels(t *testing.T) {
	t.Parallel()
	const table = "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,500,1,500.0,500.0,500,500,0.0,cudaMalloc\n"
	report, runs := readOnly(t, "a.csv", "Processing [a.nsys-rep] with [/opt/reports/cuda_api_sum.py]...\n\n"+table)
	if len(runs) != 1 || !slices.Contains(runs[0].Warnings, "the profile has no kernels") || !strings.Contains(report, "the profile has no kernels") {
		t.Errorf("%s%+v", report, runs)
	}
	report, runs = readOnly(t, "b.csv", nsysSection("a.nsys-rep", 100))
	if len(runs) != 1 || slices.Contains(runs[0].Warnings, "the profile has no kernels") || strings.Contains(report, "no kernels") {
		t.Errorf("%s%+v", report, runs)
	}
}

// TestUnreadRows: rows of AIPerf's table that are not read are counted and named, as in its JSON.
func TestUnreadRows(t *testing.T) {
	t.Parallel()
	report, _ := readOnly(t, "a.csv", "Metric,avg,min,max,p1,p50,p99,std\nRequest Latency (ms),10,9,11,9,10,11,1\nHTTP Waiting (TTFB) (ms),5,4,6,4,5,6,1\nE2E Output Token Throughput (tokens/sec),7,6,8,6,7,8,1\n\nMetric,Value\nRequest Count,8.00\nRequest Throughput (requests/sec),2.5\n")
	if !strings.Contains(report, "2 left out: totals and unknown metrics (HTTP Waiting, E2E Output Token Throughput)") {
		t.Error(report)
	}
}
