package benchmarks

import (
	"fmt"
	"testing"
)

// completions are lines at whose end a shell asks.
var completions = [][]string{{"ls", ""}, {"ls", "backend="}, {"ls", "dim="}, {"ls", "session="}, {"show", ""}, {"ls", "--metric", ""}, {"ls", "--columns", ""}}

// BenchmarkCompletion measures what a shell waits for, by turns with a bare DuckDB.
func BenchmarkCompletion(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) {
			dir := storeOf(b, r)
			all := make([]series, len(completions))
			var bare series
			for b.Loop() {
				for range rounds {
					bare.add(bareProcess(b))
					for i, line := range completions {
						all[i].add(start(b, "NEUROLENS_STORE="+dir, append([]string{neurolens, "__complete"}, line...)...))
					}
				}
			}
			table := rows{{"line", "ms", "ratio", "CPU ms", "ratio", "peak MB"}}
			for i, line := range completions {
				s := &all[i]
				table = append(table, []string{
					fmt.Sprint(line), fmt.Sprintf("%.1f", s.median()), fmt.Sprintf("%.2f", s.median()/bare.median()),
					fmt.Sprintf("%.1f", s.cpu()), fmt.Sprintf("%.2f", s.cpu()/bare.cpu()), fmt.Sprint(s.peak >> 20),
				})
			}
			fmt.Printf("\n%s: a bare DuckDB process takes %.1f ms, %.1f ms of CPU\n%s", b.Name(), bare.median(), bare.cpu(), table)
		})
	}
}
