package formats_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// TestUnsupported: the refusal of a file that is near to what is read says how it is read, and of one that people have often
// what it is.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	all := formats.All()
	for _, c := range []struct{ name, content, want string }{
		{"layer-norm.csv", "N,Triton,Torch\n1024.000000,446.836360,384.000001\n2048.000000,534.260858,374.313196\n", "it looks like triton-perf-report; if it is, add --from triton-perf-report"},
		{"vector-add-performance.csv", "size,Triton,Torch\n4096.0,9.6,8.7\n8192.0,19.21,\n", "it looks like triton-perf-report; if it is, add --from triton-perf-report"},
		{"data.js", "window.BENCHMARK_DATA = {\n  \"lastUpdate\": 1, \"entries\": {\"Benchmark\": []}\n}\n", "github-action-benchmark, which is not supported; ingest the output of the benchmark tool that it was made from instead, or convert it"},
		{"out.json", `[{"name": "a", "unit": "ns", "value": 1}]`, "github-action-benchmark or Bencher JSON, which is not supported; ingest the output of the benchmark tool that it was made from instead, or convert it"},
		{"k6-summary.json", `{"metrics": {"http_req_duration": {"avg": 1}}, "root_group": {}}`, "a k6 summary"},
		{"k6.json", `{"type": "Point", "metric": "http_reqs", "data": {"time": "2026-01-01T00:00:00Z", "value": 1}}`, "k6 points"},
		{"b-report-full.json", `{"Title": "b", "HostEnvironmentInfo": {}, "Benchmarks": [{"Statistics": {"Mean": 1}}]}`, "BenchmarkDotNet"},
		{"bench.txt", "running 1 test\ntest sum ... bench:       1,234 ns/iter (+/- 12)\n", "libtest benches"},
		{"criterion.txt", "fib 20                  time:   [26.029 µs 26.251 µs 26.505 µs]\n", "the printed output of Criterion.rs, which is not supported; ingest its folder target/criterion instead, or convert it"},
		{"stats.csv", "Type,Name,Request Count,Failure Count\nGET,/,1,0\n", "Locust"},
		{"iperf.json", `{"start": {"test_start": {}}, "intervals": [], "end": {}}`, "iperf3"},
		{"iperf.txt", "[ ID] Interval           Transfer     Bitrate\n[  5] 0.00-1.00 sec  1 GBytes\n", "iperf3"},
		{"perf.txt", "\n Performance counter stats for 'true':\n\n  1.0 msec task-clock\n", "perf stat"},
		{"perf.csv", "1234567,,cycles:u,1000000,100.00,,\n", "perf stat"},
		{"notes.txt", "nothing\n", "its text matches no known format; see ingest --list-formats"},
		{"other.json", `{"a": 1}`, "its JSON keys match no known format; see ingest --list-formats"},
	} {
		format, _, _, err := foreigntest.One(all, fstest.MapFS{c.name: {Data: []byte(c.content)}}, c.name)
		if format != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
