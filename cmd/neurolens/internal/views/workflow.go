package views

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
)

// WorkflowTable says what became of each file.
func WorkflowTable(files []project.WorkflowFile, states []string) answer.Table {
	t := answer.Table{Columns: []answer.Column{{Name: "file", Type: answer.TypeText}, {Name: "state", Type: answer.TypeText}}}
	for i, f := range files {
		t.Rows = append(t.Rows, []any{f.Path, states[i]})
	}
	return t
}

// Workflow says the same to people, and what to do next.
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
