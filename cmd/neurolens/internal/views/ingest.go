package views

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
)

// IngestReport is what came of the files that were read.
type IngestReport struct {
	Files  []ingest.FileReport
	Source string // of the runs, as ls is asked for them
	Known  int    // runs that the store had before
	DryRun bool
	Tagged bool // tags were to be added
	Stored StoredRuns
}

// StoredRuns counts what became of runs that were to be stored.
type StoredRuns struct {
	Added     int
	Skipped   int // they were there already
	Differing int // of these, with other values
	Replaced  int // earlier runs without a start, or with another one, that were removed
}

// Summary are the lines below the runs that would be stored: what was left out, what they lack, and what counts everything.
func (r IngestReport) Summary() []string {
	return slices.Concat(r.leftOut(), r.notes(), r.Times(), []string{r.total()})
}

// Explain names on standard error what was refused, with its place.
func (r IngestReport) Explain(w io.Writer) {
	const most = 20
	said := 0
	say := func(line string) {
		if said++; said <= most {
			fmt.Fprintln(w, "neurolens: ingest: "+term.OneLine(line))
		}
	}
	for _, one := range r.Files {
		if one.Why != "" && (one.State == ingest.FilePartly || one.State == ingest.FileFailed || one.State == ingest.FileUnknown && one.Named) {
			say(one.Name + ": " + one.Why)
		}
		for _, refusal := range one.Refusals {
			say(one.Name + ": " + refusal.String())
		}
		if more := one.Unnamed(); more > 0 {
			say(fmt.Sprintf("%s: %s more refused", one.Name, term.Thousands(more)))
		}
	}
	r.sayUnmatched(w)
	if said > most {
		fmt.Fprintf(w, "neurolens: ingest: … %s (--format plain has them, one row per file)\n", term.Count(said-most, "more line"))
	}
	if slices.ContainsFunc(r.Files, func(one ingest.FileReport) bool { return one.State == ingest.FileUnknown }) {
		fmt.Fprintln(w, "--list-formats lists the known formats; any table or JSON lines can be read with --from csv or jsonl and --map FILE")
	}
}

// sayUnmatched says of how many files --param-from-path makes no parameters.
func (r IngestReport) sayUnmatched(w io.Writer) {
	n, first := 0, ""
	for _, one := range r.Files {
		if one.NoParams && one.Runs > 0 {
			if n++; n == 1 {
				first = one.Name
			}
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "neurolens: ingest: --param-from-path does not match the path of %s: %s\n", term.Count(n, "file"), term.OneLine(first))
	}
}

// maxFiles is how many files a terminal names; of more it shows the formats.
const maxFiles = 20

// View has a row a file where there are few, else one a format; below it what was not stored, and why.
func (r IngestReport) View() term.View {
	v := term.View{Columns: []term.Column{
		{Header: "FILE"},
		{Header: "FORMAT"},
		{Header: "VERSION", Drop: 2},
		{Header: "RUNS", Right: true},
		{Header: "SESSIONS", Right: true, Drop: 1},
		{Header: "SAMPLES", Right: true},
		{Header: "NOT STORED", Drop: 1},
	}}
	folder := r.folder()
	if folder != "" {
		v.Above = []string{"in " + folder}
	}
	several := slices.ContainsFunc(r.Files, func(one ingest.FileReport) bool { return one.Sessions > 1 })
	for _, l := range r.lines() {
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
	v.Below = append(v.Below, r.leftOut()...)
	v.Below = append(v.Below, r.notes()...)
	v.Below = append(v.Below, r.Times()...)
	if names := r.passedOver(folder, ingest.FileUnknown); names != "" {
		v.Below = append(v.Below, "not recognised: "+names)
		v.Below = append(v.Below, r.resembling(folder)...)
	}
	if names := r.passedOver(folder, ingest.FileIsStore); names != "" {
		v.Below = append(v.Below, "stores, not read (use store merge to copy their runs): "+names)
	}
	v.Below = append(v.Below, r.total())
	if r.Stored.Added > 0 {
		v.Next = []string{"", "next  neurolens ls source=" + r.Source}
	}
	return v
}

// passedOver names the first that came to this in folders.
func (r IngestReport) passedOver(folder string, state ingest.FileState) string {
	const most = 5
	var names []string
	for _, one := range r.Files {
		if one.State == state && !one.Named {
			names = append(names, strings.TrimPrefix(one.Name, folder))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], term.Thousands(more)+" more")
	}
	return strings.Join(names, ", ")
}

// resembling says of files in folders that no format recognises what they look like: a line for the first file of each kind.
func (r IngestReport) resembling(folder string) []string {
	var said, lines []string
	for _, one := range r.Files {
		if one.State == ingest.FileUnknown && !one.Named && foreign.IsResemblance(one.Why) && !slices.Contains(said, one.Why) {
			said = append(said, one.Why)
			lines = append(lines, strings.TrimPrefix(one.Name, folder)+": "+one.Why)
		}
	}
	return lines
}

// folder is the one that all files are in, with its slash; empty where there is none, or one file.
func (r IngestReport) folder() string {
	if len(r.Files) < 2 {
		return ""
	}
	common := r.Files[0].Name
	for _, one := range r.Files {
		for !strings.HasPrefix(one.Name, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	return common[:strings.LastIndexByte(common, '/')+1]
}
