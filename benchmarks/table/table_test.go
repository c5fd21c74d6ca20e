package main

import (
	"strings"
	"testing"
)

// TestTable: every line of a benchmark of this module is a row, with what it is compared with and whether it holds its goals.
func TestTable(t *testing.T) {
	t.Parallel()
	const out = `goos: linux
against: a process that opens DuckDB
BenchmarkCommands/1M/ls,_newest_20-2    1    1.5 cpu-ratio    2 goal    300e6 goal-bytes    70.2 ms    96e6 peak-bytes    1.66 ratio    1.9 ratio-high    1.6 ratio-low
BenchmarkCommands/1M/store_info-2    1    300e6 goal-bytes    132e6 peak-bytes    11.8 ratio    12 ratio-high    11 ratio-low
some text
against: COPY of DuckDB
BenchmarkExport/csv-2    1    2 goal    300e6 goal-bytes    350e6 peak-bytes    99e6 their-peak-bytes    0.7 ratio    0.8 ratio-high    0.6 ratio-low
BenchmarkWrites/append-2    1    1.2 goal    1.3 ratio    1.4 ratio-high    1.25 ratio-low
BenchmarkWrites/seal-2    1    1.2 goal    1.1 ratio    1.4 ratio-high    1 ratio-low
PASS
`
	rows, err := suite{}.rows(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	const want = `
| what                      | against                     | ratio | from | to  | CPU | ms   | MB  | its MB | goal      |        |
| ------------------------- | --------------------------- | ----- | ---- | --- | --- | ---- | --- | ------ | --------- | ------ |
| Commands/1M/ls, newest 20 | a process that opens DuckDB | 1.66  | 1.6  | 1.9 | 1.5 | 70.2 | 96  |        | 2, 300 MB | held   |
| Commands/1M/store info    | a process that opens DuckDB | 11.8  | 11   | 12  |     |      | 132 |        | 300 MB    | held   |
| Export/csv                | COPY of DuckDB              | 0.7   | 0.6  | 0.8 |     |      | 350 | 99     | 2, 300 MB | missed |
| Writes/append             | COPY of DuckDB              | 1.3   | 1.25 | 1.4 |     |      |     |        | 1.2       | missed |
| Writes/seal               | COPY of DuckDB              | 1.1   | 1    | 1.4 |     |      |     |        | 1.2       | near   |
`
	if got := "\n" + markdown(rows); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}

// TestFigures: a benchmark of another package that is run several times is one row, from its lowest to its highest ratio.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := suite{figures: []figure{{"ratio", "an append", "the floor", 1.25}, {"of-json", "an append", "JSON", 0}}}
	rows, err := s.rows(strings.NewReader("BenchmarkAppend/large-2 1000 99 ns/op 1.2 of-json 1.3 ratio\nBenchmarkAppend/large-2 1000 99 ns/op 1.1 of-json 1.9 ratio\nBenchmarkAppend/large-2 1000 99 ns/op 1.1 of-json 1.4 ratio\n"))
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if r := rows[0]; r.what != "an append: large" || r.against != "the floor" || r.ratio != 1.4 || r.low != 1.3 || r.high != 1.9 || r.verdict() != missed {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.against != "JSON" || r.low != 1.1 || r.verdict() != "" {
		t.Errorf("%+v", r)
	}
}

// TestArguments: more than one expression, and a flag, are refused; an expression that is none is named.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"a", "b"}, {"-bench"}, {"("}} {
		if _, err := run(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
