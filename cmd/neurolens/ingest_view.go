package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/imports"
	"github.com/neurolens/neurolens/query/answer"
)

func reportsTable(reports []imports.Report) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "file", Type: answer.TypeText},
		{Name: "state", Type: answer.TypeText},
		{Name: "source", Type: answer.TypeText},
		{Name: "version", Type: answer.TypeText},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "sessions", Type: answer.TypeInteger},
		{Name: "samples", Type: answer.TypeInteger},
		{Name: "left_out", Type: answer.TypeInteger},
		{Name: "refused", Type: answer.TypeInteger},
		{Name: "reason", Type: answer.TypeText},
	}}
	for _, r := range reports {
		left := 0
		for _, n := range r.LeftOut {
			left += n
		}
		t.Rows = append(t.Rows, []any{
			r.Name, string(r.State), answer.Text(r.Format), answer.Text(r.Version), int64(r.Runs), int64(r.Sessions), r.Samples, int64(left), int64(r.Refused), answer.Text(reasonOf(r)),
		})
	}
	return t
}

// reasonOf says in one line what was not stored of a file, and why.
func reasonOf(r imports.Report) string {
	var parts []string
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	for _, refusal := range r.Refusals {
		parts = append(parts, refusal.String())
	}
	if more := r.Unnamed(); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more refused", more))
	}
	if r.NoParams && r.Runs > 0 {
		parts = append(parts, "--param-from-path does not match its path")
	}
	if r.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d there already", r.Known))
	}
	for _, why := range r.Reasons() {
		parts = append(parts, fmt.Sprintf("%d left out: %s", r.LeftOut[why], why))
	}
	parts = append(parts, noted(&r.Report)...)
	return strings.Join(parts, "; ")
}

// explain names on standard error what was refused, with its place.
func (in *ingesting) explain() {
	const most = 20
	said := 0
	say := func(line string) {
		if said++; said <= most {
			fmt.Fprintln(in.stderr, "neurolens: ingest: "+term.OneLine(line))
		}
	}
	for _, r := range in.reading.Reports {
		if r.Why != "" && (r.State == imports.Partly || r.State == imports.Failed || r.State == imports.Unknown && r.Named) {
			say(r.Name + ": " + r.Why)
		}
		for _, refusal := range r.Refusals {
			say(r.Name + ": " + refusal.String())
		}
		if more := r.Unnamed(); more > 0 {
			say(fmt.Sprintf("%s: %s more refused", r.Name, term.Thousands(more)))
		}
	}
	in.sayUnmatched()
	if said > most {
		fmt.Fprintf(in.stderr, "neurolens: ingest: … %s (--format plain has those of each file in its row)\n", term.Count(said-most, "more line"))
	}
	if slices.ContainsFunc(in.reading.Reports, func(r imports.Report) bool { return r.State == imports.Unknown }) {
		fmt.Fprintln(in.stderr, "--list-formats names what is read; any table can be, with --from csv --map FILE")
	}
}

// sayUnmatched says of how many files --param-from-path makes no parameters.
func (in *ingesting) sayUnmatched() {
	n, first := 0, ""
	for _, r := range in.reading.Reports {
		if r.NoParams && r.Runs > 0 {
			if n++; n == 1 {
				first = r.Name
			}
		}
	}
	if n > 0 {
		fmt.Fprintf(in.stderr, "neurolens: ingest: --param-from-path does not match the path of %s: %s\n", term.Count(n, "file"), term.OneLine(first))
	}
}

// mostFiles is how many files a terminal names; of more it shows the formats.
const mostFiles = 20

func (in *ingesting) reportView(done ingest.Appended) term.View {
	v := term.View{Columns: []term.Column{
		{Header: "FILE"},
		{Header: "FORMAT"},
		{Header: "VERSION", Drop: 2},
		{Header: "RUNS", Right: true},
		{Header: "SESSIONS", Right: true, Drop: 1},
		{Header: "SAMPLES", Right: true},
		{Header: "NOT STORED", Drop: 1},
	}}
	folder := in.folder()
	if folder != "" {
		v.Above = []string{"in " + folder}
	}
	several := slices.ContainsFunc(in.reading.Reports, func(r imports.Report) bool { return r.Sessions > 1 })
	for _, l := range in.lines() {
		sessions := "" // usually a file is one
		if several {
			sessions = term.Thousands(l.sessions)
		}
		v.Rows = append(v.Rows, []term.Cell{
			{Text: strings.TrimPrefix(l.name, folder)},
			{Text: l.format},
			{Text: l.version},
			{Text: term.Thousands(l.runs)},
			{Text: sessions},
			{Text: term.Thousands(int(l.samples))},
			{Text: l.rest, Failed: l.failed},
		})
	}
	v = withoutEmptyColumns(v)
	v.Below = append(v.Below, in.leftOut()...)
	v.Below = append(v.Below, in.notes()...)
	if names := in.passedOver(folder, imports.Unknown); names != "" {
		v.Below = append(v.Below, "not recognised: "+names)
	}
	if names := in.passedOver(folder, imports.Store); names != "" {
		v.Below = append(v.Below, "stores, not read (store merge copies what they have): "+names)
	}
	v.Below = append(v.Below, in.total(done))
	if done.Added > 0 {
		v.Commands = []string{"", "next  neurolens ls source=" + in.reading.Source}
	}
	return v
}

// passedOver names the first that came to this in folders.
func (in *ingesting) passedOver(folder string, state imports.State) string {
	const most = 5
	var names []string
	for _, r := range in.reading.Reports {
		if r.State == state && !r.Named {
			names = append(names, strings.TrimPrefix(r.Name, folder))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], term.Thousands(more)+" more")
	}
	return strings.Join(names, ", ")
}

// withoutEmptyColumns leaves out the columns in which no row has anything.
func withoutEmptyColumns(v term.View) term.View {
	for c := len(v.Columns) - 1; c >= 0; c-- {
		if slices.ContainsFunc(v.Rows, func(row []term.Cell) bool { return row[c].Text != "" }) {
			continue
		}
		v.Columns = slices.Delete(v.Columns, c, c+1)
		for i := range v.Rows {
			v.Rows[i] = slices.Delete(v.Rows[i], c, c+1)
		}
	}
	return v
}

// folder is the one that all files are in, with its slash; empty where there is none, or one file.
func (in *ingesting) folder() string {
	if len(in.reading.Reports) < 2 {
		return ""
	}
	common := in.reading.Reports[0].Name
	for _, r := range in.reading.Reports {
		for !strings.HasPrefix(r.Name, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	return common[:strings.LastIndexByte(common, '/')+1]
}

// reportLine is a row of what people see: a file, or all files of a format.
type reportLine struct {
	name, format, version string
	runs, sessions        int
	samples               int64
	rest                  string
	failed                bool
}

// lines are one a file where there are few, else one a format.
func (in *ingesting) lines() []reportLine {
	var all []reportLine
	var shown []imports.Report
	for _, r := range in.reading.Reports {
		// What stands in a folder beside results is counted below the table, and named by the formats for programs.
		if r.State != imports.Side && r.State != imports.Store && (r.State != imports.Unknown || r.Named) {
			shown = append(shown, r)
		}
	}
	if len(shown) <= mostFiles {
		for _, r := range shown {
			all = append(all, lineOf(r))
		}
		return all
	}
	place := map[string]int{}
	for _, r := range shown {
		l := lineOf(r)
		key := l.format + "\x00" + l.rest
		i, ok := place[key]
		if !ok {
			i = len(all)
			place[key] = i
			all = append(all, reportLine{format: l.format, rest: l.rest, failed: l.failed})
		}
		all[i].runs, all[i].sessions, all[i].samples = all[i].runs+l.runs, all[i].sessions+l.sessions, all[i].samples+l.samples
		all[i].name = oneMore(all[i].name)
	}
	return all
}

// oneMore counts files: "3 files" after "2 files".
func oneMore(name string) string {
	var n int
	if _, err := fmt.Sscanf(strings.ReplaceAll(name, ",", ""), "%d", &n); err != nil {
		n = 0
	}
	return term.Count(n+1, "file")
}

func lineOf(r imports.Report) reportLine {
	l := reportLine{name: r.Name, format: r.Format, version: r.Version, runs: r.Runs, sessions: r.Sessions, samples: r.Samples}
	left := 0
	for _, n := range r.LeftOut {
		left += n
	}
	switch {
	case r.State == imports.Unknown:
		l.format, l.rest, l.failed = term.Unknown, "not recognised", true
	case r.State == imports.Failed:
		l.format, l.rest, l.failed = term.Unknown, "not read", true
	case r.Refused > 0:
		l.rest, l.failed = term.Thousands(r.Refused)+" refused", true
	case r.State == imports.Partly:
		l.rest, l.failed = "ends early", true
	case r.Known > 0:
		l.rest = term.Thousands(r.Known) + " there already"
	case left > 0:
		l.rest = term.Thousands(left) + " left out"
	}
	return l
}

// leftOut explains once why things were left out.
func (in *ingesting) leftOut() []string {
	counts := foreign.Report{}
	for _, r := range in.reading.Reports {
		for why, n := range r.LeftOut {
			if counts.LeftOut == nil {
				counts.LeftOut = map[string]int{}
			}
			counts.LeftOut[why] += n
		}
	}
	var lines []string
	for _, why := range counts.Reasons() {
		lines = append(lines, fmt.Sprintf("%s left out: %s", term.Thousands(counts.LeftOut[why]), why))
	}
	return lines
}

// notes says once what runs of the files lack.
func (in *ingesting) notes() []string {
	all := foreign.Report{}
	for _, r := range in.reading.Reports {
		for what, n := range r.Notes {
			if all.Notes == nil {
				all.Notes = map[string]int{}
			}
			all.Notes[what] += n
		}
	}
	return noted(&all)
}

// noted are the notes of a report, each with how often it is true.
func noted(r *foreign.Report) []string {
	var lines []string
	for _, what := range r.Noted() {
		lines = append(lines, fmt.Sprintf("note (%s): %s", term.Thousands(r.Notes[what]), what))
	}
	return lines
}

// total is the line that counts everything.
func (in *ingesting) total(done ingest.Appended) string {
	states := map[imports.State]int{}
	samples, runs, refused := int64(0), 0, 0
	for _, r := range in.reading.Reports {
		states[r.State]++
		runs += r.Runs
		samples += r.Samples
		refused += r.Refused
	}
	line := term.Count(len(in.reading.Reports)-states[imports.Store], "file")
	for _, p := range []struct {
		state imports.State
		words string
	}{{imports.Side, "beside others"}, {imports.Unknown, "not recognised"}, {imports.Failed, "not read"}} {
		if n := states[p.state]; n > 0 {
			line += fmt.Sprintf(", %s %s", term.Thousands(n), p.words)
		}
	}
	if in.dryRun {
		line += fmt.Sprintf(" · %s, nothing is stored (--dry-run)", term.Count(runs-in.reading.Known(), "run"))
	} else {
		line += " · " + in.appendedText(done)
	}
	line += " · " + term.Count(int(samples), "sample")
	if sessions := in.sessions(); len(sessions) > 0 {
		line += " · " + sessionsText(sessions)
	}
	if refused > 0 {
		line += fmt.Sprintf(" · %s refused", term.Count(refused, "record"))
	}
	return line
}

// sessions are how many runs of each were read.
func (in *ingesting) sessions() map[string]int {
	all := map[string]int{}
	for _, r := range in.reading.Reports {
		for id, n := range r.RunsOf {
			all[id] += n
		}
	}
	return all
}

// sessionsText counts sessions, of which the runs are given; those of the empty one are of none that is known.
func sessionsText(runs map[string]int) string {
	homeless, known := runs[""], len(runs)
	if homeless == 0 {
		return term.Count(known, "session")
	}
	unknown := "not known of " + term.Count(homeless, "run")
	if known == 1 {
		return "session " + unknown
	}
	return term.Count(known-1, "session") + ", " + unknown
}

// appendedText says what came of the runs of files.
func (in *ingesting) appendedText(done ingest.Appended) string {
	text := appendedText(done)
	if in.reading.Known() > 0 && len(in.options.Added.Tags) > 0 {
		text += " (with the tags that they have: neurolens tag adds others)"
	}
	return text
}

// appendedText says what came of runs.
func appendedText(done ingest.Appended) string {
	text := term.Count(done.Added, "run") + " stored"
	if done.Skipped > 0 {
		text += fmt.Sprintf(", %s there already", term.Thousands(done.Skipped))
	}
	if done.Differing > 0 {
		text += fmt.Sprintf(" (%s with other values or of another session, and stay as they are)", term.Thousands(done.Differing))
	}
	return text
}
