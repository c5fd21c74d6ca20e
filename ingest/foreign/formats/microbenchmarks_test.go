package formats

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// readText reads a text with a format.
func readText(t *testing.T, format foreign.Format, text string) ([]schema.Run, foreign.Report) {
	t.Helper()
	in := Input(t, "results", text)
	if !format.Recognize(in.Head) {
		t.Fatalf("not recognised: %.60s", text)
	}
	report, runs, err := Read(in, format)
	if err != nil {
		t.Fatal(err)
	}
	return runs, report
}

// points lists the points of runs, one a line.
func points(runs []schema.Run) string {
	var b strings.Builder
	for i := range runs {
		b.WriteString(Point(&runs[i]) + "\n")
	}
	return b.String()
}

// TestHostileMicrobenchmarks: records that no tool writes are refused, and the records beside them are read.
func TestHostileMicrobenchmarks(t *testing.T) {
	deep := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)
	for _, test := range []struct {
		format        foreign.Format
		text          string
		runs, refused int
	}{
		{googleBenchmark, `{"context": 5, "benchmarks": [{"name": "BM_x", "real_time": 1, "x": ` + deep + `}, {"name": "BM_y", "real_time": 1}]}`, 1, 2},
		{googleBenchmark, "{\"context\": {\"host_name\": \"\xff\"}, \"benchmarks\": [{\"name\": \"\xff\", \"real_time\": 1e999}, {\"real_time\": []}]}", 1, 1},
		{pytestBenchmark, `{"machine_info": [], "commit_info": {"dirty": "yes"}, "benchmarks": [[], {"fullname": "t", "stats": {"data": [[1], []]}, "params": {"a": null, "a": 1}, "param": "-"}]}`, 1, 3},
		{hyperfine, `{"results": [{"command": "x", "times": [1], "exit_codes": ["0"]}, {"command": "y", "mean": 1e999}, {"command": "z", "times": {}}, {"command": "v", "times": [1]}]}`, 1, 3},
		{goBench, "BenchmarkX 99999999999999999999 1 ns/op\nBenchmark\xff 1 1 \xff\nBenchmarkX 1 1 ns/op\nkey: \xff\nBenchmarkY 1 1 %a 2 $a\n", 2, 1},
	} {
		runs, report := readText(t, test.format, test.text)
		if len(runs) != test.runs || report.Refused != test.refused {
			t.Errorf("%.60s: got %d runs and %+v, want %d and %d refused", test.text, len(runs), report, test.runs, test.refused)
		}
	}
}

// TestAppended: results that were appended to one another are all read, and text after them is not.
func TestAppended(t *testing.T) {
	for _, test := range []struct {
		format foreign.Format
		file   string
	}{
		{pytestBenchmark, "pytest-benchmark/json_5.3.1.json"},
		{googleBenchmark, "google-benchmark/repetitions_1.7.1.json"},
		{hyperfine, "hyperfine/parameters_1.15.0.json"},
		{jmh, "jmh/gc.json"},
		{pyperf, "pyperf/suite.json"},
	} {
		content, err := os.ReadFile(path.Join(root, "fixtures/results", test.file))
		if err != nil {
			t.Fatal(err)
		}
		once, _ := readText(t, test.format, string(content))
		text, _ := readText(t, test.format, string(content)+"\nDone in 3 s\n")
		if len(once) == 0 || points(text) != points(once) {
			t.Errorf("%s and a line of text: %d runs, alone %d", test.file, len(text), len(once))
		}
		twice, _ := readText(t, test.format, string(content)+"\n"+string(content))
		if points(twice) != points(once)+points(once) {
			t.Errorf("%s appended to itself: %d runs, alone %d", test.file, len(twice), len(once))
		}
		for i := range twice {
			if at := once[i%len(once)].StartedAt; !twice[i].StartedAt.Equal(at) {
				t.Errorf("%s appended to itself: run %d began at %v, alone at %v", test.file, i, twice[i].StartedAt, at)
			}
		}
	}
}

// TestAppendedLate: a header before the records is read also in an object beyond the beginning of the file.
func TestAppendedLate(t *testing.T) {
	row := `{"name":"BM_a","run_type":"iteration","threads":1,"iterations":10,"real_time":5,"cpu_time":5,"time_unit":"ns","label":"` +
		strings.Repeat("x", 1000) + `"},`
	rows := strings.TrimSuffix(strings.Repeat(row, 400), ",")
	runs, _ := readText(t, googleBenchmark, `{"context":{"host_name":"lab1","num_cpus":2},"benchmarks":[`+rows+`]}
{"context":{"host_name":"lab2","num_cpus":4},"benchmarks":[`+row[:len(row)-1]+`]}`)
	last := runs[len(runs)-1].Env
	if first := runs[0].Env; first.Machine != "lab1" || last.Machine != "lab2" || *last.CPUCount != 4 {
		t.Errorf("the machines are %s and %s, want lab1 and lab2", first.Machine, last.Machine)
	}
}
