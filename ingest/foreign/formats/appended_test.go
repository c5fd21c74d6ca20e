package formats

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// TestAppended: results that were appended to one another are all read, and what is printed behind them is not.
func TestAppended(t *testing.T) {
	for _, test := range []struct {
		format foreign.Format
		file   string
	}{
		{pytestBenchmark(), "pytest-benchmark/json_5.3.1.json"},
		{googleBenchmark(), "google-benchmark/repetitions_1.7.1.json"},
		{hyperfine(), "hyperfine/parameters_1.15.0.json"},
		{jmh(), "jmh/gc.json"},
		{pyperf(), "pyperf/suite.json"},
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

// TestAppendedLate: what stands before the records of an object beyond the beginning of the file is known as well.
func TestAppendedLate(t *testing.T) {
	row := `{"name":"BM_a","run_type":"iteration","threads":1,"iterations":10,"real_time":5,"cpu_time":5,"time_unit":"ns","label":"` +
		strings.Repeat("x", 1000) + `"},`
	rows := strings.TrimSuffix(strings.Repeat(row, 400), ",")
	runs, _ := readText(t, googleBenchmark(), `{"context":{"host_name":"lab1","num_cpus":2},"benchmarks":[`+rows+`]}
{"context":{"host_name":"lab2","num_cpus":4},"benchmarks":[`+row[:len(row)-1]+`]}`)
	last := runs[len(runs)-1].Env
	if first := runs[0].Env; first.Machine != "lab1" || last.Machine != "lab2" || *last.CPUCount != 4 {
		t.Errorf("the machines are %s and %s, want lab1 and lab2", first.Machine, last.Machine)
	}
}
