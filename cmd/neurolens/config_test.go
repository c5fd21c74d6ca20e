package main

import (
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// TestOfUser: what belongs to a user comes from flags and variables, as the parts of the program that use it read them.
func TestOfUser(t *testing.T) {
	for _, c := range []struct {
		flags, environ map[string]string
		key            string
		want           project.Setting
	}{
		{nil, nil, "color", project.Setting{Source: "default"}},
		{nil, map[string]string{"CLICOLOR": "0", "FORCE_COLOR": "1"}, "color", project.Setting{Value: "always", Source: "variable", Where: "FORCE_COLOR"}},
		{nil, map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, "color", project.Setting{Value: "never", Source: "variable", Where: "NO_COLOR"}},
		{nil, map[string]string{"FORCE_COLOR": "0", "TERM": "dumb"}, "color", project.Setting{Value: "never", Source: "variable", Where: "TERM"}},
		{map[string]string{"color": "always"}, map[string]string{"NO_COLOR": "1"}, "color", project.Setting{Value: "always", Source: "flag", Where: "--color"}},
		{nil, nil, "pager", project.Setting{Value: "less", Source: "default"}},
		{nil, map[string]string{"PAGER": "more"}, "pager", project.Setting{Value: "more", Source: "variable", Where: "PAGER"}},
		{nil, map[string]string{"PAGER": "more", "NEUROLENS_PAGER": ""}, "pager", project.Setting{Value: "none", Source: "variable", Where: "NEUROLENS_PAGER"}},
		{map[string]string{"no-pager": "true"}, map[string]string{"PAGER": "more"}, "pager", project.Setting{Value: "none", Source: "flag", Where: "--no-pager"}},
		{nil, nil, "locks", project.Setting{Value: "/tmp/neurolens-locks", Source: "default"}},
		{nil, map[string]string{"NEUROLENS_LOCKS": "x"}, "locks", project.Setting{Value: "x", Source: "variable", Where: "NEUROLENS_LOCKS"}},
	} {
		given := func(flag string) (string, string) {
			if value, is := c.flags[flag]; is {
				return value, "--" + flag
			}
			return "", ""
		}
		lookup := func(name string) (string, bool) { value, set := c.environ[name]; return value, set }
		for _, got := range ofUser(given, lookup, func(name string) string { return c.environ[name] }) {
			got.Without = ""
			if c.want.Key = c.key; got.Key == c.key && got != c.want {
				t.Errorf("%s with %v and %v is %+v, want %+v", c.key, c.flags, c.environ, got, c.want)
			}
			if got.Key != "color" {
				continue
			}
			for _, terminal := range []bool{false, true} {
				colored := term.Colored(c.flags["color"], terminal, func(name string) string { return c.environ[name] })
				if want := got.Value == "always" || got.Value == "" && terminal; colored != want {
					t.Errorf("with %v and %v there is colour: %v, and config shows color as %q", c.flags, c.environ, colored, got.Value)
				}
			}
		}
	}
}
