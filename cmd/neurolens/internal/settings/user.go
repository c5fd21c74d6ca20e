package settings

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/runner/device"
)

// ofUser are the settings that belong to a user or a machine, and that no file of a project has.
func ofUser(given project.Given, lookup func(string) (string, bool), getenv func(string) string) []project.Setting {
	return []project.Setting{color(given, lookup), pager(given, lookup), locks(getenv)}
}

// color is decided by the variables that other programs know, in this order (see streams.Colored).
func color(given project.Given, lookup func(string) (string, bool)) project.Setting {
	s := project.Setting{Key: "color", Source: project.SourceDefault, Without: "on a terminal"}
	if value, typed := given("color"); typed != "" && value != "auto" {
		s.Value, s.Source, s.Where = value, project.SourceFlag, typed
		return s
	}
	is := func(name, value string) bool { text, _ := lookup(name); return text == value }
	for _, v := range []struct {
		name, value string
		decides     bool
	}{
		{"NO_COLOR", "never", !is("NO_COLOR", "")},
		{"FORCE_COLOR", "always", !is("FORCE_COLOR", "") && !is("FORCE_COLOR", "0")},
		{"CLICOLOR_FORCE", "always", !is("CLICOLOR_FORCE", "") && !is("CLICOLOR_FORCE", "0")},
		{"CLICOLOR", "never", is("CLICOLOR", "0")},
		{"TERM", "never", is("TERM", "dumb")},
	} {
		if v.decides {
			s.Value, s.Source, s.Where = v.value, project.SourceVariable, v.name
			break
		}
	}
	return s
}

// pager is the command that shows long answers on a terminal. A variable that is set to nothing switches it off.
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

// locks is the folder by which sessions know that a device is being measured.
func locks(getenv func(string) string) project.Setting {
	s := project.Setting{Key: "locks", Value: device.DefaultDir(func(string) string { return "" }), Source: project.SourceDefault}
	if text := getenv("NEUROLENS_LOCKS"); text != "" {
		s.Value, s.Source, s.Where = text, project.SourceVariable, "NEUROLENS_LOCKS"
	}
	return s
}
