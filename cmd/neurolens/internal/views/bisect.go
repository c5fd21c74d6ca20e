package views

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// AnySweep is the placeholder in a command for an unknown sweep file.
const AnySweep = "SWEEP.yaml"

// Bisect returns the command that searches for the commit of a step between two commits, with a sweep file or AnySweep; empty if a commit is
// unknown, or if there is only one.
func Bisect(base, head, sweep string) string {
	if base == "" || head == "" || base == head {
		return ""
	}
	if sweep == "" {
		sweep = AnySweep
	}
	return fmt.Sprintf("neurolens bisect %s %s %s", ShortCommit(base), ShortCommit(head), term.ShellWord(sweep))
}
