package benchmarks

import "testing"

// overAll are commands that read every run. The goals are for a million runs: half of the ratios of 2026-11-26. Smaller stores stay far below.
var overAll = []command{
	{"history", []string{"history"}, 186. / 2},
	{"history, JSON lines of all sessions", []string{"history", "--format", "jsonl"}, 0},
	{"ls --by benchmark", []string{"ls", "--by", "benchmark"}, 16. / 2},
	{"ls --by backend and commit", []string{"ls", "--by", "backend", "--by", "git_commit"}, 146. / 2},
	{"ls --by session", []string{"ls", "--by", "session"}, 127. / 2},
}

// BenchmarkHistory measures histories, and groups of runs, on the stores of all sizes, by turns with a bare DuckDB.
func BenchmarkHistory(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkCommands(b, neurolens, storeOf(b, r), overAll) })
	}
}
