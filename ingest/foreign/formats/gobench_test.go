package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestGoStamps: the time of a process and its storage are no axes: two such processes measure one point.
func TestGoStamps(t *testing.T) {
	const lines = "BenchmarkX-8 10 5.0 ns/op\n"
	monday, _ := readText(t, goBench, "date: 2026-01-05\nrunstamp: 1\nupload: 20260105.1\ntoolchain: a\n"+lines)
	tuesday, _ := readText(t, goBench, "date: 2026-01-06\nrunstamp: 2\nupload: 20260106.7\ntoolchain: a\n"+lines)
	if len(monday) != 1 || len(tuesday) != 1 || monday[0].PointID != tuesday[0].PointID || monday[0].Params["toolchain"] != "a" {
		t.Errorf("%s\n%s", points(monday), points(tuesday))
	}
}

// TestGoBreaksOff: the beginning of a unit is none, where the text may break off in it.
func TestGoBreaksOff(t *testing.T) {
	const line = "BenchmarkX-8 10 5.0 ns/op 7.5 p99-ns 16 B/op"
	for end := 1; end <= len(line); end++ {
		for before, want := range map[string]int{"": 0, line + "\n": 1} {
			runs, _ := readText(t, goBench, "PASS\nok  \tx\t0.1s\n"+before+line[:end])
			words := strings.Fields(line[:end])
			unit := words[len(words)-1]
			if len(words) > 3 && len(words)%2 == 0 && (unit == "ns/op" || unit == "B/op" || unit == "p99-ns" && want > 0) {
				want++
			}
			got := 0
			for _, r := range runs {
				got += len(r.Metrics[0].Ticks) + len(r.Metrics[0].Reals)
			}
			if got != want {
				t.Errorf("%q: %d samples, want %d", before+line[:end], got, want)
			}
		}
	}
}

// TestGoShared: the runs of a process share its environment, but not their units.
func TestGoShared(t *testing.T) {
	runs, _ := readText(t, goBench, "goos: linux\nbuilder_type: a\n"+
		"BenchmarkA-8 10 5.0 sec/op\nBenchmarkB-8 10 6.0 sec/op\nBenchmarkC-8 10 6.0 ns/op\n"+
		"goos: plan9\nbuilder_type: b\x00\nBenchmarkD-8 10 6.0 ns/op\nBenchmarkE-8 10 6.0 ns/op\n--- FAIL: BenchmarkF\n")
	want := []struct{ os, builder, unit string }{
		{"linux", "a", "sec"}, {"linux", "a", "sec"}, {"linux", "a", ""}, {"plan9", "b", ""}, {"plan9", "b", ""}, {"plan9", "b", ""},
	}
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, r := range runs {
		w := want[i]
		unit := strings.TrimSuffix(r.Env.Facts["source.unit.latency"], "/op")
		if r.Env.OS != w.os || r.Env.Facts["builder_type"] != w.builder || (unit == "sec") != (w.unit == "sec") {
			t.Errorf("run %d, %s: %s, facts %v; want %v", i, r.Benchmark, r.Env.OS, r.Env.Facts, w)
		}
		if removed := strings.Contains(strings.Join(r.Warnings, " "), "NUL"); removed != (w.builder == "b") {
			t.Errorf("run %d: warnings %q", i, r.Warnings)
		}
	}
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

// TestGoProcesses: the lines of one process become one run of a benchmark.
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
		runs, report := readText(t, goBench, test.text)
		var got []int
		for _, r := range runs {
			got = append(got, len(r.Metrics[0].Ticks))
		}
		if fmt.Sprint(got) != fmt.Sprint(test.samples) || report.Refused > 0 {
			t.Errorf("%s: got runs of %v samples, %d refused; want %v", test.what, got, report.Refused, test.samples)
		}
	}
}

// TestGoHeaderEnds: the header of a package does not apply to the next one.
func TestGoHeaderEnds(t *testing.T) {
	runs, _ := readText(t, goBench, "goos: linux\npkg: a\ncpu: X\nBenchmarkX-2 1 1 ns/op\nPASS\ngoos: plan9\nBenchmarkX-2 1 1 ns/op\n")
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
		runs, _ := readText(t, goBench, test.text)
		if len(runs) == 0 {
			t.Errorf("%s: no run", test.what)
			continue
		}
		last := runs[len(runs)-1]
		if got := Point(&last); got != test.point || last.Status != test.status || len(last.Metrics) > 0 {
			t.Errorf("%s: got %s, %s with %d metrics; want %s, %s", test.what, got, last.Status, len(last.Metrics), test.point, test.status)
		}
	}
}

// TestGoNumber: numbers are those that Go prints, of which strconv.ParseFloat reads more.
func TestGoNumber(t *testing.T) {
	for _, unit := range []string{"ns/op", "MB/s", "sec/op", "rows", "KiB", "min", "%"} {
		u := goUnitOf(unit)
		for text, want := range map[string]bool{
			"0": true, "44.6": true, "0.0000002": true, "12345678901234567890": true, "5.": true, ".5": true, "1.5e-7": true, "-3": true,
			"+4.25": true, "NaN": true, "+Inf": true, "-Inf": true, "1e400": true, "": false, ".": false, "-": false, "1.2.3": false, "1e": false,
			"0x10": false, "0x1p4": false, "1_0": false, "nan": false, "1,5": false, "Infinity": false, "--5": false, "+NaN": false,
		} {
			_, err := u.scale.Value([]byte(text))
			if got := err == nil && isGoNumber([]byte(text)); got != want {
				t.Errorf("%s %s: a number: %t", text, unit, got)
			}
		}
	}
}

// TestGoLongLine: a line that is too long is refused by its number, and those after it are read.
func TestGoLongLine(t *testing.T) {
	text := "BenchmarkX-2 10 5 ns/op\nBenchmarkX-2 10 " + strings.Repeat("1 u ", 100_000) + "\nBenchmarkX-2 10 6 ns/op\n"
	runs, report := readText(t, goBench, text)
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
	runs, report := readText(t, goBench, text)
	if got, want := points(runs), "a/X param.gomaxprocs=2\nb/X param.gomaxprocs=2\n"; got != want || report.Refused != 1 {
		t.Errorf("got %s and %+v, want %s", got, report, want)
	}
}

// TestGoSource: results in the source of a program are not read.
func TestGoSource(t *testing.T) {
	const result = "BenchmarkX-4 100 5 ns/op\n"
	for text, want := range map[string]bool{
		result: true, "package vec\n\n/*\n" + result + "*/\n": false, "package vec: 3 benchmarks\n" + result: true,
	} {
		in := Input(t, "results", text)
		if got := goBench.Recognize(in.Head); got != want {
			t.Errorf("%q: recognised %t, want %t", text, got, want)
		}
	}
}
