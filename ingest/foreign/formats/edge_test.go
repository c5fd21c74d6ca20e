package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

// readText reads a text with a format.
func readText(t *testing.T, format foreign.Format, text string) ([]schema.Run, foreign.Report) {
	t.Helper()
	in, err := foreign.FromReader(strings.NewReader(text), "results", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !format.Recognize(in.Head) {
		t.Fatalf("not recognised: %.60s", text)
	}
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool {
		r := valid.Run()
		runs = append(runs, r)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs, report
}

// points are what runs measured, one a line.
func points(runs []schema.Run) string {
	var b strings.Builder
	for i := range runs {
		b.WriteString(foreigntest.Point(&runs[i]) + "\n")
	}
	return b.String()
}

// TestGoProcs: which number at the end of a name is GOMAXPROCS.
func TestGoProcs(t *testing.T) {
	for _, test := range []struct{ what, names, want string }{
		{"one number on all names", "A/n=1-8 A/n=2-8", "A n=1 8|A n=2 8"},
		{"functions decide", "A/k=f-16 B", "A k=f-16 |B  "},
		{"functions decide, on 1 and 2", "A/k=f-16 A/k=f-16-2 B B-2", "A k=f-16 |A k=f-16 2|B  |B  2"},
		{"a function has no - in its name", "B-4", "B  4"},
		{"with and without", "A/k=f-16 A/k=f-16-2 A/k=g A/k=g-2", "A k=f-16 |A k=f-16 2|A k=g |A k=g 2"},
		{"without, and never with the same", "A/k=f-16 A/k=g", "A k=f-16 |A k=g "},
		{"1 is never printed", "A-1", "A-1  "},
		{"no leading zeros", "A/k=f-08", "A k=f-08 "},
	} {
		names := map[string]bool{}
		for _, name := range strings.Fields(test.names) {
			names["Benchmark"+name] = true
		}
		procs := goProcsOf(names)
		var got []string
		for _, name := range strings.Fields(test.names) {
			base, number := procs.split("Benchmark" + name)
			name, axis, _ := strings.Cut(strings.TrimPrefix(base, "Benchmark"), "/")
			got = append(got, name+" "+axis+" "+number)
		}
		if text := strings.Join(got, "|"); text != test.want {
			t.Errorf("%s: got %s, want %s", test.what, text, test.want)
		}
	}
}

// TestGoProcesses: what is one process, and so one run of a benchmark.
func TestGoProcesses(t *testing.T) {
	head := "goos: linux\ngoarch: amd64\npkg: vec\n"
	line := "BenchmarkX-2 10 5 ns/op\n"
	for _, test := range []struct {
		what, text string
		samples    []int
	}{
		{"repetitions", head + line + line, []int{2}},
		{"two processes", head + line + "PASS\nok  \tvec\t1s\n" + head + line + line, []int{1, 2}},
		{"two processes of which the end was cut off", head + line + head + line, []int{1, 1}},
		{"results only", line + line, []int{2}},
		{"another one between", line + "BenchmarkY 1 1 ns/op\n" + line, []int{1, 1, 1}},
		{"a panic that was caught", head + line + "panic: caught\nPASS\n", []int{1}},
		{"what it prints between", "BenchmarkX-2   \thello\n  10\t 5 ns/op\n" + line, []int{2}},
	} {
		runs, report := readText(t, goBench(), test.text)
		var got []int
		for _, r := range runs {
			got = append(got, len(r.Metrics[0].Ticks))
		}
		if fmt.Sprint(got) != fmt.Sprint(test.samples) || report.Refused > 0 {
			t.Errorf("%s: got runs of %v samples, %d refused; want %v", test.what, got, report.Refused, test.samples)
		}
	}
}

// TestGoHeaderEnds: a package that says nothing of itself has not got what the one before said.
func TestGoHeaderEnds(t *testing.T) {
	runs, _ := readText(t, goBench(), "goos: linux\npkg: a\ncpu: X\nBenchmarkX-2 1 1 ns/op\nPASS\ngoos: plan9\nBenchmarkX-2 1 1 ns/op\n")
	if got, want := points(runs), "a/X param.gomaxprocs=2\nX param.gomaxprocs=2\n"; got != want || runs[1].Env.CPUModel != "" || runs[1].Env.OS != "plan9" {
		t.Errorf("got %s with %+v, want %s", got, runs[1].Env, want)
	}
}

// TestGoFailures: how a process ended that told of no benchmark that failed.
func TestGoFailures(t *testing.T) {
	for _, test := range []struct {
		what, text, point string
		status            schema.Status
	}{
		{"a panic", "BenchmarkX   \tpanic: boom\n\tx.go:3\nexit status 2\nFAIL\tvec\t1s\n", "X", schema.StatusCrashed},
		{"a panic of a program of its own", "BenchmarkX   \tpanic: boom\n", "X", schema.StatusCrashed},
		{"a time-out", "pkg: vec\nBenchmarkX-2   \tpanic: test timed out after 1s\nFAIL\tvec\t1s\n", "vec/X param.gomaxprocs=2", schema.StatusTimeout},
		{"os.Exit", "BenchmarkY 1 1 ns/op\nexit status 3\nFAIL\tvec\t1s\n", "vec", schema.StatusError},
		{"no build", "BenchmarkY 1 1 ns/op\nPASS\nFAIL\tvec [build failed]\n", "vec", schema.StatusError},
		{"skipped", "--- SKIP: BenchmarkX/k=1\n    x_test.go:3: no GPU\n", "X param.k=1", schema.StatusSkipped},
	} {
		runs, _ := readText(t, goBench(), test.text)
		if len(runs) == 0 {
			t.Errorf("%s: no run", test.what)
			continue
		}
		last := runs[len(runs)-1]
		if got := foreigntest.Point(&last); got != test.point || last.Status != test.status || len(last.Metrics) > 0 {
			t.Errorf("%s: got %s, %s with %d metrics; want %s, %s", test.what, got, last.Status, len(last.Metrics), test.point, test.status)
		}
	}
}

// TestGoNumber: numbers of all spellings are what the general reader of numbers makes of them.
func TestGoNumber(t *testing.T) {
	for _, unit := range []string{"ns/op", "MB/s", "sec/op", "rows", "KiB", "min", "%"} {
		u := goUnitOf(unit)
		for _, text := range []string{
			"0", "5", "44.6", "0.0000002", "1401.05", "123456789012345", "1234567890123456", "12345678901234567890", "0.1", "5.", ".5",
			"1e3", "1.5e-7", "-3", "+4.25", "NaN", "+Inf", "-Inf", "9007199254740993", "1e400", "0.30000000000000004", "999999999999.999",
		} {
			want, ok := goAnyNumber([]byte(text), &u)
			got, gotOK := goNumber([]byte(text), &u)
			if !ok || !gotOK || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %s: got %v %v, want %v %v", text, unit, got, gotOK, want, ok)
			}
		}
		for _, text := range []string{"", ".", "-", "1.2.3", "1e", "0x10", "1_0", "nan", "1,5", "Infinity"} {
			if got, ok := goNumber([]byte(text), &u); ok {
				t.Errorf("%q is read as %v", text, got)
			}
		}
	}
}

// TestGoLongLine: a line that is too long is refused by its number, and those after it are read.
func TestGoLongLine(t *testing.T) {
	text := "BenchmarkX-2 10 5 ns/op\nBenchmarkX-2 10 " + strings.Repeat("1 u ", 100_000) + "\nBenchmarkX-2 10 6 ns/op\n"
	runs, report := readText(t, goBench(), text)
	if len(runs) != 1 || len(runs[0].Metrics[0].Ticks) != 2 || report.Refused != 1 || report.Refusals[0].Where != "line 2" {
		t.Errorf("got %d runs, %+v", len(runs), report)
	}
}

// TestGoPackagesAtOnce: lines of packages that are tested at the same time, in pieces.
func TestGoPackagesAtOnce(t *testing.T) {
	event := func(pkg, test, output string) string {
		return fmt.Sprintf(`{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":%q,"Test":%q,"Output":%q}`+"\n", pkg, test, output)
	}
	text := event("a", "", "pkg: a\n") + event("b", "", "pkg: b\n") + event("a", "BenchmarkX", "BenchmarkX-2  \t") + event("b", "BenchmarkX", "BenchmarkX-2 \t") +
		event("a", "BenchmarkX", "10\t5 ns/op\n") + event("b", "BenchmarkX", "20\t6 ns/op\n") + "not an event\n{\"Action\":7}\n"
	runs, report := readText(t, goBench(), text)
	if got, want := points(runs), "a/X param.gomaxprocs=2\nb/X param.gomaxprocs=2\n"; got != want || report.Refused != 1 {
		t.Errorf("got %s and %+v, want %s", got, report, want)
	}
}

// TestGoogleNames: what of a name is the benchmark, and what a parameter.
func TestGoogleNames(t *testing.T) {
	for name, want := range map[string]string{
		"BM_x": "BM_x", "BM_x/8/-3": "BM_x param.arg0=8 param.arg1=-3", "suite/alloc/8": "suite/alloc param.arg0=8",
		"BM_x/8/word/9": "BM_x/8/word param.arg0=9", "BM_x<a/b, std::less<int>>/4": "BM_x<a/b, std::less<int>> param.arg0=4",
		"BM_x/process_time/real_time/threads:4":       "BM_x param.threads=4 param.time=process_time/real_time",
		"BM_x/dtype:int7/model:m/min_warmup_time:0.5": "BM_x model=m param.dtype=int7 param.min_warmup_time=0.5",
		"BM_x/bs:1/batch:2":                           "BM_x/bs:1/batch:2",
		"ns::call/iterations:7/repeats:2/manual_time": "ns::call param.iterations=7 param.repeats=2 param.time=manual_time",
		"BM_x/":          "BM_x/",
		"BM_(a/b)/k:v/8": "BM_(a/b) param.arg1=8 param.k=v",
	} {
		var c gbenchContext
		var r schema.Run
		c.setName(&r, name)
		if got := foreigntest.Point(&r); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestHeaderBehind: what stands behind the records holds for them, however large a file is.
func TestHeaderBehind(t *testing.T) {
	rows := strings.Repeat(`{"name": "BM_x", "iterations": 1, "real_time": 2, "cpu_time": 1, "time_unit": "ns"},`, 10_000)
	text := `{"benchmarks": [` + strings.TrimSuffix(rows, ",") + `], "context": {"host_name": "lab3", "date": "2026-01-02T03:04:05+00:00"}}`
	runs, _ := readText(t, googleBenchmark(), text)
	if len(runs) != 1 || len(runs[0].Metrics[0].Ticks) != 10_000 || runs[0].Env.Hostname != "lab3" || runs[0].StartedAt.IsZero() {
		t.Errorf("got %d runs", len(runs))
	}
}

// TestHostileMicrobenchmarks: what no tool writes is refused, not taken for something else, and does not stop what stands beside it.
func TestHostileMicrobenchmarks(t *testing.T) {
	deep := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)
	for _, test := range []struct {
		format        foreign.Format
		text          string
		runs, refused int
	}{
		{googleBenchmark(), `{"context": 5, "benchmarks": [{"name": "BM_x", "real_time": 1, "x": ` + deep + `}, {"name": "BM_y", "real_time": 1}]}`, 1, 2},
		{googleBenchmark(), "{\"context\": {\"host_name\": \"\xff\"}, \"benchmarks\": [{\"name\": \"\xff\", \"real_time\": 1e999}, {\"real_time\": []}]}", 1, 1},
		{pytestBenchmark(), `{"machine_info": [], "commit_info": {"dirty": "yes"}, "benchmarks": [[], {"fullname": "t", "stats": {"data": [[1], []]}, "params": {"a": null, "a": 1}, "param": "-"}]}`, 1, 3},
		{hyperfine(), `{"results": [{"command": "x", "times": [1], "exit_codes": ["0"]}, {"command": "y", "mean": 1e999}, {"command": "z", "times": {}}, {"command": "v", "times": [1]}]}`, 1, 3},
		{goBench(), "BenchmarkX 99999999999999999999 1 ns/op\nBenchmark\xff 1 1 \xff\nBenchmarkX 1 1 ns/op\nkey: \xff\nBenchmarkY 1 1 %a 2 $a\n", 2, 1},
	} {
		runs, report := readText(t, test.format, test.text)
		if len(runs) != test.runs || report.Refused != test.refused {
			t.Errorf("%.60s: got %d runs and %+v, want %d and %d refused", test.text, len(runs), report, test.runs, test.refused)
		}
	}
}

// TestPytestSorted: parameters in another order than in the id of the test are the same parameters.
func TestPytestSorted(t *testing.T) {
	file := `{"machine_info":{},"commit_info":{},"benchmarks":[{"fullname":"t.py::test_a[%s]","param":"%[1]s","params":%s,"stats":{"mean":1}}]}`
	for _, test := range []struct{ id, params, want string }{
		{"2-0.5-ab", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.n=2 param.s=ab param.x=0.5\n"},
		{"2-0.5-ab", `{"s":"ab","n":2,"x":0.5}`, "t.py::test_a param.n=2 param.s=ab param.x=0.5\n"},
		{"a-b--1", `{"s":"a-b","n":-1}`, "t.py::test_a param.n=-1 param.s=a-b\n"},
		{"2-0.5-small", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.id=2-0.5-small param.n=2 param.s=ab param.x=0.5\n"},
		{"1-2", `{"bs":1,"batch_size":2}`, "t.py::test_a param.id=1-2\n"},
		{"2-0.5", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.id=2-0.5 param.n=2 param.s=ab param.x=0.5\n"},
	} {
		runs, _ := readText(t, pytestBenchmark(), fmt.Sprintf(file, test.id, test.params))
		if got := points(runs); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.id, test.params, got, test.want)
		}
	}
}

// TestGbenchCounters: a counter that is called as a metric of Google Benchmark is another metric.
func TestGbenchCounters(t *testing.T) {
	runs, _ := readText(t, googleBenchmark(), `{"context":{},"benchmarks":[{"name":"BM_a","run_type":"iteration","iterations":10,
"real_time":5,"cpu_time":4,"time_unit":"us","latency":77,"throughput":3.5,"items_per_second":10,"cpu_time":8,"a b":1,"a_b":2}]}`)
	var got []string
	for i := range runs[0].Metrics {
		m := &runs[0].Metrics[i]
		got = append(got, fmt.Sprint(m.Name, m.Values(), m.Better))
	}
	want := "latency[5000]lower cpu_time[4000]lower custom.latency[77]lower custom.throughput[3.5]higher throughput[10]higher custom.cpu_time[8] a_b[1] a_b_[2]"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// TestGoSource: results that stand in the source of a program are none.
func TestGoSource(t *testing.T) {
	const result = "BenchmarkX-4 100 5 ns/op\n"
	for text, want := range map[string]bool{
		result: true, "package vec\n\n/*\n" + result + "*/\n": false, "package vec: 3 benchmarks\n" + result: true,
	} {
		in, err := foreign.FromReader(strings.NewReader(text), "results", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := goBench().Recognize(in.Head); got != want {
			t.Errorf("%q: recognised %t, want %t", text, got, want)
		}
	}
}
