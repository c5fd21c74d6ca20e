package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

func newShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show one run: samples, metrics, configuration, environment, stages",
		Long: `Show one run. RUN is its id, or any beginning or end of it that no other run
has; without it, and as "last", the run that started last. The environment
begins with what differs from the previous run of the same point on the
machine. Formats for programs print the run's row, every column of it.`,
		Args: arguments(0, 1, "one run id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := lastRun
			if len(args) > 0 {
				id = args[0]
			}
			return runShow(a, cmd, id)
		},
	}
}

// noRuns says that a store is empty.
const noRuns = "no runs in this store"

// lastRun is what people may type for the run that started last. No id has an L.
const lastRun = "last"

func runShow(a *app, cmd *cobra.Command, id string) error {
	return a.ask(cmd, func(db *query.DB, format string) error {
		db = db.Quiet()
		if id == lastRun {
			var err error
			if id, err = db.Newest(cmd.Context()); err != nil {
				return err
			}
			if id == "" {
				return usageErrorf("run: %s", noRuns)
			}
		}
		detail, err := db.Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		if !output.ForPeople(format) {
			return a.print(format, detail.Table(), nil)
		}
		related, err := db.Related(cmd.Context(), detail)
		if err != nil {
			return err
		}
		return a.printer().View(format, a.showView(detail, related))
	})
}

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

func (a *app) showView(d query.Detail, related query.Related) term.View {
	run := &d.Run
	p := &page{lines: append(a.headline(run), lostLines(d.Lost)...)}
	if len(d.Metrics) > 0 {
		primary, given := &d.Metrics[0], func(metric string) string { return query.UnitInFile(run, metric) }
		p.section("samples of "+primary.Name, sampleLines(primary, given(primary.Name)))
		p.section("other metrics", metricLines(d.Metrics[1:], given))
	}
	p.section("configuration", configurationLines(run))
	p.section("environment", a.environmentLines(run, related))
	p.section("stages", stageLines(&run.Stages))
	p.section("stack", factLines(run, "runner.stack"))
	p.section("standard error, its end", factLines(run, "runner.stderr_tail"))
	p.section("notes", a.noteLines(d))
	v := term.View{Below: p.lines}
	if command := a.againCommand(run, related.Against); command != "" {
		v.Below = append(v.Below, "", "again")
		v.Commands = []string{term.Gap + command}
	}
	return v
}

// noteLines are what was said about a run later.
func (a *app) noteLines(d query.Detail) []string {
	var lines []string
	for _, name := range d.Baselines {
		lines = append(lines, "one of the baseline "+name)
	}
	for _, note := range d.Notes {
		when, text := a.reader().When(note.At), strings.Split(note.Text, "\n")
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
		lines = append(lines, fmt.Sprintf("some or all %s are lost: %s; store merge from a good copy brings them back", table, lost[table]))
	}
	return lines
}

// headline is what the run is and how it ended.
func (a *app) headline(run *schema.Run) []string {
	constants, _ := wording.Axes([]wording.Subject{subjectOf(query.ListedRunOf(run))}, wording.RunColumns)
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
	for _, w := range run.Warnings {
		lines = append(lines, wording.WarningText(w))
	}
	return lines
}

// configurationLines are the settings asked for, with what was applied where the worker read it back.
func configurationLines(run *schema.Run) []string {
	rows := [][2]string{{"executor", wording.OrUnknown(string(run.Executor))}}
	asked := askedOf(run)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		rows = append(rows, [2]string{name, asked[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(run.Applied)) {
		if applied := wording.AxisText(run.Applied[name]); asked[name] != applied {
			rows = append(rows, [2]string{name, applied + " (applied)"})
		}
	}
	for _, name := range settingNames() {
		said := slices.ContainsFunc(rows, func(row [2]string) bool { return row[0] == name })
		if v, ok := run.Env.Facts["runner."+name]; ok && !said {
			rows = append(rows, [2]string{name, v})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(run.Tags)) {
		rows = append(rows, [2]string{"tag." + name, run.Tags[name]})
	}
	return append(term.Pairs(rows), "point "+run.PointID)
}

// askedOf are what makes the point of a run, and its side, by name.
func askedOf(run *schema.Run) map[string]string {
	is, asked := subjectOf(query.ListedRunOf(run)), map[string]string{}
	for _, name := range slices.Concat(wording.IdentityColumns[1:], []string{"side"}) {
		if v := is.Text(name); v != "" {
			asked[name] = v
		}
	}
	for name, v := range run.Params {
		asked["param."+name] = wording.AxisText(v)
	}
	return asked
}

// settingNames are the settings of a run that are facts, in the order of the keys of a sweep file.
func settingNames() []string {
	names := []string{"control"}
	for _, k := range sweep.Keys() {
		if k.Stored || k.Name == "profile" {
			names = append(names, k.Name)
		}
	}
	return names
}

// environmentLines are first what differs from the point's previous run on this machine, then what people look for.
func (a *app) environmentLines(run *schema.Run, related query.Related) []string {
	e := &run.Env
	var lines []string
	if related.Before != "" {
		if lines = changedLines(related.Changes); len(lines) == 0 {
			lines = append(lines, "the same as in the point's previous run on this machine")
		}
	}
	memory := ""
	if e.MemoryBytes != nil {
		memory = output.Quantity(*e.MemoryBytes, "B")
	}
	rows := [][2]string{
		{"hostname", e.Hostname},
		{"os", e.OS},
		{"os_kernel", e.OSKernel},
		{"cpu_model", e.CPUModel},
		{"cpu_count", output.Text(answer.Value(e.CPUCount))},
		{"memory_bytes", memory},
		{"gpu_name", e.GPUName},
		{"driver_version", e.DriverVersion},
		{"git_commit", e.GitCommit},
		{"git_branch", e.GitBranch},
		{"git_dirty", output.Text(answer.Value(e.GitDirty))},
		{"cpu.governor", e.Facts["cpu.governor"]},
		{"load.1m", e.Facts["load.1m"]},
	}
	rows = slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
	lines = append(lines, term.Pairs(rows)...)
	return append(lines, fmt.Sprintf("%s, %d not known (--json shows all)", term.Count(len(e.Facts), "fact"), len(e.Missing)))
}

// changedLines say in what facts a run differs from one before.
func changedLines(changes []facts.Difference) []string {
	var lines []string
	for _, d := range changes {
		fact, isFact := strings.CutPrefix(d.Name, "env.")
		if !isFact || !volatileFact(fact) {
			lines = append(lines, fmt.Sprintf("%s was %s, is %s", fact, changedValue(d.Name, d.Base), changedValue(d.Name, d.Head)))
		}
	}
	return lines
}

// changedValue is the value of a fact, cut where it is a hash.
func changedValue(name string, values []string) string {
	text := strings.Join(values, ", ")
	if c, ok := schema.Runs.Column(name); ok && c.Kind == schema.KindInt {
		return wording.OrUnknown(text)
	}
	return wording.HashText(text)
}

// volatileFact tells facts that differ from run to run and say nothing about a change of the machine.
func volatileFact(name string) bool {
	return strings.HasPrefix(name, "runner.") || probe.IsVolatile(name)
}

func stageLines(s *schema.Stages) []string {
	var rows [][2]string
	for i, ns := range []*int64{s.Build, s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile} {
		if ns != nil {
			rows = append(rows, [2]string{string(schema.StageNames[i]), output.Quantity(*ns, "ns")})
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
