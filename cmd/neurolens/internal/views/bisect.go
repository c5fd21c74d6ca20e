package views

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
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

// OnlyCommit returns the command that shows the head of a range if the base is its only parent, so that there is nothing to search for; else
// nothing.
func (r Display) OnlyCommit(base, head string) string {
	if r.Parent == nil || schema.BisectedCommit(base) == "" || schema.BisectedCommit(head) == "" || !strings.HasPrefix(r.Parent(head), base) {
		return ""
	}
	return "git show " + ShortCommit(head)
}

// Bisected returns the commit that a bisect found between two commits, or these with what it found instead: see history.Bisected.
func Bisected(found, base, head string) string {
	switch found {
	case schema.BisectNothing:
		return commitRange(base, head) + ", no difference by bisect"
	case schema.BisectUndecided:
		return commitRange(base, head) + ", undecided by bisect"
	}
	return ShortCommit(found) + ", found by bisect"
}
