package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// fixture reads a file of the fixtures as if it stood alone, or in its folder.
func fixture(t *testing.T, name string, alone bool) []schema.Run {
	t.Helper()
	dir := filepath.Join(root, "fixtures", "results")
	if !alone {
		_, _, runs, err := One(All(), os.DirFS(dir), name)
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	_, runs := textOfReading(t, filepath.Base(name), string(content))
	return runs
}

// textOfReading reads a text by the one format that recognises it.
func textOfReading(t *testing.T, name, content string) (foreign.Report, []schema.Run) {
	t.Helper()
	_, report, runs, err := One(All(), fstest.MapFS{name: {Data: []byte(content)}}, name)
	if err != nil {
		t.Fatal(err)
	}
	return report, runs
}

// TestSamePoint: all forms in which a tool writes a result give the same point, so that they can be compared.
func TestSamePoint(t *testing.T) {
	for _, names := range [][]string{
		{"llama-bench/result.json", "llama-bench/result.csv", "llama-bench/result.sql"},
		{"vllm/sweep/SERVE--max_num_seqs=4-BENCH--max_concurrency=2/run=0.json", "vllm/summary-alone/summary.csv"},
		{"aiperf/profile_export_aiperf.json", "aiperf/alone/schema_1_3.json"},
		{"mlperf/server/mlperf_log_detail.txt", "mlperf/server-summary/mlperf_log_summary.txt"},
		{"mlperf/offline/mlperf_log_detail.txt", "mlperf/offline/mlperf_log_summary.txt"},
	} {
		want := fixture(t, names[0], true)[0]
		for _, name := range names[1:] {
			if got := fixture(t, name, true)[0]; got.PointID != want.PointID {
				t.Errorf("%s is %s,\n%s is %s", name, Point(&got), names[0], Point(&want))
			}
		}
	}
	raw, summary := fixture(t, "aiperf/profile_export.jsonl", false)[0], fixture(t, "aiperf/profile_export_aiperf.json", true)[0]
	if raw.PointID != summary.PointID {
		t.Errorf("requests are %s,\nthe summary is %s", Point(&raw), Point(&summary))
	}
	raw, summary = fixture(t, "genai-perf/my_export.json", false)[0], fixture(t, "genai-perf/profile_export_genai_perf.json", true)[0]
	if raw.PointID != summary.PointID {
		t.Errorf("requests are %s,\nthe summary is %s", Point(&raw), Point(&summary))
	}
}

// TestSweepRowIsItsFile: a row of a summary and the file that it repeats give the same run, wherever they are read.
func TestSweepRowIsItsFile(t *testing.T) {
	const folder = "vllm/sweep/SERVE--max_num_seqs=4-BENCH--max_concurrency=2/"
	file, rows := fixture(t, folder+"run=0.json", false), fixture(t, folder+"summary.json", true)
	if len(rows) != 2 || rows[0].RunID != file[0].RunID {
		t.Errorf("the row is %v, the file %s", rows, file[0].RunID)
	}
}

// TestDifferentPoints: no two results that a tool tells apart are the same point.
func TestDifferentPoints(t *testing.T) {
	for name, want := range map[string]int{
		"vllm/appended.jsonl": 2, "vllm/summary-alone/summary.csv": 2, "sglang/results.jsonl": 4, "llama-bench/result.json": 3,
		"perf-analyzer/result.csv": 3, "model-analyzer/metrics-model-inference.csv": 3, "model-analyzer/metrics-model-gpu.csv": 2,
		"optimum-benchmark/benchmark.json": 4, "genai-perf/my_export.json": 2, "aiperf/gpu_telemetry_export.jsonl": 2,
	} {
		points := map[string]bool{}
		for _, r := range fixture(t, name, true) {
			points[r.PointID] = true
		}
		if len(points) != want {
			t.Errorf("%s: %d points, want %d", name, len(points), want)
		}
	}
}

// TestNothingPrivate: no key, prompt or answer of the fixtures reaches a run.
func TestNothingPrivate(t *testing.T) {
	for _, name := range []string{"vllm", "sglang", "aiperf", "genai-perf", "optimum-benchmark"} {
		folder := os.DirFS(filepath.Join(root, "fixtures", "results", name))
		text, _ := ReadAll(t, All(), folder, "want.txt", "README.md")
		got := strings.ToLower(text)
		for _, private := range []string{"never-store-me", "never store me", "secret", "api_key", "authorization", "traceback", "/data/models"} {
			if strings.Contains(got, private) {
				t.Errorf("%s: %q is stored", name, private)
			}
		}
	}
}

const serveHead = `"model_id": "m", "request_rate": "inf", "completed": 2, "request_throughput": 2.0, `

// TestServeArrays: arrays that do not fit one another, or are none, cost no more than what they hold.
func TestServeArrays(t *testing.T) {
	for _, test := range []struct{ what, members, want string }{
		{"unequal lengths", `"ttfts": [0.5, 0.25, 0.125], "errors": ["no"], "start_times": [1, 2]`, "ttft n=2 at=0"},
		{"start times", `"ttfts": [0.5, 0.0, 0.125], "start_times": [3, 2, 2.5]`, "ttft n=2 at=2"},
		{"null among samples", `"ttfts": [0.5, null, 0.125]`, "ttft n=2 at=0"},
		{"texts", `"ttfts": ["a"], "mean_ttft_ms": 2.5`, "1 refused"},
		{"object", `"ttfts": {"a": [1]}, "itls": 7, "errors": {}`, "3 refused"},
		{"gaps", `"itls": [[0.5, "x"], [0.25], 0.125, [[[1]]]], "errors": [null, ""]`, "itl n=3 at=0 1 refused"},
		{"not finite", `"ttfts": [0.5, NaN, Infinity]`, "ttft n=3 at=0"},
		{"huge", `"mean_ttft_ms": 1e999, "median_ttft_ms": 123456789012345678901234567890`, "ttft n=0 at=0"},
		{"deep", `"generated_texts": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), ""},
		{"empty", `"ttfts": [], "itls": [[], []], "latencies": []`, ""},
	} {
		report, runs := textOfReading(t, "x.json", "{"+serveHead+test.members+"}")
		if len(runs) != 1 {
			t.Errorf("%s: %d runs, want 1", test.what, len(runs))
			continue
		}
		var got []string
		for _, name := range []string{"ttft", "itl"} {
			if m := runs[0].Metric(name); m != nil {
				got = append(got, fmt.Sprintf("%s n=%d at=%d", name, len(m.Values()), len(m.AtNS)))
			}
		}
		if report.Refused > 0 {
			got = append(got, fmt.Sprintf("%d refused", report.Refused))
		}
		if joined := strings.Join(got, " "); !strings.HasSuffix(joined, test.want) || test.want == "" && joined != "" {
			t.Errorf("%s: %s, want %s; %v", test.what, joined, test.want, report.Refusals)
		}
	}
}

// TestAllFailed: zeros of failed requests are no values, also where the file does not count them.
func TestAllFailed(t *testing.T) {
	for _, content := range []string{
		`{"model_id": "m", "request_rate": 1, "mean_ttft_ms": 0.0, "std_ttft_ms": 0.0, "request_throughput": 0.0, "duration": 3.5}`,
		`{"model_id": "m", "request_rate": 1, "mean_ttft_ms": 0.0, "request_throughput": 0.0, "ttfts": [0.0, 0.0], "itls": [[], []]}`,
		`{"elapsed_time": 0.5, "num_requests": 3, "total_num_tokens": 0, "requests_per_second": 0, "tokens_per_second": 0}`,
		`{"avg_latency": 0, "latencies": [], "percentiles": {}}`,
		`{"metadata": {"worker_id": "w", "benchmark_phase": "profiling"}, "metrics": {}, "error": {"code": 500}}`,
	} {
		_, runs := textOfReading(t, "x.json", content)
		if len(runs) != 1 || runs[0].Status != schema.StatusError || runs[0].Error == "" {
			t.Errorf("%s: %+v, want one failed run", content, runs)
			continue
		}
		for _, m := range runs[0].Metrics {
			t.Errorf("%s: a failed run has %s", content, Metric(&m))
		}
	}
}

// TestBigTimestamps: differences of times since 1970 in nanoseconds are exact.
func TestBigTimestamps(t *testing.T) {
	_, runs := textOfReading(t, "x.json", `{"experiments": [{"experiment": {"mode": "concurrency", "value": 1}, "requests": [
		{"timestamp": 1730923333851941241, "response_timestamps": [1730923333851941242, 1730923333851941249]}]}]}`)
	if got := runs[0].Metric("latency").Ticks[0]; got != 8 {
		t.Errorf("latency is %d ns, want 8", got)
	}
	if got := runs[0].Metric("ttft").Ticks[0]; got != 1 {
		t.Errorf("ttft is %d ns, want 1", got)
	}
}

// TestHostileServing:  a value of an unexpected kind never stops a reader without an answer.
func TestHostileServing(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for _, f := range All() {
		if f.Read == nil {
			continue
		}
		for _, content := range []string{
			"", "\n", "{", "[", "[]", "{}", "null", "[null]", "[1, [2]]", `{"experiments": 1}`, `{"experiments": [1, {"requests": [1, {"timestamp": "x"}]}]}`,
			"\xff\xfe", "a,b\n1,2\n", "Model\n\n", "Metric,avg\n,\n", "Concurrency,\n1\n", ":::MLLOG {}\n:::MLLOG 1\n", "| model |\n|\n", deep, "[" + deep + "]",
			`{"report": {"load": 1, "": null, "a/b": {"latency": {"values": [1, null]}}}, "config": []}`, "MLPerf Results Summary\n: : :\nScenario :\n",
			strings.Repeat("x", 1<<20), "Request concurrency: 1e99\n    Throughput: e infer/sec\n", `{"a": "` + strings.Repeat("\xff", 100) + `"}`,
		} {
			in, err := foreign.FromReader(strings.NewReader(content), "x", nil)
			if err != nil {
				continue
			}
			report, _ := foreign.NewReader(foreign.Added{}, nil).Read(in, &f, func(valid schema.Valid) bool { r := valid.Run(); return r.Validate() == nil })
			if report.Runs > 2 {
				t.Errorf("%s makes %d runs of %.60q", f.Name, report.Runs, content)
			}
		}
	}
}

// TestSortedServe: tools that sort the members of a result put the samples before the name of the model.
func TestSortedServe(t *testing.T) {
	texts := strings.Repeat(`"a long answer",`, 40_000)
	_, runs := textOfReading(t, "x.json", `{"backend": "vllm", "burstiness": 1.0, "completed": 1, "date": "20260101-000000", "duration": 1.5, "errors": [""],
		"generated_texts": [`+texts+`""], "itls": [[0.5]], "model_id": "m", "num_prompts": 1, "request_rate": "inf", "ttfts": [0.25]}`)
	if len(runs) != 1 || runs[0].Model != "m" || runs[0].Metric("ttft") == nil || runs[0].Params["num_prompts"] != "1" {
		t.Errorf("%+v, want a run of m", runs)
	}
}

// TestCutShort: the runs before the end of a truncated file are read, and the report says that it was cut off.
func TestCutShort(t *testing.T) {
	in := Input(t, "x", "{"+serveHead+`"mean_ttft_ms": 2.5}`+"\n{"+serveHead+`"mean_ttft_ms`)
	f, err := Named("vllm")
	if err != nil {
		t.Fatal(err)
	}
	if _, runs, err := Read(in, *f); err == nil || len(runs) != 1 {
		t.Errorf("%d runs, error %v; want one and an error", len(runs), err)
	}
}

// TestLlamaBuilds: a test is the same one in builds that have other fields.
func TestLlamaBuilds(t *testing.T) {
	const common = `{"build_commit": "a", "build_number": 1, "model_type": "tiny", "model_filename": "m.gguf", "n_prompt": 512, "n_gen": 0, "avg_ns": 5, "samples_ns": [5], `
	points := map[string][]string{}
	for _, c := range []struct{ group, fields string }{
		{"default", `"f16_kv": true, "mul_mat_q": true, "low_vram": false, "tensor_split": "0.00"}`},
		{"default", `"use_mmap": true, "n_depth": 0, "no_op_offload": 0, "tensor_buft_overrides": "none"}`},
		{"default", `"load_mode": "auto", "lazy_mode": "auto", "repack": true, "fit_target": 0, "fit_min_ctx": 0}`},
		{"default", `"load_mode": "mmap"}`},
		{"no mmap", `"use_mmap": false}`},
		{"no mmap", `"load_mode": "none"}`},
		{"dio", `"load_mode": "dio"}`},
		{"fit", `"fit_target": 1024}`},
	} {
		_, _, runs, err := One(All(), fstest.MapFS{"r.jsonl": {Data: []byte(common + c.fields + "\n")}}, "r.jsonl")
		if err != nil || len(runs) != 1 {
			t.Fatalf("%s: %d runs, %v", c.fields, len(runs), err)
		}
		if runs[0].Params["n_depth"] != "0" {
			t.Errorf("%s: the depth is %q, want 0: other depths are parameters", c.fields, runs[0].Params["n_depth"])
		}
		if want := map[string]string{"default": "1", "no mmap": "0", "fit": "1"}[c.group]; runs[0].Params["use_mmap"] != want {
			t.Errorf("%s: use_mmap is %q, want %q", c.fields, runs[0].Params["use_mmap"], want)
		}
		if !slices.Contains(points[c.group], runs[0].PointID) {
			points[c.group] = append(points[c.group], runs[0].PointID)
		}
	}
	seen := map[string]string{}
	for group, ids := range points {
		if len(ids) != 1 || seen[ids[0]] != "" {
			t.Errorf("%s has the points %v; %s is at the first, too", group, ids, seen[ids[0]])
		}
		seen[ids[0]] = group
	}
}

// whole describes the requests of a run: failed, duration in s, both facts and its warnings.
func whole(r *schema.Run) string {
	value := func(name string) string {
		m := r.Metric(name)
		if m == nil {
			return "-"
		}
		if n := len(m.Values()); n != 1 || m.Level != schema.LevelProcess {
			return fmt.Sprintf("%d values at %q", n, m.Level)
		}
		v := m.Values()[0]
		if m.Unit == "ns" {
			v /= 1e9
		}
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s/%s %s", value(schema.MetricFailedRequests), value("duration"),
		r.Env.Facts[schema.FactFailedRequests], r.Env.Facts[schema.FactCompletedRequests], strings.Join(r.Warnings, ", ")))
}

// TestRequests: every format of a serving benchmark has the failed requests and the duration as metrics, with one sample, where its file says
// so, and the two facts. What the file does not say is missing.
func TestRequests(t *testing.T) {
	const vllm = `{"date": "20260101-000000", "model_id": "m", "request_rate": "inf", "request_throughput": 2.0, `
	const sglang = `{"backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "request_throughput": 2.0, "output_throughput": 5, `
	const aiperf = `{"input_config": {"endpoint": {"model_names": ["m"], "type": "chat"}}, "request_latency": {"unit": "ms", "avg": 5, "p50": 5}, "was_cancelled": false`
	printed := func(lines ...string) string {
		return "============ Serving Benchmark Result ============\nSuccessful requests:   15\nRequest throughput (req/s):   3.5\n" + strings.Join(lines, "\n") + "\n==================================================\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"vllm.json", vllm + `"completed": 8, "failed": 16, "num_prompts": 24, "duration": 1.5}`, "16 1.5 16/8 16 of 24 requests failed"},
		{"vllm.json", vllm + `"completed": 24, "failed": 0, "duration": 1.5}`, "0 1.5 0/24"},
		{"vllm.json", vllm + `"completed": 24, "failed": "3", "num_prompts": 24, "duration": 1.5}`, "3 1.5 3/24 3 of 27 requests failed"},
		{"vllm.json", vllm + `"completed": 1015, "num_prompts": 2000}`, "985 - 985/1015 985 of 2000 requests failed"},
		{"vllm.json", vllm + `"completed": 24, "num_prompts": 24}`, "0 - 0/24"},
		{"vllm.json", vllm + `"completed": 25, "num_prompts": 24}`, "- - /25"},
		{"vllm.json", vllm + `"completed": 24}`, "- - /24"},
		{"vllm.json", vllm + `"num_prompts": 24}`, "- - /"},
		{"vllm.json", vllm + `"completed": 2, "num_prompts": 9, "errors": ["", "x", ""]}`, "1 - 1/2 1 of 3 requests failed"},
		{"vllm.json", vllm + `"completed": 0, "failed": 4, "duration": 2}`, "- - 4/0"},
		{"sglang.jsonl", sglang + `"completed": 3, "duration": 2.5, "num_prompts": 4}`, "1 2.5 1/3 1 of 4 requests failed"},
		{"sglang.jsonl", sglang + `"completed": 3, "duration": 2.5}`, "- 2.5 /3"},
		{"sglang.jsonl", sglang + `"completed": 16, "num_prompts": 1000, "gsp_num_groups": 4}`, "- - /16"},
		{"a.txt", printed("Failed requests:  1", "Benchmark duration (s):  2.5"), "1 2.5 1/15 1 of 16 requests failed"},
		{"a.txt", "Namespace(backend='vllm', num_prompts=16)\n" + printed(), "1 - 1/15 1 of 16 requests failed"},
		{"a.txt", printed(), "- - /15"},
		{
			"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": 8.0}, "error_summary": [{"count": 10}, {"count": 6}], "benchmark_duration": {"unit": "sec", "avg": 2.5}}`,
			"16 2.5 16/8 16 of 24 requests failed",
		},
		{"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": 8.0}, "error_summary": []}`, "0 - 0/8"},
		{
			"aiperf.json", aiperf + `, "error_summary": [{"count": 9223372036854775807}, {"count": 5}]}`,
			"9.223372036854776e+18 - 9223372036854775807/ 9007199254740992 requests failed",
		},
		{"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": -8.0}, "error_summary": [{"count": -3}, {"count": 2}]}`, "2 - 2/ 2 requests failed"},
		{"vllm.json", vllm + `"completed": 24, "failed": -1}`, "- - /24"},
		{"vllm.json", vllm + `"completed": -4, "num_prompts": 24}`, "- - /"},
		{
			"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": 8.0}, "error_request_count": {"unit": "requests", "avg": 5.0}, ` +
				`"error_summary": [{"error_details": {"code": 499, "type": "RequestCancellationError"}, "count": 3}, {"error_details": {"code": 503, "type": "X"}, "count": 2}]}`,
			"2 - 2/8 2 of 10 requests failed",
		},
		{
			"aiperf.json", strings.Replace(aiperf, "avg\": 5, \"p50\": 5", "avg\": null", 1) + `, "error_summary": [{"error_details": {"type": "RequestCancellationError"}, "count": 3}]}`, "- - 0/",
		},
		{"aiperf.json", aiperf + `, "error_summary": [{"error_details": "RequestCancellationError", "count": 3}]}`, "3 - 3/ 3 requests failed"},
		{"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": 8.0}, "error_request_count": {"unit": "requests", "avg": 2.0}}`, "2 - 2/8 2 of 10 requests failed"},
		{"aiperf.json", aiperf + `, "request_count": {"unit": "requests", "avg": 8.0}}`, "- - /8"},
		{
			"aiperf.csv", "Metric,avg,min,max,p1,p50,p99\nRequest Latency (ms),5,5,5,5,5,5\n\nMetric,Value\nBenchmark Duration (sec),2.5\nError Request Count,11.00\nRequest Count,89.00\n",
			"11 2.5 11/89 11 of 100 requests failed",
		},
		{"aiperf.csv", "Metric,avg,min,max,p1,p50,p99\nRequest Latency (ms),5,5,5,5,5,5\n", "- - /"},
		{"aiperf.jsonl", `{"metadata": {"worker_id": "w", "request_start_ns": 1767225600000000000}, "metrics": {"request_latency": {"value": 5, "unit": "ms"}}, "error": null}` + "\n" +
			`{"metadata": {"worker_id": "w", "request_start_ns": 1767225600000000001}, "metrics": {}, "error": {"code": 499}}` + "\n", "1 - 1/1 1 of 2 requests failed"},
		{"aiperf.jsonl", `{"metadata": {"worker_id": "w", "timestamp_ns": 1767225600000000000}, "metrics": {"request_latency": {"value": 5, "unit": "ms"}}, "error": null}` + "\n" +
			`{"metadata": {"worker_id": "w", "timestamp_ns": 1767225600000000001}, "metrics": {}, "error": {"code": 499, "type": "RequestCancellationError"}}` + "\n" +
			`{"metadata": {"worker_id": "w", "timestamp_ns": 1767225600000000002, "was_cancelled": true}, "metrics": {}, "error": {"code": 499}}` + "\n", "0 - 0/1"},
		{"genai.json", `{"experiments": [{"experiment": {"mode": "concurrency", "value": 1}, "requests": [{"timestamp": 1767225600000000000, "response_timestamps": [1767225600500000000]},` +
			`{"timestamp": 1767225601000000000, "response_timestamps": []}, {"timestamp": 1767225600250000000, "response_timestamps": [1767225602500000000]}]}]}`, "1 2.5 1/2 1 of 3 requests failed"},
		{"genai_genai_perf.json", `{"request_latency": {"unit": "ms", "avg": 5, "p50": 5}, "request_count": {"unit": "count", "avg": 8}, "input_config": {"model": ["m"]}}`, "- - /8"},
	} {
		_, runs := textOfReading(t, c.name, c.text)
		if len(runs) != 1 {
			t.Errorf("%s: %d runs of %s", c.name, len(runs), c.text)
			continue
		}
		runs[0].Warnings = slices.DeleteFunc(runs[0].Warnings, func(w string) bool { return w == "mean" })
		if runs[0].Status == schema.StatusError && strings.HasPrefix(whole(&runs[0]), "- - 0/") && runs[0].Error != "no request was completed" {
			t.Errorf("%s: error %q of %s", c.name, runs[0].Error, c.text)
		}
		if got := whole(&runs[0]); got != c.want {
			t.Errorf("%s: got %q, want %q of %s", c.name, got, c.want, c.text)
		}
	}
}

// TestServeStart: the date of a benchmark of vLLM is that of its end. It began as the file says, or as long before as it took.
func TestServeStart(t *testing.T) {
	const head = `{"date": "20260610-205322", "model_id": "m", "request_rate": "inf", "request_throughput": 2.0, "completed": 24`
	for _, c := range []struct{ members, want, source string }{
		{`, "duration": 129.4, "benchmark_start_time_unix": 1781124671.9, "benchmark_end_time_unix": 1781124801.4`, "2026-06-10T20:51:11.9Z", "file"},
		{`, "duration": 129.4`, "2026-06-10T20:51:12.6Z", "naive"},
		{`, "duration": 0.0`, "2026-06-10T20:53:22Z", "naive"},
		{``, "2026-06-10T20:53:22Z", "naive"},
		{`, "duration": 1e30`, "2026-06-10T20:53:22Z", "naive"},
		{`, "duration": 2, "benchmark_start_time_unix": "soon"`, "2026-06-10T20:53:20Z", "naive"},
		{`, "duration": 2, "benchmark_start_time_unix": -1`, "2026-06-10T20:53:20Z", "naive"},
	} {
		_, runs := textOfReading(t, "x.json", head+c.members+"}")
		if len(runs) != 1 {
			t.Fatalf("%s: %d runs", c.members, len(runs))
		}
		if got := runs[0].StartedAt.Format(time.RFC3339Nano); got != c.want || string(runs[0].TimeSource) != c.source {
			t.Errorf("%s: got %s %s, want %s %s", c.members, got, runs[0].TimeSource, c.want, c.source)
		}
	}
	sorted := `{"backend": "vllm", "benchmark_end_time_unix": 1781124801.4, "benchmark_start_time_unix": 1781124671.9, "burstiness": 1.0, "completed": 1, "date": "20260610-205322", ` +
		`"duration": 129.4, "errors": [""], "model_id": "m", "request_throughput": 2.0}`
	_, report, runs, err := One(All(), fstest.MapFS{"x.json": {Data: []byte(sorted)}}, "x.json")
	if err != nil || len(runs) != 1 || runs[0].Params["benchmark_start_time_unix"] != "" || len(report.LeftOut) > 0 {
		t.Errorf("%v: %v, %v", err, runs, report.LeftOut)
	}
}

// TestTokenCounter: AIPerf says who counted the tokens, in both layouts of its configuration, and nothing is made up where it does not.
func TestTokenCounter(t *testing.T) {
	const rest = `, "request_latency": {"unit": "ms", "avg": 5, "p50": 5}, "was_cancelled": false}`
	for config, want := range map[string]string{
		`{"endpoint": {"model_names": ["m"], "use_server_token_count": true}}`:                                       "server",
		`{"endpoint": {"model_names": ["m"], "use_server_token_count": false}}`:                                      "client",
		`{"endpoint": {"model_names": ["m"]}}`:                                                                       "",
		`{"endpoint": {"model_names": ["m"], "use_server_token_count": "perhaps"}}`:                                  "",
		`{"models": ["m"], "endpoint": {"type": "chat", "use_server_token_count": true}, "phases": [{"name": "a"}]}`: "server",
	} {
		_, runs := textOfReading(t, "x.json", `{"input_config": `+config+rest)
		if len(runs) != 1 || runs[0].Env.Facts["tokens.counted_by"] != want {
			t.Errorf("%s: %+v", config, runs)
		}
	}
}

// TestTableAfterPrinted: rows of perf_analyzer's table after its printed output are counted.
func TestTableAfterPrinted(t *testing.T) {
	const text = "Request concurrency: 1\n  Client: \n    Request count: 100\n    Throughput: 20.5 infer/sec\n    Avg latency: 4800 usec\n" +
		"Inferences/Second vs. Client Average Batch Latency\nConcurrency: 1, throughput: 20.5 infer/sec, latency 4800 usec\n" +
		"Concurrency,Inferences/Second,Client Send,Avg latency\n1,20.5,3,4800\n2,30.5,3,4900\n4,40.5,3,5000\n\n5,1,1\n"
	_, report, runs, err := One(All(), fstest.MapFS{"a.txt": {Data: []byte(text)}}, "a.txt")
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for why, n := range report.LeftOut {
		if strings.HasPrefix(why, "rows of a table of CSV") && n == 3 {
			return
		}
	}
	t.Errorf("left out: %v, want 3 rows", report.LeftOut)
}
