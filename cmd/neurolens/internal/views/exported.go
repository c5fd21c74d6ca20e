package views

import (
	"path/filepath"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
)

// ExportedFields are the columns of a list of exported files.
func ExportedFields() []answer.Field[export.File] {
	field := func(name string, t answer.Type, meaning string, of func(*export.File) any) answer.Field[export.File] {
		return answer.Field[export.File]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
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
