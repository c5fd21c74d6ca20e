package views

import (
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/answer"
)

// FormatFields are the columns of a list of formats.
func FormatFields() []answer.Field[foreign.Format] {
	text := func(name, meaning string, of func(*foreign.Format) string) answer.Field[foreign.Format] {
		return answer.Field[foreign.Format]{
			Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(f *foreign.Format) any { return of(f) },
		}
	}
	return []answer.Field[foreign.Format]{
		text("format", "the name for --from", func(f *foreign.Format) string { return f.Name }),
		text("about", "the tool, and which of its files are read", func(f *foreign.Format) string { return f.About }),
		text("level", "what becomes a run, and what a sample", func(f *foreign.Format) string { return f.Level }),
	}
}

// Readable are the formats that can be read.
func Readable(all []foreign.Format) []foreign.Format {
	return slices.DeleteFunc(slices.Clone(all), func(f foreign.Format) bool { return f.Read == nil })
}

// Formats names each format, says what it is of, and what of it becomes a run.
func Formats(all []foreign.Format) term.View {
	v := term.View{Below: []string{term.Count(len(all), "format") + "; --from NAME reads a file in that format"}}
	for _, f := range all {
		v.Above = append(v.Above, f.Name, "  "+f.About, "  "+f.Level)
	}
	return v
}
