package benchmarks

import (
	"testing"
	"time"
)

// What a command may take before it is measured no more often.
const (
	rounds   = 9
	longTime = 20 * time.Second
)

// commandMegabytes is the most memory that a command may take.
const commandMegabytes = 300

// command is one that is measured on stores.
type command struct {
	name string
	args []string
	goal float64 // ratio to the bare process; 0: none
}

// commands are measured on every store. A table says how many runs match, so a filter reads a column of all of them
// for it; formats for programs do not, and the newest runs may do. The goals are for the largest store.
var commands = []command{
	{"ls, newest 20", []string{"ls", "--format", "plain", "--limit", "20"}, 1.3},
	{"ls, a table", []string{"ls", "--format", "table"}, 1.6},
	{"ls, a column, few runs match", []string{"ls", "--format", "plain", "--limit", "20", "p50>53.9ms"}, 5},
	{"ls, a column, a third match", []string{"ls", "--format", "plain", "--limit", "20", "backend=torch"}, 5},
	{"ls, a parameter, a fifth match", []string{"ls", "--format", "plain", "--limit", "20", "dim=64"}, 8},
	{"ls, a parameter and a column", []string{"ls", "--format", "plain", "--limit", "20", "dim=64", "p50>53.9ms"}, 8},
	{"ls, a table, a column, few runs match", []string{"ls", "--format", "table", "p50>53.9ms"}, 5},
	{"ls, a table, a column, a third match", []string{"ls", "--format", "table", "backend=torch"}, 5},
	{"ls, a table, a parameter", []string{"ls", "--format", "table", "dim=64"}, 8},
	{"query, count with a filter", []string{"query", "--format", "plain", "SELECT count(*) FROM runs WHERE p50 > 53.9e6"}, 0},
	{"ls, a metric, which is in the samples", []string{"ls", "--format", "plain", "--limit", "20", "metric.latency>1ms"}, 0},
	{"show last", []string{"show", "last"}, 6},
	{"explain", []string{"explain", "session=last~1", "session=last"}, 0},
	{"store info", []string{"store", "info", "--format", "plain"}, 5},
}

// BenchmarkCommands measures whole processes on the stores of all sizes, by turns with a bare DuckDB. A goal is that of the
// largest one, and the smaller ones hold it too.
func BenchmarkCommands(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkCommands(b, neurolens, storeOf(b, r), commands) })
	}
}

// benchmarkCommands measures commands on a store.
func benchmarkCommands(b *testing.B, neurolens, dir string, commands []command) {
	all := make([]series, len(commands))
	var bare series
	for range rounds {
		bare.add(bareProcess(b))
		for i, c := range commands {
			if all[i].total() < longTime {
				all[i].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
			}
		}
	}
	var lines []line
	for i, c := range commands {
		lines = append(lines, turns(c.name, &all[i], &bare).within(c.goal, commandMegabytes))
	}
	report(b, bareName, lines...)
}
