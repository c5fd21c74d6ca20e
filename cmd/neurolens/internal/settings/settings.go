// Package settings is the command config: the settings of a project, and where each comes from.
package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
)

// Source is what the command asks the program.
type Source struct {
	Project func() *project.Project // after the command line was read
	Format  func() (string, error)
	Print   func(format string, t answer.Table, view func() term.View) error
	Lookup  func(variable string) (value string, set bool)
	Remark  func(text string)
}

// Command is config.
func Command(s Source, noArguments cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the settings of this project, and where they are set",
		Long: `Show each project setting with its value, and where the value comes from: a
flag, an environment variable, a line of neurolens.yaml, or the default. A flag
overrides a variable, and a variable overrides the nearest neurolens.yaml, here
or in a parent folder. color, pager and locks cannot be set in a project file.
Nothing is changed or started, and no store is needed (neurolens help projects).`,
		Example: `  neurolens config
  neurolens config --format json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, err := s.Format()
			if err != nil {
				return err
			}
			p, line := s.Project(), given(cmd.Flags())
			for _, text := range p.Remarks() {
				s.Remark(text)
			}
			home, _ := s.Lookup("HOME")
			all := p.Settings(line, map[string]string{"store": project.NearestStore(home), "format": output.FormatTable})
			all = append(all, ofUser(line, s.Lookup, p.Getenv)...)
			return s.Print(format, answer.TableOf(fields, all), func() term.View { return view(p.Path(), all) })
		},
	}
}

// given is what the flags of a command line say.
func given(flags *pflag.FlagSet) project.Given {
	return func(flag string) (value, typed string) {
		if json := flags.Lookup("json"); flag == "format" && json != nil && json.Value.String() == "true" {
			return output.FormatJSON, "--json"
		}
		f := flags.Lookup(flag)
		if f == nil || !f.Changed {
			return "", ""
		}
		if list, is := f.Value.(pflag.SliceValue); is {
			return strings.Join(list.GetSlice(), ","), "--" + flag
		}
		return f.Value.String(), "--" + flag
	}
}

// fields are those of a row for programs.
var fields = []answer.Field[project.Setting]{
	{Column: text("key"), Of: func(s *project.Setting) any { return s.Key }},
	{Column: text("value"), Of: func(s *project.Setting) any { return answer.Text(s.Value) }},
	{Column: text("source"), Of: func(s *project.Setting) any { return s.Source }},
	{Column: text("origin"), Of: func(s *project.Setting) any { return answer.Text(s.Where) }},
}

func text(name string) answer.Column { return answer.Column{Name: name, Type: answer.TypeText} }

// view shows settings to people. Where nobody says a value, it says in words what holds.
func view(path string, all []project.Setting) term.View {
	v := term.View{Columns: []term.Column{{Header: "KEY", Fixed: true}, {Header: "VALUE"}, {Header: "FROM", Fixed: true}}}
	if v.Above = []string{"no neurolens.yaml here or in a parent folder"}; path != "" {
		v.Above = []string{path}
	}
	counts := map[string]int{}
	for _, s := range all {
		counts[s.Source]++
		value, from := s.Value, s.Where
		if value == "" {
			value = s.Without
		}
		if from == "" {
			from = s.Source
		}
		v.Rows = append(v.Rows, []term.Cell{{Text: s.Key}, {Text: value}, {Text: from}})
	}
	var parts []string
	for _, part := range []struct{ source, words string }{
		{project.SourceFlag, "by flag"},
		{project.SourceVariable, "by variable"},
		{project.SourceFile, "by neurolens.yaml"},
		{project.SourceDefault, "by default"},
	} {
		if n := counts[part.source]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.words))
		}
	}
	v.Below = []string{term.Count(len(all), "setting") + ": " + strings.Join(parts, ", ")}
	return v
}
