package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// readOne reads a file of a folder that is given as names and contents.
func readOne(t *testing.T, name string, files map[string]string) (foreign.Report, []schema.Run, error) {
	t.Helper()
	folder := fstest.MapFS{}
	for name, content := range files {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
	}
	format, report, runs, err := One([]foreign.Format{neurolens, benchmarkHarness}, folder, name)
	if format == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return report, runs, err
}

func readHarnessText(t *testing.T, name, content string) (foreign.Report, []schema.Run, error) {
	t.Helper()
	return readOne(t, name, map[string]string{name: content})
}

// described returns the report and the runs of a file in one text, as in golden files.
func described(report foreign.Report, runs []schema.Run, err error) string {
	text := Report(report, err)
	for i := range runs {
		text += Run(&runs[i])
	}
	return text
}

// wantLines checks that a description has these pieces, in their order.
func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	rest := got
	for _, w := range want {
		at := strings.Index(rest, w)
		if at < 0 {
			t.Fatalf("no %q, in this order, in\n%s", w, got)
		}
		rest = rest[at+len(w):]
	}
}

const document = `{"run_id":"%s","created_at":"2026-01-02T03:04:05+02:00","hardware":%s,"software":{"backend":"torch","version":"2.5.1","precision":"fp32"},
"model":{"name":"mlp","framework_opset":"torch","batch_size":4},"timeline":[%s],"summary":{"total_duration_ms":%s,"metrics":{}}}`

func TestRunDocument(t *testing.T) {
	gpu := `{"vendor":"NVIDIA","gpu_model":"NVIDIA T4","gpu_count":1,"memory_gb":14.5,"driver_version":"12.1"}`
	op := `{"op_index":%s,"op_name":"%s","op_type":"Gemm","start_ms":0,"duration_ms":%s,"kernels":[]}`
	ops := fmt.Sprintf(op, "7", "a", "1.5") + "," + fmt.Sprintf(op, `"x"`, "b", "1.5") + "," + fmt.Sprintf(op, "7", "c", "1e300") + `,{"op_name":4}`
	text := fmt.Sprintf(document, "one", gpu, ops, "3.5") + "\n" + fmt.Sprintf(document, "two", `[]`, "", "1") + "\n" + fmt.Sprintf(document, "three", gpu, "", "0.0")
	got := described(readHarnessText(t, "run.json", text))
	wantLines(
		t, got, "2 runs, 1 samples; 3 refused", "refused /timeline/1", "refused /timeline/3", "refused /hardware",
		"run mlp backend=torch model=mlp precision=fp32 batch_size=4", "started_at: 2026-01-02 01:04:05", "1000 times too small", "cuda_version: 12.1",
		"latency [ns] better=lower level=iteration n=1: 3.5e+06", "op 0 a", "duration=1500000", "op 1 c", "duration=-", "run mlp",
	)
	if strings.Contains(got, "driver_version") {
		t.Errorf("torch says the CUDA version where that of the driver is asked for:\n%s", got)
	}
}

func TestFingerprintOfAnotherRun(t *testing.T) {
	fp := `{"run_id":"%s","vector_spec":["lat_norm"],"source_run_sha":"s","ops":[{"sig":"1","name":"a","type":"T","index":0,"vector":[0.5]}],"summary":{"total_latency_ms":4}}`
	op := `{"op_index":0,"op_name":"a","op_type":"T","start_ms":0,"duration_ms":1,"kernels":[]}`
	files := map[string]string{
		"runs/x.json": fmt.Sprintf(document, "one", `{"vendor":"CPU"}`, op, "2"), "fp/x.fp.json": fmt.Sprintf(fp, "another"),
	}
	wantLines(t, described(readOne(t, "fp/x.fp.json", files)), "1 runs", "run fingerprint param.run_id=another", "duration=2000000")
	if got := described(readOne(t, "runs/x.json", files)); strings.Contains(got, "lat_norm") {
		t.Errorf("the fingerprint of another run was taken over:\n%s", got)
	}
	files["fp/x.fp.json"] = fmt.Sprintf(fp, "one")
	wantLines(t, described(readOne(t, "runs/x.json", files)), "op 0 a", "lat_norm=0.5")
	wantLines(t, described(readOne(t, "fp/x.fp.json", files)), "0 runs", "1 left out: fingerprint")
}

func TestSummaryBesideItsRuns(t *testing.T) {
	header := "model,run_id,backend,batch_size,seq_len,precision,total_latency_ms,gpu_utilization\r\n"
	files := map[string]string{
		"summary.csv": header + "m,a,torch,1,8,fp32,2,0.0\r\nm,../summary,torch,1,8,fp32,3,0.0\r\n", "runs/a.json": "{}", "summary.json": "",
	}
	report, runs, err := readOne(t, "summary.csv", files)
	wantLines(t, described(report, runs, err), "1 runs, 0 samples; 1 left out: row whose run document is read instead", "run m backend=torch")
}

func TestParquetIndex(t *testing.T) {
	_, _, err := readHarnessText(t, "_index.parquet", "PAR1\x15\x04")
	if err == nil || !strings.Contains(err.Error(), "_manifest.jsonl") {
		t.Errorf("alone: %v, want what to ingest instead", err)
	}
	report, _, err := readOne(t, "_index.parquet", map[string]string{"_index.parquet": "PAR1\x15\x04", "_manifest.jsonl": ""})
	if err != nil || len(report.LeftOut) != 1 {
		t.Errorf("beside the ledger: %v, left out %v", err, report.LeftOut)
	}
}

func TestListing(t *testing.T) {
	row := `{"run_id":"a","created_at":"2026-01-02T03:04:05Z","backend":"torch","model_name":"m","precision":"fp32","batch_size":2,"seq_len":-1,"total_latency_ms":1.5,"tags":{"k":1},"path_run_json":"x/a.json"}`
	wantLines(
		t, described(readHarnessText(t, "ls.json", "["+row+",5]")), "1 runs, 0 samples; 1 refused", "refused /1",
		"run m backend=torch model=m precision=fp32 batch_size=2", "tags: map[k:1]", "p50=1.5e+06 of n=1",
	)
}

func TestSuiteFailedWithTime(t *testing.T) {
	text := `{"timestamp":"2025-11-05T20:14:38","results":[{"chapter":"ch1","status":"completed","benchmarks":[{"example":"x","baseline_file":"baseline_x.py",
"baseline_time_ms":2,"status":"succeeded","optimizations":[{"file":"optimized_x.py","technique":"t","status":"error","time_ms":1,"error":"CUDA error"}]}]}]}`
	wantLines(t, described(readHarnessText(t, "r.json", text)), "2 runs", "status: error", "error: CUDA error")
}

func TestGridCSVWithoutTimes(t *testing.T) {
	report, _, err := Read(Input(t, "ab.csv", "a,b\n1,2\n"), operationGrid)
	if err == nil || report.Runs > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestSuitePoints(t *testing.T) {
	text := `{"timestamp":"2025-11-05T20:14:38","results":[{"chapter":"ch1","status":"completed","benchmarks":[
{"example":"x","baseline_file":"baseline_x_a.py","baseline_time_ms":Infinity,"status":"succeeded","optimizations":[
 {"file":"optimized_x_fast.py","technique":"fast","status":"succeeded","time_ms":2},
 {"file":"optimized_fast.py","technique":"fast","status":"succeeded","time_ms":3,"p75_ms":NaN},
 {"file":"optimized_x.py","status":"failed_generic","error":"bad"},
 {"file":"optimized_y.py","technique":"y","status":"succeeded","time_ms":"soon"}]},
{"example":"x","baseline_file":"baseline_x_b.py","baseline_time_ms":-1,"optimizations":[]}]}]}`
	report, runs, err := readHarnessText(t, "r.json", text)
	wantLines(
		t, described(report, runs, err), "5 runs", "1 refused", "refused /results/0/benchmarks/0/optimizations/3/time_ms",
		"variant=baseline backend=torch param.baseline_file=baseline_x_a.py", "variant=fast", "mean=2e+06", "variant=optimized_fast", "mean=3e+06",
		"variant=optimized_x ", "status: error", "error_kind: failed_generic", "param.baseline_file=baseline_x_b.py", "status: timeout",
	)
	points := map[string]bool{}
	for i := range runs {
		points[runs[i].PointID] = true
	}
	if len(points) != len(runs) {
		t.Errorf("%d points of %d results", len(points), len(runs))
	}
}

func TestResultSamples(t *testing.T) {
	text := `{"timing":{"mean_ms":%s,"median_ms":1,"std_ms":0,"min_ms":1,"max_ms":1,"percentiles":{},"iterations":%s,"warmup_iterations":0,"raw_times_ms":%s},"errors":[],"device":"cpu","mode":"custom"}`
	for _, test := range []struct{ mean, iterations, raw, want string }{
		{"1.5", "2", "[1, 2]", "n=2: 1e+06 2e+06"},
		{"1.5", "3", "[1, [2, NaN]]", "n=3: 1e+06 2e+06 NaN"},
		{"NaN", "2", "[1, Infinity]", "n=2: 1e+06 +Inf"},
		{"1.5", "2", "[1, null]", "1 refused"},
		{"1.5", "2", "[]", "mean=1.5e+06"},
		{"0.0", "0", "null", "status: timeout"},
		{"0.0", "0", "[]", "status: timeout"},
		{"null", "0", "null", "status: error"},
	} {
		got := described(readHarnessText(t, "result.json", fmt.Sprintf(text, test.mean, test.iterations, test.raw)))
		wantLines(t, got, test.want)
	}
}

func TestRepeatedTimes(t *testing.T) {
	text := `{"timing":{"mean_ms":1.5,"median_ms":1,"iterations":4,"raw_times_ms":[1,2,1,2]},"device":"cuda","mode":"pytorch"}`
	got := described(readHarnessText(t, "result.json", text))
	wantLines(t, got, "warnings: [in the mode pytorch the harness repeats", "level=iteration n=4")
}

func TestReportRefused(t *testing.T) {
	_, _, err := readHarnessText(t, "report.md", "# Benchmark Test Results Summary\n")
	if err == nil || !strings.Contains(err.Error(), "ingest the benchmark_test_results.json") {
		t.Errorf("%v, want what to ingest instead", err)
	}
}

// TestOthersAreNot: files of other tools that look alike.
func TestOthersAreNot(t *testing.T) {
	for name, content := range map[string]string{
		"kernel":   `{"kernel_name":"k","timing":{"latency_ms_p50":1,"iterations":3},"timestamp":"x"}`,
		"job":      `{"timestamp":"x","benchmarks":[{"name":"a","real_time":1}]}`,
		"examples": `{"examples":[{"input":1}]}`,
		"pairs":    "Metric,Value\nlatency,3\n",
		"counters": "dunder__name,value\n",
		"report":   "# Benchmark results\n",
		"parquet":  "PAR1",
		"summary":  "run_id,backend,precision\n",
	} {
		in := Input(t, name, content)
		for _, f := range foreign.Recognize([]foreign.Format{neurolens, benchmarkHarness}, in.Head) {
			t.Errorf("%s was taken for %s", name, f.Name)
		}
	}
}

// TestChapterOfPath: the chapter of a file of expectations is the folder that it lies in.
func TestChapterOfPath(t *testing.T) {
	for file, want := range map[string]string{
		"book/ch13/expectations_b200.json": "ch13", "ch1/expectations_b200.json": "ch1", "expectations_ch1.json": "", "chapter/x.json": "", "": "",
	} {
		if got := chapterOfPath(file); got != want {
			t.Errorf("%q: got %q, want %q", file, got, want)
		}
	}
}
