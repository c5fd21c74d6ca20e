package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/device"
)

// newConfigCommand is config.
func newConfigCommand(a *app) *cobra.Command {
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
		RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
			p, line := a.project, given(cmd.Flags())
			remark := a.remarks()
			for _, text := range p.Remarks() {
				remark(text)
			}
			home, _ := os.LookupEnv("HOME")
			all := p.Settings(line, map[string]string{"store": project.NearestStore(home), "format": term.FormatTable})
			all = append(all, ofUser(line, os.LookupEnv, p.Getenv)...)
			return a.print(format, answer.TableOf(settingFields, all), func() term.View { return configView(p.Path(), all) })
		}),
	}
}

// given returns what the flags of a command line say.
func given(flags *pflag.FlagSet) project.Given {
	return func(flag string) (value, typed string) {
		if json := flags.Lookup("json"); flag == "format" && json != nil && json.Value.String() == "true" {
			return term.FormatJSON, "--json"
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

// settingFields are those of a row for programs.
var settingFields = []answer.Field[project.Setting]{
	answer.NewField("key", answer.TypeText, "", func(s *project.Setting) any { return s.Key }),
	answer.NewField("value", answer.TypeText, "", func(s *project.Setting) any { return answer.Text(s.Value) }),
	answer.NewField("source", answer.TypeText, "", func(s *project.Setting) any { return s.Source }),
	answer.NewField("origin", answer.TypeText, "", func(s *project.Setting) any { return answer.Text(s.Where) }),
}

// configView shows settings to people. Where nobody says a value, it says in words what holds.
func configView(path string, all []project.Setting) term.View {
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

// ofUser returns the settings that belong to a user or a machine, and that no file of a project has.
func ofUser(given project.Given, lookup func(string) (string, bool), getenv func(string) string) []project.Setting {
	return []project.Setting{color(given, lookup), pager(given, lookup), locks(getenv)}
}

// color is decided by the flag, and then by the variables that other programs know.
func color(given project.Given, lookup func(string) (string, bool)) project.Setting {
	s := project.Setting{Key: "color", Source: project.SourceDefault, Without: "on a terminal"}
	if value, typed := given("color"); typed != "" && value != "auto" {
		s.Value, s.Source, s.Where = value, project.SourceFlag, typed
		return s
	}
	if value, name := term.ColorVariable(func(name string) string { text, _ := lookup(name); return text }); name != "" {
		s.Value, s.Source, s.Where = value, project.SourceVariable, name
	}
	return s
}

// pager returns the command that shows long answers on a terminal. A variable that is set to nothing switches it off.
func pager(given project.Given, lookup func(string) (string, bool)) project.Setting {
	s := project.Setting{Key: "pager", Value: "less", Source: project.SourceDefault}
	if _, typed := given("no-pager"); typed != "" {
		s.Value, s.Source, s.Where = "none", project.SourceFlag, typed
		return s
	}
	for _, name := range []string{"NEUROLENS_PAGER", "PAGER"} {
		if text, set := lookup(name); set {
			if s.Value, s.Source, s.Where = text, project.SourceVariable, name; text == "" {
				s.Value = "none"
			}
			break
		}
	}
	return s
}

// locks returns the folder by which sessions know that a device is being measured.
func locks(getenv func(string) string) project.Setting {
	s := project.Setting{Key: "locks", Value: device.DefaultDir(func(string) string { return "" }), Source: project.SourceDefault}
	if text := getenv("NEUROLENS_LOCKS"); text != "" {
		s.Value, s.Source, s.Where = text, project.SourceVariable, "NEUROLENS_LOCKS"
	}
	return s
}
