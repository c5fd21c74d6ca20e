package formats_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// sectioned are the formats of which several results may follow one another in a file.
var sectioned = map[string]bool{
	"nccl-tests": true, "nvbandwidth": true, "sysbench": true, "go-bench": true, "llama-bench-text": true, "llama-bench-csv": true,
	"llama-bench": true, "vllm-text": true, "perf-analyzer": true, "perf-analyzer-csv": true, "model-analyzer": true, "trtexec-log": true,
	"nsys-stats": true, "ncu": true, "mlperf": true, "mlperf-summary": true, "reframe-perflog": true, "criterion-messages": true, "jsonl": true,
	"google-benchmark": true, "hyperfine": true, "pyperf": true, "pytest-benchmark": true, "nvbench": true, "sglang": true, "sglang-offline": true,
	"vllm": true, "vllm-latency": true, "vllm-throughput": true,
}

// holdsOn are fixtures with lines that hold for all that follows in a file: key: value and Unit lines of Go's benchmark
// format, the version of the library that NCCL prints. Tables of nsys stats that do not name their report belong to the one
// before, and readings of a GPU are one series.
var holdsOn = []string{
	"compared.txt", "units.txt", "two-nodes.md", "milliseconds.csv", "old_gpukernsum.csv", "profile_2019.txt", "table.txt", "trace_cuda_gpu_trace.csv", "gpu_telemetry_0_11.jsonl",
}

// textSections are the fixtures of a format, and more sections of text, by the format. Binary files, and those that are in other
// layouts than the rest, are left out.
func textSections(t *testing.T) map[string][]file {
	t.Helper()
	all, sections := formats.All(), map[string][]file{}
	err := filepath.WalkDir(fixtures, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "want.txt" || d.Name() == "README.md" {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil || bytes.IndexByte(content, 0) >= 0 || len(content) > 16<<10 {
			return err
		}
		for _, holds := range holdsOn {
			if d.Name() == holds {
				return nil
			}
		}
		alone := "results" + path.Ext(name)
		format, _, runs, _ := foreigntest.One(all, fstest.MapFS{alone: {Data: content}}, alone)
		if format != nil && len(runs) > 0 {
			key := format.Name
			if trimmed := bytes.TrimSpace(content); trimmed[0] == '{' || trimmed[0] == '[' {
				key += " in JSON"
			}
			sections[key] = append(sections[key], file{name: name, content: content})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for format, texts := range madeUpSections {
		for i, text := range texts {
			sections[format] = append(sections[format], file{name: fmt.Sprint(format, " ", i), content: []byte(text)})
		}
	}
	return sections
}

// TestSections: a file that has several results of a tool, one after the other, gives the runs of each of them, in whatever
// order they follow one another. A format that is not made for that says what it leaves out.
func TestSections(t *testing.T) {
	t.Parallel()
	all := formats.All()
	for key, files := range textSections(t) {
		format := strings.TrimSuffix(key, " in JSON")
		var texts [][]byte
		for _, f := range files {
			texts = append(texts, f.content)
		}
		name := "results" + path.Ext(files[0].name)
		if key == "nccl-tests" || key == "trtexec-log" {
			name = "results.log"
		}
		if sectioned[format] {
			if order, report := foreigntest.Sections(all, name, texts); order != nil {
				t.Errorf("%s in the order %v: %s", key, order, report)
			}
			continue
		}
		if key == "jmh" || key == "benchmark-harness" { // JavaScript with one value, a table that a tool writes once
			continue
		}
		for _, f := range files {
			twice := bytes.Join([][]byte{f.content, f.content}, []byte("\n"))
			format, report, runs, err := foreigntest.One(all, fstest.MapFS{name: {Data: twice}}, name)
			_, _, once, _ := foreigntest.One(all, fstest.MapFS{name: {Data: f.content}}, name)
			if format != nil && err == nil && report.Refused == 0 && len(report.LeftOut) == 0 && len(runs) != 2*len(once) {
				t.Errorf("%s twice in a file: %d runs, want %d, or a word about what is left out", f.name, len(runs), 2*len(once))
			}
		}
	}
}

// madeUpSections are texts that follow one another in logs, but in no fixture.
var madeUpSections = map[string][]string{
	"nccl-tests": {
		ncclSection("all_reduce_perf", "sum", "10.00"), ncclSection("reduce_scatter_perf", "sum", "20.00"), ncclSection("all_gather_perf", "none", "30.00"),
		ncclSection("alltoall_perf", "none", "40.00"), ncclSection("sendrecv_perf", "sum", "50.00"),
	},
	"llama-bench-text": {
		llamaSection("  Device 0: Example A, compute capability 9.0\n", "pp512", "490.10", ""), llamaSection("  Device 0: Example B, compute capability 9.0\n  Device 1: Example B, compute capability 9.0\n", "pp256", "828.20", ""),
		llamaSection("", "tg64", "51.00", "build: 0123abc (4567)\n"),
	},
	"perf-analyzer": {
		perfSection("$ perf_analyzer -m net_a -b 4\n", 4, 1, ""), perfSection("", 8, 2, ""), perfSection("", 2, 3, "Inferences/Second vs. Client p50 latency\n"),
	},
	"nvbandwidth": {
		"nvbandwidth Version: v0.8\n\nDevice 0: Example A (00000000:01:00)\n\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0\n 0     25.10\n\nSUM host_to_device_memcpy_ce 25.10\n",
		"nvbandwidth Version: v0.8\n\nDevice 0: Example B (00000000:01:00)\nDevice 1: Example B (00000000:02:00)\n\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0     55.10     55.20\n\nSUM host_to_device_memcpy_ce 110.30\n",
	},
	"go-bench": {
		"goos: linux\npkg: example.com/a\nBenchmarkSum-2 \t100\t 10.5 ns/op\nPASS\nok  \texample.com/a\t1.0s\n",
		"goos: linux\npkg: example.com/b\nBenchmarkSum-2 \t100\t 20.5 ns/op\nPASS\nok  \texample.com/b\t1.0s\n",
	},
	"vllm-text": {
		"Namespace(backend='vllm', model='lab/a', num_prompts=8, request_rate=1.0)\n============ Serving Benchmark Result ============\nSuccessful requests:                     8\nBenchmark duration (s):                  4.00\nRequest throughput (req/s):              2.00\nMean TTFT (ms):                          30.00\n",
		"============ Serving Benchmark Result ============\nSuccessful requests:                     4\nBenchmark duration (s):                  4.00\nRequest throughput (req/s):              1.00\nMean TTFT (ms):                          35.00\n==================================================\n",
	},
	"nsys-stats": {
		nsysSection("a/report1.nsys-rep", 100) + nsysSection("a/report2.nsys-rep", 300), nsysSection("b/report3.nsys-rep", 500) + nsysSection("b/report4.nsys-rep", 700),
	},
}

func ncclSection(test, redop, time string) string {
	half := time + "    0.10    0.10       0"
	return "# Collective test starting: " + test + "\n" +
		"# nThread 1 nGpus 1 minBytes 1024 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n" +
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n" +
		"        1024           256     float     " + redop + "      -1    " + half + "    " + half + "\n" +
		"# Avg bus bandwidth    : 0.1\n# Collective test concluded: " + test + "\n"
}

func llamaSection(before, test, speed, after string) string {
	return before + "| model          |       size |     params | backend    | ngl |            test |                  t/s |\n" +
		"| -------------- | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |\n" +
		"| lab 1B Q4_0    |   0.61 GiB |     1.10 B | CUDA       |  99 | " + test + " | " + speed + " ± 1.00 |\n" + after
}

func perfSection(before string, batch, concurrency int, after string) string {
	return before + fmt.Sprintf("*** Measurement Settings ***\n  Batch size: %d\n  Service Kind: Triton\n\nRequest concurrency: %d\n  Client: \n    Request count: 100\n    Throughput: 20.5 infer/sec\n    Avg latency: 4800 usec\n", batch, concurrency) + after
}

func nsysSection(report string, time int) string {
	return fmt.Sprintf("Processing [%s] with [/opt/reports/cuda_gpu_kern_sum.py]...\n\nTime (%%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,%d,1,%d.0,%d.0,%d,%d,0.0,gemm_tile\n", report, time, time, time, time, time)
}
