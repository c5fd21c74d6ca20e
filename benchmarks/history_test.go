package benchmarks

import "testing"

// overAll are commands that read every run. The goals are half of what a million runs took when these were set: 3.7 s and 1.2 s, where a bare
// DuckDB took 20 ms.
var overAll = []command{
	{"history", []string{"history"}, 92},
	{"history, JSON lines of all sessions", []string{"history", "--format", "jsonl"}, 0},
	{"ls --by benchmark", []string{"ls", "--by", "benchmark"}, 0},
	{"ls --by backend and commit", []string{"ls", "--by", "backend", "--by", "git_commit"}, 0},
	{"ls --by session", []string{"ls", "--by", "session"}, 30},
}

// BenchmarkHistory measures histories, and groups of runs, on the stores of all sizes, by turns with a bare DuckDB.
func BenchmarkHistory(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkCommands(b, neurolens, storeOf(b, r), overAll) })
	}
}
