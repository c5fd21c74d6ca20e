package views

import (
	"fmt"
	"path/filepath"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/export"
)

// done describes the effect of each kind of event.
var done = map[string]string{
	"remove": "removed; restore brings them back", "restore": "restored", "tag": "tagged", "untag": "untagged", "note": "noted", "bless": "blessed",
}

// Annotations counts the runs that got an annotation.
func Annotations(t answer.Table) term.View {
	var v term.View
	for _, row := range t.Rows {
		kind, _ := row[1].(string)
		n, _ := row[4].(int64)
		text := term.Count(int(n), "run") + " " + done[kind]
		if key, ok := row[2].(string); ok {
			text += " " + key
		}
		if value, ok := row[3].(string); ok && kind == "tag" {
			text += "=" + value
		}
		v.Below = append(v.Below, term.OneLine(fmt.Sprint(text)))
	}
	return v
}

// Blessed describes a baseline file that was written.
func Blessed(w *compare.BaselineWritten) term.View {
	text := fmt.Sprintf("%s of session %s written to %s", term.Count(w.Points, "point"), ShortRun(w.Session), w.File)
	if w.Replaced > 0 {
		text += fmt.Sprintf(", %s replaced", term.Thousands(w.Replaced))
	}
	if w.Kept > 0 {
		text += "; " + term.Count(w.Kept, "other point") + " kept"
	}
	lines := []string{term.OneLine(text)}
	if w.Few > 0 {
		lines = append(lines, fmt.Sprintf("%s fewer than 5 runs: a gate needs 5", term.Count(w.Few, "point")+" with"))
	}
	return term.View{Below: lines}
}

// ExportedFields returns the columns of a list of exported files.
func ExportedFields() []answer.Field[export.File] {
	field := answer.NewField[export.File]
	return []answer.Field[export.File]{
		field("path", answer.TypeText, "the file that was written", func(f *export.File) any { return filepath.ToSlash(f.Path) }),
		field("table_name", answer.TypeText, "the table that it holds", func(f *export.File) any { return f.Table }),
		field("rows", answer.TypeInteger, "how many rows", func(f *export.File) any { return f.Rows }),
	}
}

// Exported shows the files that an export has written.
func Exported(files []export.File) term.View {
	v := term.View{Columns: []term.Column{{Header: "FILE"}, {Header: "ROWS", Right: true}}, Below: []string{term.Count(len(files), "file")}}
	for _, f := range files {
		v.Rows = append(v.Rows, []term.Cell{{Text: filepath.ToSlash(f.Path)}, {Text: term.Thousands(int(f.Rows))}})
	}
	return v
}

// WorkflowTable has the state of each file.
func WorkflowTable(files []project.WorkflowFile, states []string) answer.Table {
	t := answer.Table{Columns: TextColumns("file", "state")}
	for i, f := range files {
		t.Rows = append(t.Rows, []any{f.Path, states[i]})
	}
	return t
}

// Workflow shows the files to people, with the next command.
func Workflow(t answer.Table, sweep string, there bool) term.View {
	var v term.View
	command := "git add"
	for _, row := range t.Rows {
		file, state := row[0].(string), row[1].(string)
		v.Below = append(v.Below, state+term.Gap+file)
		command += " " + file
	}
	if !there {
		v.Below = append(v.Below, "", "there is no "+sweep+" yet: write it, or name another file (--sweep FILE --force)")
	}
	v.Next = []string{"", "next  " + command}
	return v
}
