package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
)

// reportLine is a row of what people see: a file, or all files of a format.
type reportLine struct {
	name, format, version string
	runs, sessions        int
	samples               int64
	rest                  string
	failed                bool
}

// lines are one a file where there are few, else one a format.
func (r IngestReport) lines() []reportLine {
	var all []reportLine
	var shown []ingest.FileReport
	for _, one := range r.Files {
		// What stands in a folder beside results is counted below the table, and named by the formats for programs.
		if one.State != ingest.FileSide && one.State != ingest.FileIsStore && (one.State != ingest.FileUnknown || one.Named) {
			shown = append(shown, one)
		}
	}
	if len(shown) <= maxFiles {
		for _, one := range shown {
			all = append(all, lineOf(one))
		}
		return all
	}
	place := map[string]int{}
	for _, one := range shown {
		l := lineOf(one)
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

func lineOf(r ingest.FileReport) reportLine {
	l := reportLine{name: r.Name, format: r.Format, version: r.Version, runs: r.Runs, sessions: r.Sessions, samples: r.Samples}
	left := 0
	for _, n := range r.LeftOut {
		left += n
	}
	switch {
	case r.State == ingest.FileUnknown:
		l.format, l.rest, l.failed = term.Unknown, "not recognised", true
	case r.State == ingest.FileFailed:
		l.format, l.rest, l.failed = term.Unknown, "not read", true
	case r.Refused > 0:
		l.rest, l.failed = term.Thousands(r.Refused)+" refused", true
	case r.State == ingest.FilePartly:
		l.rest, l.failed = "ends early", true
	case r.Known > 0:
		l.rest = term.Thousands(r.Known) + " already there"
	case left > 0:
		l.rest = term.Thousands(left) + " left out"
	}
	return l
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
