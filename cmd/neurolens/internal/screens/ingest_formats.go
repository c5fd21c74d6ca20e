package screens

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/answer"
)

// FormatsTable has a row for each format that is read.
func FormatsTable(all []foreign.Format) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "format", Type: answer.TypeText}, {Name: "about", Type: answer.TypeText}, {Name: "level", Type: answer.TypeText},
	}}
	for _, f := range all {
		if f.Read != nil {
			t.Rows = append(t.Rows, []any{f.Name, f.About, f.Level})
		}
	}
	return t
}

// Formats names each format that is read, says what it is of, and what of it becomes a run.
func Formats(all []foreign.Format) term.View {
	var v term.View
	n := 0
	for _, f := range all {
		if f.Read != nil {
			n++
			v.Above = append(v.Above, f.Name, "  "+f.About, "  "+f.Level)
		}
	}
	v.Below = []string{term.Count(n, "format") + "; --from NAME reads a file as one of them"}
	return v
}
