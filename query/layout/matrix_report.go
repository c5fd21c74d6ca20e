package layout

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// matrixReport is report.json.
type matrixReport struct {
	Summary matrixSummary `json:"summary"`
	Results []*matrixRow  `json:"results"`          // of the runs that are ok
	Failed  []*matrixRow  `json:"failed,omitempty"` // of the others
}

type matrixSummary struct {
	Total    int      `json:"total_benchmarks"` // results
	Models   []string `json:"models"`
	Backends []string `json:"backends"`
	// Config holds what all runs have in common. Members that differ between runs are null here; varied has their values.
	Config   ordered                      `json:"config"`
	Varied   map[string][]json.RawMessage `json:"varied"`
	Statuses map[string]int               `json:"statuses"` // of all runs, also of those that are not results
}

// matrixRow is a result of the report.
type matrixRow struct {
	Model     string  `json:"model"`
	Backend   string  `json:"backend"`
	Compiled  bool    `json:"compiled"`
	Timestamp *string `json:"timestamp"`
	matrixMetrics
	Executable string  `json:"executable"`
	Config     ordered `json:"config"`
	Own        *own    `json:"neurolens"`
}

func (m *matrixFile) row() *matrixRow {
	return &matrixRow{m.Model, m.Backend, m.Compiled, m.Timestamp, m.Metrics, m.Executable, m.Config, m.Own}
}

func matrixReportOf(results, failed []*matrixFile) *matrixReport {
	report := &matrixReport{Results: []*matrixRow{}, Summary: matrixSummary{
		Total: len(results), Models: []string{}, Backends: []string{}, Varied: map[string][]json.RawMessage{}, Statuses: map[string]int{},
	}}
	s := &report.Summary
	for _, m := range results {
		s.Models, s.Backends = with(s.Models, m.Model), with(s.Backends, m.Backend)
		s.Statuses[m.Own.Status]++
		report.Results = append(report.Results, m.row())
	}
	for _, m := range failed {
		s.Statuses[m.Own.Status]++
		report.Failed = append(report.Failed, m.row())
	}
	slices.Sort(s.Models)
	slices.Sort(s.Backends)
	s.configure(results)
	return report
}

// configure determines the configuration members that all runs have in common, and the values of the others.
func (s *matrixSummary) configure(results []*matrixFile) {
	s.Config = ordered{matrixConfig, map[string]json.RawMessage{}}
	values, count := map[string][]string{}, map[string]int{}
	for _, m := range results {
		for name, value := range m.Config.all {
			values[name] = with(values[name], string(value))
			count[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) == 1 && count[name] == len(results) {
			s.Config.all[name] = json.RawMessage(values[name][0])
			continue
		}
		s.Config.all[name] = json.RawMessage("null")
		for _, value := range values[name] {
			s.Varied[name] = append(s.Varied[name], json.RawMessage(value))
		}
	}
	for _, name := range matrixConfig {
		if s.Config.all[name] == nil && len(results) > 0 {
			s.Config.all[name] = json.RawMessage("null")
		}
	}
}

// markdown returns report.md.
func (m *matrixReport) markdown(results, failed []*matrixFile) []byte {
	var p page
	s := &m.Summary
	p.line("# Benchmark Report\n\n## Summary\n")
	p.line("- **Total Benchmarks:** %d", s.Total)
	p.line("- **Models:** %s\n- **Backends:** %s", oneLine(strings.Join(s.Models, ", ")), oneLine(strings.Join(s.Backends, ", ")))
	p.line("\n### Configuration\n")
	for _, member := range []struct{ title, name string }{{"Epochs", "epochs"}, {"Batch Size", "batch_size"}, {"Seed", "seed"}} {
		p.line("- **%s:** %s", member.title, s.configText(member.name))
	}
	varied := slices.Sorted(maps.Keys(s.Varied))
	for _, name := range slices.Sorted(maps.Keys(s.Config.all)) {
		if name != "epochs" && name != "batch_size" && name != "seed" && (s.Varied[name] != nil || string(s.Config.all[name]) != "null") {
			p.line("- **%s:** %s", titled(name), s.configText(name))
		}
	}
	p.line("\n## Results\n")
	columns := []string{"Model", "Backend", "Training Time (s)", "Peak Memory (MB)", "Test Accuracy (%)"}
	for _, name := range varied {
		columns = append(columns, titled(name))
	}
	p.header(columns...)
	for _, r := range results {
		cells := []string{
			r.Model, r.Backend, shortNumber(r.Metrics.Time), shortNumber(r.Metrics.Memory), shortNumber(r.Metrics.Accuracy),
		}
		for _, name := range varied {
			cells = append(cells, strings.Trim(string(r.Config.all[name]), `"`))
		}
		p.row(cells...)
	}
	var runs []*schema.Run
	for _, r := range failed {
		runs = append(runs, r.run)
	}
	p.notOK(runs, label)
	return []byte(p.String())
}

// configText formats a member of the configuration: N/A if it is unknown, all values if there are several.
func (s *matrixSummary) configText(name string) string {
	if values := s.Varied[name]; values != nil {
		var words []string
		for _, v := range values {
			words = append(words, strings.Trim(string(v), `"`))
		}
		return oneLine(strings.Join(words, ", "))
	}
	if v := s.Config.all[name]; v != nil && string(v) != "null" {
		return oneLine(strings.Trim(string(v), `"`))
	}
	return "N/A"
}

// titled formats the name of a member as a title: Hidden Size.
func titled(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// shortNumber formats a number with two decimals, as the scripts do, and a small one with three significant digits; N/A without
// a number.
func shortNumber(n number) string {
	if n == "" {
		return "N/A"
	}
	if v := n.float(); v < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(twoDigits(n), "0"), ".")
}
