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

// page collects the sections of show, each under its title.
type page struct{ lines []string }

func (p *page) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.lines = append(p.lines, "", title)
	for _, line := range lines {
		p.lines = append(p.lines, term.Gap+line)
	}
}

// Detail shows all that is known of one run.
type Detail struct {
	Reader   Reader
	Facts    query.FactWriter // what is known of facts
	Settings []string         // of a run, which are facts, in their order
	Files    []query.Artifact
	// Reproduce is the command that measures the point once more; empty if that is unknown.
	Reproduce string
}

// View has a section for each part of a run that is there.
func (s Detail) View(d query.Detail, related query.Related) term.View {
	run := &d.Run
	p := &page{lines: append(headline(run), lostLines(d.Lost)...)}
	if len(d.Metrics) > 0 {
		primary, given := &d.Metrics[0], func(metric string) string { return query.UnitInFile(run, metric) }
		p.section("samples of "+primary.Name, sampleLines(primary, given(primary.Name), s.Reader.Width))
		p.section("other metrics", metricLines(d.Metrics[1:], given))
	}
	p.section("configuration", s.configurationLines(run))
	p.section("environment", s.environmentLines(run, related))
	p.section("stages", stageLines(&run.Stages))
	p.section("stack", factLines(run, "runner.stack"))
	p.section("standard error, its end", factLines(run, "runner.stderr_tail"))
	p.section("files", fileLines(s.Files))
	p.section("notes", s.noteLines(d))
	v := term.View{Below: p.lines}
	if s.Reproduce != "" {
		v.Below = append(v.Below, "", "reproduce")
		v.Commands = strings.Split(term.Gap+s.Reproduce, "\n") // a word may end with a newline, see shellwords.Quote
	}
	return v
}

// noteLines are what was said about a run later.
func (s Detail) noteLines(d query.Detail) []string {
	var lines []string
	for _, name := range d.Baselines {
		lines = append(lines, "one of the baseline "+name)
	}
	for _, note := range d.Notes {
		when, text := s.Reader.When(note.At), strings.Split(note.Text, "\n")
		lines = append(lines, when+term.Gap+text[0])
		for _, more := range text[1:] {
			lines = append(lines, strings.Repeat(" ", len(when))+term.Gap+more)
		}
	}
	return lines
}

// lostLines say what damage took of a run.
func lostLines(lost map[string]string) []string {
	var lines []string
	for _, table := range slices.Sorted(maps.Keys(lost)) {
		lines = append(lines, fmt.Sprintf("some or all %s are lost: %s; store merge from a good copy restores them", table, lost[table]))
	}
	return lines
}

// headline is what the run is and how it ended.
func headline(run *schema.Run) []string {
	constants, _ := Axes([]Subject{subjectOf(query.ListedRunOf(run))}, RunColumns)
	lines := append([]string{run.RunID}, term.Heading(constants)...)
	status := string(run.Status)
	if run.Stage != "" {
		status += " in " + string(run.Stage)
	}
	if run.Error != "" {
		status += ": " + term.FirstLine(run.Error)
	}
	started := term.Unknown
	if !run.StartedAt.IsZero() {
		started = run.StartedAt.Local().Format("2006-01-02 15:04:05 -07:00")
	}
	lines = append(lines, status+" · "+started)
	if hint := IgnoreExit(run.ErrorKind, run.Error); hint != "" {
		lines = append(lines, hint)
	}
	for _, w := range run.Warnings {
		lines = append(lines, WarningOf(run, w))
	}
	return lines
}

func stageLines(s *schema.Stages) []string {
	var rows [][2]string
	for i, ns := range []*int64{s.Build, s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile} {
		if ns != nil {
			rows = append(rows, [2]string{string(schema.StageNames[i]), term.Quantity(*ns, "ns")})
		}
	}
	return term.Pairs(rows)
}

// factLines are the lines of a fact of many.
func factLines(run *schema.Run, name string) []string {
	text := strings.TrimSpace(run.Env.Facts[name])
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

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
