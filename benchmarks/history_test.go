package benchmarks

import (
	"fmt"
	"strings"
	"testing"
)

// historyMegabytes is the most memory that a history or groups of all sessions may take.
const historyMegabytes = 1500

// overAll are commands that read every run, with goals on the largest store: ratios to the bare process in processor time.
var overAll = []struct {
	args []string
	goal float64
}{
	{[]string{"history"}, 900},
	{[]string{"history", "--format", "jsonl"}, 1800},
	{[]string{"ls", "--by", "benchmark"}, 80},
	{[]string{"ls", "--by", "backend", "--by", "git_commit"}, 200},
	{[]string{"ls", "--by", "session"}, 700},
}

// BenchmarkHistory measures histories, and groups of runs, on the stores of all sizes, by turns with a bare DuckDB.
func BenchmarkHistory(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkHistory(b, neurolens, storeOf(b, r)) })
	}
}

func benchmarkHistory(b *testing.B, neurolens, dir string) {
	all := make([]series, len(overAll))
	var bare series
	for b.Loop() {
		for range rounds {
			bare.add(bareProcess(b))
			for i, c := range overAll {
				if all[i].total() < longTime {
					all[i].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
				}
			}
		}
	}
	table := rows{{"command", "ms", "ratio", "CPU ms", "ratio", "goal", "peak MB"}}
	for i, c := range overAll {
		s, name := &all[i], strings.Join(c.args, " ")
		s.within(b, name, historyMegabytes)
		table = append(table, []string{
			name, fmt.Sprintf("%.1f", s.median()), fmt.Sprintf("%.2f", s.median()/bare.median()),
			fmt.Sprintf("%.1f", s.cpu()), fmt.Sprintf("%.2f", s.cpu()/bare.cpu()), fmt.Sprintf("%.4g", c.goal), fmt.Sprint(s.peak >> 20),
		})
		b.ReportMetric(s.cpu()/bare.cpu(), strings.ReplaceAll(name, " ", "_")+"-cpu/bare")
	}
	fmt.Printf("\n%s: a bare DuckDB process takes %.1f ms, %.1f ms of CPU and %d MB; goals are for 1M\n%s", b.Name(), bare.median(), bare.cpu(), bare.peak>>20, table)
}
