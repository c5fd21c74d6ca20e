package main

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDefaultsAreFlags: what docs/projects.md lists as flags with defaults, which is all of them, the commands have.
func TestDefaultsAreFlags(t *testing.T) {
	t.Parallel()
	page := valuetest.Must(docs.Pages.ReadFile("projects.md"))
	root := newRootCommand(&app{})
	_, table, _ := strings.Cut(string(page), "| flags that may have a default |\n|---|---|\n")
	checked := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		cmd, _, err := root.Find([]string{strings.Trim(cells[1], " `")})
		if err != nil {
			t.Fatal(err)
		}
		for flag := range strings.FieldsSeq(strings.ReplaceAll(cells[2], "`", "")) {
			if cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag %s", cmd.Name(), flag)
			}
			checked++
		}
	}
	if checked < 10 {
		t.Errorf("%d flags were checked", checked)
	}
}
