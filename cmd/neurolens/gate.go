package main

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/gate"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/query/compare"
)

// endGate ends a comparison that was printed with the verdict of its gate. The last line of a format for people has said
// it; for programs it goes to standard error.
func (a *app) endGate(m gate.Mode, c *compare.Comparison, format string) error {
	if m == gate.Off {
		return nil
	}
	if !output.ForPeople(format) {
		fmt.Fprintln(a.stderr, m.Line(c))
	}
	return m.Verdict(c.Gate())
}
