package layouts

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/layout"
)

// Show is what is wrong with files of layouts for people, with how much was checked; for programs that is written beside the table.
func Show(r layout.CheckReport, format string, stderr io.Writer) func() term.View {
	if !output.ForPeople(format) {
		fmt.Fprintln(stderr, counted(r))
	}
	return func() term.View { return problems(r) }
}

// problems shows what is wrong with files of layouts, a line a problem.
func problems(r layout.CheckReport) term.View {
	var v term.View
	for _, p := range r.Problems {
		words := []string{p.File}
		if p.Pointer != "" {
			words = append(words, p.Pointer)
		}
		v.Commands = append(v.Commands, term.OneLine(strings.Join(append(words, p.Why), ": ")))
	}
	v.Commands = append(v.Commands, counted(r))
	return v
}

// counted says how much was checked.
func counted(r layout.CheckReport) string {
	var layouts []string
	for _, l := range slices.Sorted(maps.Keys(r.Layouts)) {
		layouts = append(layouts, fmt.Sprintf("%s of layout %s", term.Count(r.Layouts[l], "file"), l))
	}
	text := strings.Join(layouts, ", ") + ": "
	switch len(r.Problems) {
	case 0:
		text += "as its schema says"
		if r.Files() > 1 {
			text = strings.TrimSuffix(text, "as its schema says") + "as their schemas say"
		}
	default:
		text += term.Count(len(r.Problems), "problem")
	}
	if r.Unknown > 0 {
		text += fmt.Sprintf("; %s ignored, of no layout", term.Count(r.Unknown, "file"))
	}
	return text
}

// ProblemFields are the columns of what is wrong with files of layouts.
func ProblemFields() []answer.Field[layout.Problem] {
	text := func(name, meaning string, of func(*layout.Problem) string) answer.Field[layout.Problem] {
		return answer.Field[layout.Problem]{
			Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(p *layout.Problem) any { return answer.Text(of(p)) },
		}
	}
	return []answer.Field[layout.Problem]{
		text("file", "the file", func(p *layout.Problem) string { return p.File }),
		text("pointer", "the place in the file: a JSON pointer, or a line of a table; empty: the whole file", func(p *layout.Problem) string { return p.Pointer }),
		text("problem", "what is wrong", func(p *layout.Problem) string { return p.Why }),
	}
}
