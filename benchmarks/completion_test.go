package benchmarks

import (
	"strings"
	"testing"
)

// completions are lines at whose end a shell asks.
var completions = [][]string{{"ls", ""}, {"ls", "backend="}, {"ls", "dim="}, {"ls", "session="}, {"show", ""}, {"ls", "--metric", ""}, {"ls", "--columns", ""}}

// completionGoal is the most that a completion may take, as a ratio to the bare process.
const completionGoal = 5

// BenchmarkCompletion measures what a shell waits for, by turns with a bare DuckDB.
func BenchmarkCompletion(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) {
			dir := storeOf(b, r)
			all := make([]series, len(completions))
			var bare series
			for range rounds {
				bare.add(bareProcess(b))
				for i, line := range completions {
					all[i].add(start(b, "NEUROLENS_STORE="+dir, append([]string{neurolens, "__complete"}, line...)...))
				}
			}
			var lines []line
			for i, words := range completions {
				lines = append(lines, turns(strings.Join(words, " ")+"TAB", &all[i], &bare).within(completionGoal, commandMegabytes))
			}
			report(b, bareName, lines...)
		})
	}
}
