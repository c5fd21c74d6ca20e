package benchmarks

import (
	"fmt"
	"testing"
)

// reportCommands are what BenchmarkReport measures: the first is what the others are compared with.
var reportCommands = []struct {
	name string
	args []string
	goal float64 // ratio to the first; 0: none
}{
	{"ls of a session", []string{"ls", "session=last", "--format", "plain"}, 0},
	{"report --html of it", []string{"report", "--html", "-", "session=last"}, 5},
	{"report --html of two", []string{"report", "--html", "-", "session=last~1", "session=last"}, 0},
	{"plot ecdf of it", []string{"plot", "ecdf", "session=last", "--format", "svg"}, 0},
}

// BenchmarkReport measures reports and charts of one session of a store, as whole processes by turns with the listing of that session.
func BenchmarkReport(b *testing.B) {
	neurolens := program(b)
	for _, r := range recipes {
		b.Run(r.name, func(b *testing.B) { benchmarkReport(b, neurolens, storeOf(b, r)) })
	}
}

func benchmarkReport(b *testing.B, neurolens, dir string) {
	all := make([]series, len(reportCommands))
	for b.Loop() {
		for range rounds {
			for i, c := range reportCommands {
				all[i].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
			}
		}
	}
	table := rows{{"command", "ms", "ratio", "goal", "CPU ms", "ratio", "peak MB"}}
	for i, c := range reportCommands {
		s := &all[i]
		if c.goal > 0 {
			s.within(b, c.name, commandMegabytes)
		}
		table = append(table, []string{
			c.name, fmt.Sprintf("%.1f", s.median()), fmt.Sprintf("%.2f", s.median()/all[0].median()), fmt.Sprintf("%.4g", c.goal),
			fmt.Sprintf("%.1f", s.cpu()), fmt.Sprintf("%.2f", s.cpu()/all[0].cpu()), fmt.Sprint(s.peak >> 20),
		})
		b.ReportMetric(s.median()/all[0].median(), "ratio/"+fmt.Sprint(i))
	}
	fmt.Printf("\n%s\n%s", b.Name(), table)
}
