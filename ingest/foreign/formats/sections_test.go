package formats

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
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

// textSections returns the fixtures of a format, and more sections of text, by the format. Binary files, and those that are in other
// layouts than the rest, are left out.
func textSections(t *testing.T) map[string][]file {
	t.Helper()
	all, sections := All(), map[string][]file{}
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
		format, _, runs, _ := One(all, fstest.MapFS{alone: {Data: content}}, alone)
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
	all := All()
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
			if order, report := Sections(all, name, texts); order != nil {
				t.Errorf("%s in the order %v: %s", key, order, report)
			}
			continue
		}
		if key == "jmh" || key == "benchmark-harness" || key == "folded" { // JavaScript with one value, a table that a tool writes once, stacks whose counts add up
			continue
		}
		for _, f := range files {
			twice := bytes.Join([][]byte{f.content, f.content}, []byte("\n"))
			format, report, runs, err := One(all, fstest.MapFS{name: {Data: twice}}, name)
			_, _, once, _ := One(all, fstest.MapFS{name: {Data: f.content}}, name)
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

// TestHeadings: equal results of a text under different headings are different points, in every format whose results may
// stand under headings, and in every order. Results that headings need not tell apart keep their points, and a heading that
// counts or dates repeats is none.
func TestHeadings(t *testing.T) {
	t.Parallel()
	sections := map[string]string{
		"llama-bench-text": llamaSection("", "pp512", "490.10", "\n"),
		"nccl-tests":       ncclSection("all_reduce_perf", "sum", "10.00"),
	}
	sections["nsys-stats"] = nsysTable("gemm_tile", 300)
	for _, format := range []string{"perf-analyzer", "nvbandwidth", "go-bench", "vllm-text"} {
		sections[format] = madeUpSections[format][0]
	}
	sections["sysbench"] = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 2\n\nPrime numbers limit: 10000\n\nCPU speed:\n    events per second:   900.10\n\nGeneral statistics:\n    total time:                          10.0s\n    total number of events:              9001\n\nLatency (ms):\n         min:                                    1.05\n         avg:                                    1.11\n         max:                                    2.20\n         95th percentile:                        1.20\n         sum:                                 9991.00\n"
	sections["trtexec-log"] = "&&&& RUNNING TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=a.onnx\n[11/20/2026-10:11:12] [I] === Performance summary ===\n[11/20/2026-10:11:12] [I] Throughput: 100.5 qps\n[11/20/2026-10:11:12] [I] Latency: min = 1.0 ms, max = 2.0 ms, mean = 1.5 ms, median = 1.5 ms\n&&&& PASSED TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=a.onnx\n"
	all := All()
	for _, format := range all {
		if format.OwnHeadings != nil && sections[format.Name] == "" {
			t.Errorf("no section of %s", format.Name)
		}
	}
	for format, section := range sections {
		points := func(text string) (points, heads []string) {
			name := "results.log"
			got, report, runs, err := One(all, fstest.MapFS{name: {Data: []byte(text)}}, name)
			if got == nil || got.Name != format || err != nil || report.Refused > 0 {
				t.Fatalf("%s: %v %v %+v", format, got, err, report)
			}
			for _, r := range runs {
				if !slices.Contains(points, r.PointID) {
					points = append(points, r.PointID)
				}
				if h := r.Params["heading"]; !slices.Contains(heads, h) {
					heads = append(heads, h)
				}
			}
			slices.Sort(points)
			return points, heads
		}
		one, _ := points(section)
		for _, c := range []struct {
			text  string
			times int // as many points as of one section
			heads []string
		}{
			{"## GPU 0 only\n\n" + section, 1, []string{""}},
			{section + section, 1, []string{""}},
			{"## GPU 0 ONLY\n" + section + "\n## DUAL GPU\n" + section, 2, []string{"GPU 0 ONLY", "DUAL GPU"}},
			{"### GPU 0 ONLY ###\n" + section + "\n### DUAL GPU ###\n" + section, 2, []string{"GPU 0 ONLY", "DUAL GPU"}},
			{"==== fast ====\n" + section + "\n==== slow ====\n" + section + "\n==== fast ====\n" + section, 2, []string{"fast", "slow"}},
			{"=== fast ===\n" + section + "\n--- slow ---\n" + section, 2, []string{"fast", "slow"}},
			{"**fast**\n\n" + section + "\n**slow**:\n\n" + section, 2, []string{"fast", "slow"}},
			{"## lab1\n### pp\n" + section + "\n## lab2\n### pp\n" + section, 2, []string{"lab1 / pp", "lab2 / pp"}},
			{"## Run 1\n" + section + "\n## Run 2 of 9\n" + section, 1, []string{""}},
			{"## 2026-11-01 10:11\n" + section + "\n## 2026-11-02 10:12:13 UTC\n" + section, 1, []string{""}},
			{section + "\n## lab2\n" + section, 2, []string{"", "lab2"}},
		} {
			got, heads := points(c.text)
			if len(got) != c.times*len(one) || !slices.Equal(heads, c.heads) {
				t.Errorf("%s: %d points under %q, want %d under %q:\n%s", format, len(got), heads, c.times*len(one), c.heads, c.text)
			}
			if c.times == 1 && !slices.Equal(got, one) {
				t.Errorf("%s: other points than without headings:\n%s", format, c.text)
			}
		}
		a, _ := points("## a\n" + section + "\n## b\n" + section)
		b, _ := points("## b\n" + section + "\n## a\n" + section)
		if !slices.Equal(a, b) {
			t.Errorf("%s: the order of the headings changes points", format)
		}
	}
}

// TestHeadingsOfLines: result lines of one Go benchmark are samples of one run, also below headings of repeats, but not under headings that
// tell points apart.
func TestHeadingsOfLines(t *testing.T) {
	t.Parallel()
	const a, b = "BenchmarkA-8 1000 1000 ns/op\n", "BenchmarkA-8 1000 900 ns/op\n"
	for text, want := range map[string]string{
		"pkg: x\n" + a + b: ":2",
		"## fast\npkg: x\n" + a + a + "## slow\n" + b:      "fast:2 slow:1",
		"pkg: x\n## fast\n" + a + "## slow\n" + b + b:      "fast:1 slow:2",
		"pkg: x\n## Run 1\n" + a + "## Run 2\n" + b + b:    ":3",
		"pkg: x\n" + a + "## fast\n" + b + "## slow\n" + b: ":1 fast:1 slow:1",
	} {
		_, _, runs, err := One(All(), fstest.MapFS{"a.md": {Data: []byte(text)}}, "a.md")
		var got []string
		for _, r := range runs {
			got = append(got, fmt.Sprintf("%s:%d", r.Params["heading"], len(r.Metrics[0].Values())))
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestHeadingsAgain: a text with headings adds nothing when it is read again, and only its new runs after it has grown.
func TestHeadingsAgain(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 3 {
		text += fmt.Sprintf("## GPU %s\n%s\n", strings.Repeat("x", i), llamaSection("", "pp512", fmt.Sprint(100+i), ""))
	}
	reader, all := foreign.NewReader(foreign.Added{}, nil), All()
	added := func(content string) (n int) {
		read(reader, all, file{name: "a.md", content: []byte(content)}, func(schema.Valid) bool { n++; return true })
		return n
	}
	if first, again, grown := added(text), added(text), added(text+"## other\n"+llamaSection("", "tg64", "7", "")); first != 3 || again != 0 || grown != 1 {
		t.Errorf("%d runs, then %d, then %d, want 3, 0, 1", first, again, grown)
	}
}

// TestHeadingNumbers: a number in a heading tells points apart, unless it counts repeats, and so does each other word that only
// looks like a part of a time.
func TestHeadingNumbers(t *testing.T) {
	t.Parallel()
	all := All()
	for _, section := range []string{llamaSection("", "pp512", "490.10", "\n"), madeUpSections["go-bench"][0]} {
		points := func(text string) map[string]bool {
			_, _, runs, err := One(all, fstest.MapFS{"results.md": {Data: []byte(text)}}, "results.md")
			if err != nil {
				t.Fatal(err)
			}
			of := map[string]bool{}
			for _, r := range runs {
				of[r.PointID] = true
			}
			return of
		}
		one := len(points(section))
		for _, c := range []struct {
			a, b  string
			times int
		}{
			{"## RTX-4090", "## RTX-3090", 2},
			{"## ctx-1024", "## ctx-2048", 2},
			{"## driver 2024.1.0", "## driver 2024.2.0", 2},
			{"## driver 2024-1-0", "## driver 2024-2-0", 2},
			{"## batch 16:32", "## batch 16:64", 2},
			{"## batch 16:32", "## batch 16:48", 2},
			{"=== 512 ===", "=== 1024 ===", 2},
			{"## 1073741824", "## 1610612736", 2},
			{"## +1000 MHz", "## +2000 MHz", 2},
			{"## -5", "## 5", 2},
			{"## C#", "## C", 2},
			{"## iterations 100", "## iterations 200", 2},
			{"## run 16x", "## run 32x", 2},
			{"## Sun", "## Sat", 2},
			{"## lab-2026-11-01", "## lab-2026-11-02", 2},
			{"## 2026-13-01", "## 2026-14-01", 2},
			{"## Run 1", "## Run 2", 1},
			{"## #1", "## #2 of 3", 1},
			{"## iteration 4", "## try 2", 1},
			{"## repeat-1", "## pass #2", 1},
			{"## warm (2026-11-01)", "## warm [2026-11-02 10:11]", 1},
			{"## 2026-11-01T10:11:12.5Z", "## 2026-11-01 10:11:12 +0100", 1},
			{"## Sun Nov 29 00:53:54 UTC 2026", "## Mon Nov 30 2026", 1},
			{"## 29 Nov 2026, run 1", "## 10:11:12", 1},
		} {
			if got := points(c.a + "\n" + section + "\n" + c.b + "\n" + section); len(got) != c.times*one {
				t.Errorf("%q, %q: %d points, want %d", c.a, c.b, len(got), c.times*one)
			}
		}
	}
}

// TestHeadingsOfPipe: a text that can be read only once has the points of the same text in a file, however long it is.
func TestHeadingsOfPipe(t *testing.T) {
	t.Parallel()
	text := "## GPU 0\n" + llamaSection("", "pp512", "490.10", "") + strings.Repeat("what a program printed\n", 30_000) + "\n## GPU 1\n" + llamaSection("", "pp512", "828.10", "")
	all := All()
	for _, content := range []string{text, strings.Repeat("what a program printed\n", 30_000) + text} {
		in := Input(t, "-", content)
		defer in.Close()
		format, err := in.Format(all)
		if err != nil {
			t.Fatal(err)
		}
		heads := map[string]int{}
		_, err = foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(v schema.Valid) bool { heads[v.Run().Params["heading"]]++; return true })
		if err != nil || heads["GPU 0"] != 1 || heads["GPU 1"] != 1 {
			t.Errorf("%v under headings %v, want one run under each of two", err, heads)
		}
	}
	in, err := foreign.FromReader(io.MultiReader(strings.NewReader(text), strings.NewReader(strings.Repeat(strings.Repeat("x", 1<<10)+"\n", 128<<10))), "-", nil)
	if err != nil {
		t.Fatal(err)
	}
	format, err := in.Format(all)
	if err != nil {
		t.Fatal(err)
	}
	_, err = foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(schema.Valid) bool { t.Error("a run of a stream whose headings are not known"); return false })
	if err == nil || !strings.HasSuffix(err.Error(), "save it as a file") {
		t.Errorf("%v, want an error that names the remedy", err)
	}
}

// TestEqualUnderTitles: equal results below different lines that are no headings are repeats, and the report says so.
func TestEqualUnderTitles(t *testing.T) {
	t.Parallel()
	all := All()
	for _, section := range []string{llamaSection("", "pp512", "490.10", "\n"), madeUpSections["go-bench"][0], ncclSection("all_reduce_perf", "sum", "10.00"), madeUpSections["vllm-text"][0]} {
		for _, c := range []struct {
			a, b  string
			noted bool
		}{
			{"GPU 0 only:", "GPU 1 only:", true},
			{">>> A <<<", ">>> B <<<", true},
			{"[A]", "[B]", true},
			{"+ ./llama-bench -t 4", "+ ./llama-bench -t 8", true},
			{"again:", "again:", false},
			{"run 1:", "run 2:", false},
			{"", "", false},
			{"## A", "## B", false},
		} {
			text := c.a + "\n" + section + c.b + "\n" + section
			_, report, _, err := One(all, fstest.MapFS{"results.log": {Data: []byte(text)}}, "results.log")
			noted := slices.ContainsFunc(report.Noted(), func(s string) bool { return strings.HasPrefix(s, "equal results below different lines, such as ") })
			if err != nil || noted != c.noted {
				t.Errorf("%v, notes %q of:\n%s", err, report.Noted(), text)
			}
		}
	}
}
