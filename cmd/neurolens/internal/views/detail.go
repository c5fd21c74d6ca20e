package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
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
