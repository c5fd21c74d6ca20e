package screens

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// SealedTable has a row for each sealed file that was not there before, newest first.
func SealedTable(before, after []schema.SealedFile) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "file", Type: answer.TypeText},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "oldest", Type: answer.TypeTime},
		{Name: "newest", Type: answer.TypeTime},
	}}
	known := map[schema.SealedFile]bool{}
	for _, f := range before {
		known[f] = true
	}
	for _, f := range after {
		if !known[f] {
			t.Rows = append(t.Rows, []any{f.Path(schema.RunsDir), int64(f.Rows), timeOrNull(f.First), timeOrNull(f.Last)})
		}
	}
	return t
}
