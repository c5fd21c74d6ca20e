package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// configurationLines are the settings asked for with where each comes from, and what was applied where the worker read it
// back.
func (s Detail) configurationLines(run *schema.Run) []string {
	rows := [][2]string{{"executor", OrUnknown(string(run.Executor))}}
	asked := askedOf(run)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		rows = append(rows, [2]string{name, asked[name]})
	}
	origins := originsOf(run)
	for _, name := range slices.Sorted(maps.Keys(run.Applied)) {
		if applied := AxisText(run.Applied[name]); asked[name] != applied {
			by := appliedBy(run, name)
			if run.Env.Facts["runner."+name] == run.Applied[name] {
				by = cmp.Or(origins(name), by)
			}
			rows = append(rows, [2]string{name, applied + by})
		}
	}
	for _, name := range s.Settings {
		said := slices.ContainsFunc(rows, func(row [2]string) bool { return row[0] == name })
		if v, ok := run.Env.Facts["runner."+name]; ok && !said {
			rows = append(rows, [2]string{name, v + origins(name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(run.Tags)) {
		rows = append(rows, [2]string{"tag." + name, run.Tags[name]})
	}
	return append(term.Pairs(rows), "point "+run.PointID)
}

// appliedBy says who applied what was not asked for: numbers of iterations are those of a benchmark's get_config.
func appliedBy(run *schema.Run, name string) string {
	if run.Source == schema.SourceNeuroLens && (name == "iterations" || name == "warmup") {
		return " (get_config)"
	}
	return " (applied)"
}

// originsOf gives the origin of each setting of a run in parentheses: sweep, benchmark, variant, a preset, flag or default.
// Runs of programs that did not store it have none.
func originsOf(run *schema.Run) func(name string) string {
	var layers map[string]string
	if json.Unmarshal([]byte(run.Env.Facts[schema.FactOrigins]), &layers) != nil {
		return func(string) string { return "" }
	}
	return func(name string) string {
		if name == "control" || name == "profile" { // of a point, and of a pass
			return ""
		}
		return " (" + cmp.Or(layers[name], "default") + ")"
	}
}

// askedOf are what makes the point of a run, and its side, by name.
func askedOf(run *schema.Run) map[string]string {
	is, asked := subjectOf(query.ListedRunOf(run)), map[string]string{}
	for _, name := range slices.Concat(IdentityColumns[1:], []string{"side"}) {
		if v := is.Text(name); v != "" {
			asked[name] = v
		}
	}
	for name, v := range run.Params {
		asked["param."+name] = AxisText(v)
	}
	return asked
}

// environmentLines are first what differs from the point's previous run on this machine, then what people look for.
func (s Detail) environmentLines(run *schema.Run, related query.Related) []string {
	e := &run.Env
	var lines []string
	if related.Before != "" {
		if lines = s.changedLines(related.Changes); len(lines) == 0 {
			lines = append(lines, "the same as in the point's previous run on this machine")
		}
	}
	memory := ""
	if e.MemoryBytes != nil {
		memory = term.Quantity(*e.MemoryBytes, "B")
	}
	rows := [][2]string{
		{"hostname", e.Hostname},
		{"os", e.OS},
		{"os_kernel", e.OSKernel},
		{"cpu_model", e.CPUModel},
		{"cpu_count", term.ValueString(answer.Value(e.CPUCount))},
		{"memory_bytes", memory},
		{"gpu_name", e.GPUName},
		{"driver_version", e.DriverVersion},
		{"git_commit", e.GitCommit},
		{"git_branch", e.GitBranch},
		{"git_dirty", term.ValueString(answer.Value(e.GitDirty))},
		{"cpu.governor", e.Facts["cpu.governor"]},
		{"load.1m", e.Facts["load.1m"]},
	}
	rows = slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
	lines = append(lines, term.Pairs(rows)...)
	return append(lines, fmt.Sprintf("%s, %d unknown (--json shows all)", term.Count(len(e.Facts), "fact"), len(e.Missing)))
}

// changedLines say in what facts a run differs from one before.
func (s Detail) changedLines(changes []query.FactDifference) []string {
	var lines []string
	for _, d := range changes {
		fact, isFact := strings.CutPrefix(d.Name, "env.")
		if !isFact || !s.Facts.OfRun(fact) {
			lines = append(lines, fmt.Sprintf("%s changed from %s to %s", fact, changedValue(d.Name, d.Base), changedValue(d.Name, d.Head)))
		}
	}
	return lines
}

// changedValue is the value of a fact, cut where it is a hash.
func changedValue(name string, values []string) string {
	text := strings.Join(values, ", ")
	if c, ok := schema.Runs.Column(name); ok && c.Kind == schema.KindInt {
		return OrUnknown(text)
	}
	return HashText(text)
}
