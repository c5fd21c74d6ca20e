package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
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
			return a.print(format, detail.Run, nil)
		}
		related, err := db.Related(cmd.Context(), detail)
		if err != nil {
			return err
		}
		return a.print(format, detail.Run, func() term.View { return a.showView(detail, related.Before, related.Against) })
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

func (a *app) showView(d query.Detail, before answer.Table, against string) term.View {
	t, run := d.Run, d.Run.Rows[0]
	p := &page{lines: append(a.headline(t, run), lostLines(d.Lost)...)}
	if len(d.Metrics.Rows) > 0 {
		primary, given := textAt(d.Metrics, d.Metrics.Rows[0], "metric"), func(metric string) string { return givenUnit(t, run, metric) }
		p.section("samples of "+primary, sampleLines(d.Metrics, d.Metrics.Rows[0], given(primary)))
		p.section("other metrics", metricLines(d.Metrics, given))
	}
	p.section("configuration", configurationLines(t, run))
	p.section("environment", a.environmentLines(t, run, before))
	p.section("stages", stageLines(t, run))
	p.section("stack", factLines(t, run, "runner.stack"))
	p.section("standard error, its end", factLines(t, run, "runner.stderr_tail"))
	p.section("notes", a.noteLines(d))
	v := term.View{Below: p.lines}
	if command := a.againCommand(t, run, against); command != "" {
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
		when, text := a.when(note.At), strings.Split(note.Text, "\n")
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
func (a *app) headline(t answer.Table, run []any) []string {
	constants, _ := axes(answer.Table{Columns: t.Columns, Rows: [][]any{run}}, runColumns)
	lines := append([]string{textAt(t, run, "run_id")}, term.Heading(constants)...)
	status := textAt(t, run, "status")
	if stage := textAt(t, run, "stage"); stage != "" {
		status += " in " + stage
	}
	if reason := textAt(t, run, "error"); reason != "" {
		status += ": " + term.FirstLine(reason)
	}
	started := term.Unknown
	if at, ok := at(t, run, "started_at").(time.Time); ok {
		started = at.Local().Format("2006-01-02 15:04:05 -07:00")
	}
	lines = append(lines, status+" · "+started)
	if warnings, _ := at(t, run, "warnings").([]any); len(warnings) > 0 {
		for _, w := range warnings {
			lines = append(lines, warningText(output.Text(w)))
		}
	}
	return lines
}

// configurationLines are the settings asked for, with what was applied where the worker read it back.
func configurationLines(t answer.Table, run []any) []string {
	applied, _ := at(t, run, "applied").(map[string]any)
	rows := [][2]string{{"executor", orUnknown(textAt(t, run, "executor"))}}
	asked := map[string]string{}
	for _, name := range slices.Concat(identityColumns[1:], []string{"side"}) {
		if v := at(t, run, name); v != nil {
			asked[name] = output.Text(v)
		}
	}
	params, _ := at(t, run, "params").(map[string]any)
	for name, v := range params {
		asked["param."+name] = axisText(v)
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		rows = append(rows, [2]string{name, asked[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		if asked[name] != axisText(applied[name]) {
			rows = append(rows, [2]string{name, axisText(applied[name]) + " (applied)"})
		}
	}
	env, _ := at(t, run, "env").(map[string]any)
	for _, name := range settingNames() {
		said := slices.ContainsFunc(rows, func(row [2]string) bool { return row[0] == name })
		if v, ok := env["runner."+name]; ok && !said {
			rows = append(rows, [2]string{name, output.Text(v)})
		}
	}
	tags, _ := at(t, run, "tags").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		rows = append(rows, [2]string{"tag." + name, output.Text(tags[name])})
	}
	return append(term.Pairs(rows), "point "+textAt(t, run, "point_id"))
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
func (a *app) environmentLines(t answer.Table, run []any, before answer.Table) []string {
	env, _ := at(t, run, "env").(map[string]any)
	var lines []string
	if len(before.Rows) > 0 {
		if lines = changedLines(t, run, before); len(lines) == 0 {
			lines = append(lines, "the same as in the point's previous run on this machine")
		}
	}
	var rows [][2]string
	for _, name := range []string{
		"hostname", "os", "os_kernel", "cpu_model", "cpu_count", "memory_bytes", "gpu_name", "driver_version", "git_commit", "git_branch", "git_dirty",
	} {
		i := t.Index(name)
		if run[i] != nil {
			rows = append(rows, [2]string{name, output.ValueText(t.Columns[i], run[i], "")})
		}
	}
	for _, name := range []string{"cpu.governor", "load.1m"} {
		if v, ok := env[name]; ok {
			rows = append(rows, [2]string{name, output.Text(v)})
		}
	}
	missing, _ := at(t, run, "env_missing").(map[string]any)
	lines = append(lines, term.Pairs(rows)...)
	return append(lines, fmt.Sprintf("%s, %d not known (--json shows all)", term.Count(len(env), "fact"), len(missing)))
}

// changedLines say in what facts a run differs from one before.
func changedLines(t answer.Table, run []any, before answer.Table) []string {
	was := before.Rows[0]
	var lines []string
	add := func(name string, from, to any) {
		if from != to {
			lines = append(lines, fmt.Sprintf("%s was %s, is %s", name, shortFact(from), shortFact(to)))
		}
	}
	for _, name := range query.RelatedFacts {
		add(name, at(before, was, name), at(t, run, name))
	}
	old, _ := at(before, was, "env").(map[string]any)
	env, _ := at(t, run, "env").(map[string]any)
	names := slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(env)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !volatileFact(name) {
			add(name, old[name], env[name])
		}
	}
	return lines
}

// shortFact is the value of a fact, cut where it is a hash.
func shortFact(v any) string {
	if text, ok := v.(string); ok {
		return changeText(text)
	}
	return factText(v)
}

// factText is a value that may not be known.
func factText(v any) string {
	if v == nil {
		return term.Unknown
	}
	return output.Text(v)
}

// volatileFact tells facts that differ from run to run and say nothing about a change of the machine.
func volatileFact(name string) bool {
	return strings.HasPrefix(name, "runner.") || probe.IsVolatile(name)
}

func stageLines(t answer.Table, run []any) []string {
	var rows [][2]string
	for _, stage := range schema.StageNames {
		if v, ok := at(t, run, string(stage)+"_ns").(int64); ok {
			rows = append(rows, [2]string{string(stage), output.Quantity(v, "ns")})
		}
	}
	return term.Pairs(rows)
}

// factLines are the lines of a fact of many.
func factLines(t answer.Table, run []any, name string) []string {
	env, _ := at(t, run, "env").(map[string]any)
	text, _ := env[name].(string)
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
