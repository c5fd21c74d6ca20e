package formats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// whole is what a run says of its requests: failed, duration in s, both facts and its warnings.
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
		_, runs := text(t, c.name, c.text)
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
		_, runs := text(t, "x.json", head+c.members+"}")
		if len(runs) != 1 {
			t.Fatalf("%s: %d runs", c.members, len(runs))
		}
		if got := runs[0].StartedAt.Format(time.RFC3339Nano); got != c.want || string(runs[0].TimeSource) != c.source {
			t.Errorf("%s: got %s %s, want %s %s", c.members, got, runs[0].TimeSource, c.want, c.source)
		}
	}
	sorted := `{"backend": "vllm", "benchmark_end_time_unix": 1781124801.4, "benchmark_start_time_unix": 1781124671.9, "burstiness": 1.0, "completed": 1, "date": "20260610-205322", ` +
		`"duration": 129.4, "errors": [""], "model_id": "m", "request_throughput": 2.0}`
	_, report, runs, err := foreigntest.One(formats.All(), fstest.MapFS{"x.json": {Data: []byte(sorted)}}, "x.json")
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
		_, runs := text(t, "x.json", `{"input_config": `+config+rest)
		if len(runs) != 1 || runs[0].Env.Facts["tokens.counted_by"] != want {
			t.Errorf("%s: %+v", config, runs)
		}
	}
}

// TestTableAfterPrinted: the rows of perf_analyzer's table that stand after its printed output are counted.
func TestTableAfterPrinted(t *testing.T) {
	const text = "Request concurrency: 1\n  Client: \n    Request count: 100\n    Throughput: 20.5 infer/sec\n    Avg latency: 4800 usec\n" +
		"Inferences/Second vs. Client Average Batch Latency\nConcurrency: 1, throughput: 20.5 infer/sec, latency 4800 usec\n" +
		"Concurrency,Inferences/Second,Client Send,Avg latency\n1,20.5,3,4800\n2,30.5,3,4900\n4,40.5,3,5000\n\n5,1,1\n"
	_, report, runs, err := foreigntest.One(formats.All(), fstest.MapFS{"a.txt": {Data: []byte(text)}}, "a.txt")
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
