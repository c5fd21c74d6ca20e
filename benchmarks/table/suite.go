package main

import "regexp"

// suite are benchmarks of one package.
type suite struct {
	dir, pkg string // where go test is run, and of what
	bench    string // the benchmark; empty: all
	args     []string
	onDisk   bool     // its temporary files are to be on the disk of the stores
	figures  []figure // what its metrics are; none: they are those of a line of this module
}

// figure is a ratio that a benchmark of the program's own module reports.
type figure struct {
	unit          string // of the metric
	what, against string
	goal          float64 // the most that it may be; 0: none
}

// suites are all benchmarks, in the order of the table. Those of the program's own module are beside what they measure.
var suites = []suite{
	{dir: "..", pkg: "./runner/task", bench: "WorkerLoopRatio", args: thrice, figures: []figure{
		{"mapped/slice", "an iteration of a worker, samples in a mapped file", "the same loop with a slice", 1.1},
	}},
	{dir: "..", pkg: "./runner/task", bench: "CommandAgainstHyperfine", args: []string{"-benchtime", "1x", "-count", "5"}, figures: []figure{
		{"ours/hyperfine", "a program, median", "hyperfine -N", 1.05},
	}},
	{dir: "..", pkg: "./runner", bench: "RunnerShare", args: []string{"-benchtime", "1x", "-count", "5"}, figures: []figure{
		{"share", "CPU of the runner while a benchmark measures", "one core", 0.01},
	}},
	{dir: "..", pkg: "./ingest", bench: "AppendOverFloor", args: []string{"-benchtime", "1000x", "-count", "5"}, onDisk: true, figures: []figure{
		{"ratio", "durable append of a run of 1,000 samples", "the same bytes written, fsynced and linked, directory fsynced", 1.25},
		{"of-json", "durable append of a run of 1,000 samples", "a JSON document of the run, written and fsynced likewise", 1},
	}},
	{dir: "..", pkg: "./ingest", bench: "SealOverRead", args: thrice, figures: []figure{
		{"ratio", "sealing", "reading the same live files with parquet-go", 3},
	}},
	{dir: "..", pkg: "./schema/table", bench: "SampleSize", args: thrice, figures: []figure{
		{"ratio", "bytes of a sample on disk", "the entropy of the measured values", 0},
	}},
	{dir: "..", pkg: "./ingest/foreign/formats", bench: "TorchTrace", args: []string{"-benchtime", "1x", "-count", "3"}, figures: []figure{
		{"ratio", "reading a PyTorch trace of 200 MB", "encoding/json into an any", 1.5},
	}},
	{dir: "..", pkg: "./cmd/neurolens", bench: "Process", args: []string{"-benchtime", "40x", "-count", "3"}, figures: []figure{
		{"ls/bare", "ls of 1,000 runs", openDuckDB, 2.5},
		{"filter/bare", "ls with a filter by columns", openDuckDB, 12},
		{"filter-param/bare", "ls with a filter by a parameter", openDuckDB, 12},
		{"query/bare", "query", openDuckDB, 0},
		{"version/bare", "version, which opens no DuckDB", openDuckDB, 0},
		{"version/true", "version, which opens no DuckDB", "the program true", 10},
	}},
	{dir: ".", pkg: ".", args: []string{"-benchtime", "1x"}},
}

const openDuckDB = "a process that opens DuckDB"

// thrice are the arguments of a benchmark that is run three times, which show its noise.
var thrice = []string{"-count", "3"}

// matches tells whether a benchmark is one of those that a user chose.
func matches(pattern, bench string) (bool, error) {
	chosen, err := regexp.Compile(pattern)
	return err == nil && chosen.MatchString(bench), err
}
