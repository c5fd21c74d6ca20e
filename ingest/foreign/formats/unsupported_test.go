package formats

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestUnsupported: the refusal of a file that is near to what is read says how it is read, and of one that people have often
// what it is.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	all := All()
	for _, c := range []struct{ name, content, want string }{
		{"layer-norm.csv", "N,Triton,Torch\n1024.000000,446.836360,384.000001\n2048.000000,534.260858,374.313196\n", "it looks like triton-perf-report; if it is, add --from triton-perf-report"},
		{"vector-add-performance.csv", "size,Triton,Torch\n4096.0,9.6,8.7\n8192.0,19.21,\n", "it looks like triton-perf-report; if it is, add --from triton-perf-report"},
		{"data.js", "window.BENCHMARK_DATA = {\n  \"lastUpdate\": 1, \"entries\": {\"Benchmark\": []}\n}\n", "github-action-benchmark, which is not supported; ingest the output of the benchmark tool that it was made from instead, or convert it to JSON lines with jq, as docs/importing.md shows"},
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
		{"k6-ws.json", `{"metrics": {"iteration_duration": {"type": "trend", "contains": "time", "values": {"avg": 1}}}, "root_group": {"name": ""}}`, "a k6 summary, which is not supported; convert it to JSON lines with jq, as docs/importing.md shows"},
		{"training.log", ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"seed\", \"value\": 1, \"metadata\": {}}\n", "the log of MLPerf Training"},
		{"b-report.csv", "Method,Job,Toolchain,N,Mean,Error,StdDev\nSum,Default,Default,100,154.7 ns,1.2 ns,1.1 ns\n", "a table of BenchmarkDotNet, which is not supported; read it with --from csv --map FILE, which --guess drafts"},
		{"b-report.md", "```\n\nBenchmarkDotNet v0.14.0, Linux\n```\n| Method | N | Mean | Error |\n|---|---:|---:|---:|\n| Sum | 100 | 154.7 ns | 1.2 ns |\n", "the printed output of BenchmarkDotNet"},
		{"gb.csv", "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message\n\"BM_a\",10,1,1,ns,,,,,\n", "a table of Google Benchmark, which is not supported; ingest the JSON of --benchmark_out_format=json instead"},
		{"gb.txt", "2026-01-01T00:00:00+00:00\nRunning ./vec\n-----\nBenchmark           Time             CPU   Iterations\n-----\nBM_a             1.00 ns         1.00 ns    100\n", "the printed output of Google Benchmark, which is not supported; ingest the JSON of --benchmark_format=json instead"},
		{"jmh.txt", "Benchmark        (size)  Mode  Cnt    Score   Error  Units\nLab.sum             100  avgt    5    1.234 ± 0.1    us/op\n", "the printed output of JMH, which is not supported; ingest the JSON of -rf json instead"},
		{"jmh.csv", "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99,9%)\",\"Unit\"\n\"lab.Sum\",\"thrpt\",1,5,\"5,5\",\"0,1\",\"ops/s\"\n", "a table of JMH, which is not supported; ingest the JSON of -rf json instead, or read it with --from csv --map FILE, which --guess drafts"},
		{"h.md", "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n| `true` | 1.0 ± 0.1 | 0.9 | 1.2 | 1.00 |\n", "the printed output of hyperfine, which is not supported; ingest the JSON of --export-json instead"},
		{"h.txt", "Benchmark 1: true\n  Time (mean ± σ):       1.0 ms ±   0.1 ms    [User: 0.5 ms, System: 0.3 ms]\n", "the printed output of hyperfine"},
		{"h.csv", "command,mean,stddev,median,user,system,min,max\ntrue,0.1,0.01,0.1,0.1,0,0.1,0.2\n", "a table of hyperfine"},
		{"divan.txt", "lab           fastest       │ slowest       │ median        │ mean          │ samples │ iters\n╰─ sum        1.2 ns │ 2 ns │ 1.3 ns │ 1.3 ns │ 100 │ 100\n", "the printed output of divan"},
		{"vitest.json", `{"files": [{"filepath": "a", "groups": [{"fullName": "g", "benchmarks": [{"name": "a", "hz": 10.5, "mean": 1}]}]}]}`, "Vitest benchmarks"},
		{"mitata.json", `{"layout": [{"name": null}], "benchmarks": [{"alias": "a", "runs": [{"stats": {"avg": 1}}]}]}`, "mitata"},
		{"guidellm.json", `{"metadata": {"version": 1}, "benchmarks": [{"type_": "generative_benchmark", "metrics": {"requests_per_second": {"successful": {"mean": 1}}}}]}`, "GuideLLM"},
		{"stage_0.json", `{"load_summary": {"count": 10}, "successes": {"count": 10, "latency": {}}, "failures": {"count": 0}}`, "inference-perf"},
		{"agg.json", `[{"hw": "x1", "tp": 8, "conc": 4, "model": "m", "tput_per_gpu": 10.5}]`, "an aggregate of InferenceX, which is not supported; ingest the JSON that its client wrote"},
		{"agg1.json", `{"hw": "x1", "tp": 8, "conc": 4, "model": "m", "tput_per_gpu": 10.5}`, "an aggregate of InferenceX"},
		{"x.csv", "# InferenceX export\n# lab\nModel,GPU\na,b\n", "a table of InferenceX, which is not supported; read it with --from csv --map FILE, which --guess drafts"},
		{"trtllm.json", `{"engine": {"model": "m"}, "performance": {"system_output_throughput_tok_s": 10.5}}`, "trtllm-bench"},
		{"trtllm.txt", "===========\n= PYTORCH BACKEND\n===========\nModel: m\n", "the printed output of trtllm-bench"},
		{"benchy.md", "| model | test | t/s | peak t/s | ttfr (ms) | est_ppt (ms) | e2e_ttft (ms) |\n|:--|--:|--:|--:|--:|--:|--:|\n| lab/a | pp2048 | 10 ± 1 |  | 5 ± 1 | 4 ± 1 | 6 ± 1 |\n", "llama-benchy"},
		{"benchy.json", `{"version": "0.1", "benchmarks": [{"concurrency": 1, "pp_throughput": {"mean": 1}, "tg_throughput": {"mean": 1}}]}`, "llama-benchy"},
		{"gpu.csv", "timestamp, name, utilization.gpu [%], power.draw [W]\n2026/04/24 16:02:12.560, Example GPU, 0 %, 21.76 W\n", "nvidia-smi's CSV, which is not supported; read it with --from csv --map FILE, which --guess drafts"},
		{"dmon.txt", "# gpu   pwr  gtemp  mtemp     sm    mem\n# Idx     W      C      C      %      %\n    0    45     40      -      3      1\n", "nvidia-smi dmon"},
		{"dcgm.txt", "#Entity   GPUTL   POWER\nID\nGPU 0     10   99.1\n", "dcgmi dmon"},
		{"HPL.out", "HPLinpack 2.3  --  High-Performance Linpack benchmark\n", "HPL"},
		{"osu.txt", "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n0                       1.05\n", "OSU Micro-Benchmarks"},
		{"inductor.csv", "dev,name,batch_size,speedup,abs_latency\ncuda,lab_net,8,1.5,10.2\n", "a table of TorchInductor's benchmarks"},
		{"results.stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"gemm\",5,100,20,100\n", "rocprof"},
		{"megatron.log", " [2026-01-01 10:11:12] iteration        5/     100 | consumed samples:  40 | elapsed time per iteration (ms): 512.3 | learning rate: 1E-4 |\n", "the log of Megatron-LM"},
		{"own.jsonl", "{\"a\": 1, \"t\": 2}\n{\"a\": 2, \"t\": 3}\n", "its JSON lines match no known format; ingest --guess FILE drafts a mapping for them, and --json-schema describes lines that need none"},
		{"one.jsonl", "{\"a\": 1, \"t\": 2}\n", "ingest --guess FILE"},
		{"notes.txt", "nothing\n", "its text matches no known format; see ingest --list-formats"},
		{"a.nsys-rep", "NSYS\x01\x00[1] {\"a\": 1}", "a report of Nsight Systems, which is not supported; export it with nsys export --type sqlite FILE"},
		{"a.qdstrm", "\x01\x02", "a recording of Nsight Systems that was never made into a report"},
		{"a.ncu-rep", "NVR\x00\x01{", "a report of Nsight Compute, which is not supported; print it with ncu --import FILE --csv --page raw"},
		{"other.json", `{"a": 1}`, "its JSON keys match no known format; see ingest --list-formats"},
	} {
		format, _, _, err := One(all, fstest.MapFS{c.name: {Data: []byte(c.content)}}, c.name)
		if format != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
