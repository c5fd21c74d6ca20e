package formats_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

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
	all := formats.All()
	for _, format := range all {
		if format.OwnHeadings != nil && sections[format.Name] == "" {
			t.Errorf("no section of %s", format.Name)
		}
	}
	for format, section := range sections {
		points := func(text string) (points, heads []string) {
			name := "results.log"
			got, report, runs, err := foreigntest.One(all, fstest.MapFS{name: {Data: []byte(text)}}, name)
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

// TestHeadingsOfLines: result lines of one Go benchmark are samples of one run, also below headings of repeats, but not under headings that tell points
// apart.
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
		_, _, runs, err := foreigntest.One(formats.All(), fstest.MapFS{"a.md": {Data: []byte(text)}}, "a.md")
		var got []string
		for _, r := range runs {
			got = append(got, fmt.Sprintf("%s:%d", r.Params["heading"], len(r.Metrics[0].Values())))
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestHeadingsAgain: a text with headings that was read adds nothing the second time, and only what is new after it has grown.
func TestHeadingsAgain(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 3 {
		text += fmt.Sprintf("## GPU %s\n%s\n", strings.Repeat("x", i), llamaSection("", "pp512", fmt.Sprint(100+i), ""))
	}
	reader, all := foreign.NewReader(foreign.Added{}, nil), formats.All()
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
	all := formats.All()
	for _, section := range []string{llamaSection("", "pp512", "490.10", "\n"), madeUpSections["go-bench"][0]} {
		points := func(text string) map[string]bool {
			_, _, runs, err := foreigntest.One(all, fstest.MapFS{"results.md": {Data: []byte(text)}}, "results.md")
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
	all := formats.All()
	for _, content := range []string{text, strings.Repeat("what a program printed\n", 30_000) + text} {
		in, err := foreign.FromReader(strings.NewReader(content), "-", nil)
		if err != nil {
			t.Fatal(err)
		}
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
	all := formats.All()
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
			_, report, _, err := foreigntest.One(all, fstest.MapFS{"results.log": {Data: []byte(text)}}, "results.log")
			noted := slices.ContainsFunc(report.Noted(), func(s string) bool { return strings.HasPrefix(s, "equal results below different lines, such as ") })
			if err != nil || noted != c.noted {
				t.Errorf("%v, notes %q of:\n%s", err, report.Noted(), text)
			}
		}
	}
}
