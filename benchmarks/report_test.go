package benchmarks

import "testing"

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
	for range rounds {
		for i, c := range reportCommands {
			all[i].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
		}
	}
	var lines []line
	for i, c := range reportCommands[1:] {
		lines = append(lines, turns(c.name, &all[i+1], &all[0]).within(c.goal, commandMegabytes))
	}
	report(b, reportCommands[0].name, lines...)
}
