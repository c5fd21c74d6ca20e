package benchmarks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// asideName is that of packs/ while commands are measured without it.
const asideName = "packs.aside"

// What a command may take before it is measured no more often.
const (
	rounds   = 9
	longTime = 20 * time.Second
)

// commandMegabytes is the most memory that a command may take.
const commandMegabytes = 300

// commands are measured on every store. A table says how many runs match, so a filter reads a column of all of them
// for it; formats for programs do not, and the newest runs may do.
var commands = []struct {
	name string
	args []string
	goal float64 // ratio to the bare process on the largest store, with packs; 0: none
}{
	{"ls, newest 20", []string{"ls", "--format", "plain", "--limit", "20"}, 2},
	{"ls, a table", []string{"ls", "--format", "table"}, 0},
	{"ls, a column, few runs match", []string{"ls", "--format", "plain", "--limit", "20", "p50>53.9ms"}, 5},
	{"ls, a column, a third match", []string{"ls", "--format", "plain", "--limit", "20", "backend=torch"}, 5},
	{"ls, a parameter, a fifth match", []string{"ls", "--format", "plain", "--limit", "20", "dim=64"}, 8},
	{"ls, a parameter and a column", []string{"ls", "--format", "plain", "--limit", "20", "dim=64", "p50>53.9ms"}, 8},
	{"ls, a table, a column, few runs match", []string{"ls", "--format", "table", "p50>53.9ms"}, 5},
	{"ls, a table, a column, a third match", []string{"ls", "--format", "table", "backend=torch"}, 5},
	{"ls, a table, a parameter", []string{"ls", "--format", "table", "dim=64"}, 8},
	{"query, count with a filter", []string{"query", "--format", "plain", "SELECT count(*) FROM runs WHERE p50 > 53.9e6"}, 0},
	{"store info", []string{"store", "info", "--format", "plain"}, 0},
}

// BenchmarkCommands measures whole processes on the stores of all sizes, by turns with a bare DuckDB, with packs and
// without.
func BenchmarkCommands(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkCommands(b, neurolens, storeOf(b, r)) })
		b.Run(r.name+" without packs", func(b *testing.B) {
			dir := storeOf(b, r)
			packs, aside := filepath.Join(dir, schema.PacksDir), filepath.Join(dir, asideName)
			must(b, os.Rename(packs, aside))
			defer func() { must(b, os.Rename(aside, packs)) }()
			benchmarkCommands(b, neurolens, dir)
		})
	}
}

func benchmarkCommands(b *testing.B, neurolens, dir string) {
	all := make([]series, len(commands))
	var bare series
	for b.Loop() {
		for range rounds {
			bare.add(bareProcess(b))
			for i, c := range commands {
				if all[i].total() < longTime {
					all[i].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
				}
			}
		}
	}
	table := rows{{"command", "ms", "ratio", "goal", "CPU ms", "ratio", "peak MB", "lines"}}
	for i, c := range commands {
		s := &all[i]
		s.within(b, c.name, commandMegabytes)
		table = append(table, []string{
			c.name, fmt.Sprintf("%.1f", s.median()), fmt.Sprintf("%.2f", s.median()/bare.median()), fmt.Sprintf("%.4g", c.goal),
			fmt.Sprintf("%.1f", s.cpu()), fmt.Sprintf("%.2f", s.cpu()/bare.cpu()),
			fmt.Sprint(s.peak >> 20), fmt.Sprint(strings.Count(string(s.out), "\n")),
		})
		b.ReportMetric(s.median()/bare.median(), strings.NewReplacer(", ", "/", " ", "_").Replace(c.name)+"/bare")
	}
	fmt.Printf("\n%s: a bare DuckDB process takes %.1f ms, %.1f ms of CPU and %d MB\n%s", b.Name(), bare.median(), bare.cpu(), bare.peak>>20, table)
}

// rows are a table to print; the first are the headings.
type rows [][]string

func (r rows) String() string {
	widths := make([]int, len(r[0]))
	for _, row := range r {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var text strings.Builder
	for _, row := range r {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&text, "  %-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&text, "  %*s", widths[i], cell)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}
