package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/completion"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/verdicts"
	"github.com/neurolens/neurolens/query/compare"
)

// How a gate ends. The last line has said so already.
var (
	errRegression   = errors.New("")
	errInconclusive = errors.New("")
)

// gateMode is what gives a comparison an exit status of its own.
type gateMode string

const (
	gateOff        gateMode = ""
	gateStrict     gateMode = "strict"     // a point that is not settled ends with an exit status too
	gateRegression gateMode = "regression" // a point that is not settled is a warning in the last line
)

// register adds --gate to a command; without a value it is strict.
func (m *gateMode) register(cmd *cobra.Command) {
	cmd.Flags().Var(m, "gate", "exit 1 for a regression, 3 where unsettled; `MODE`: strict, regression (never 3)")
	cmd.Flags().Lookup("gate").NoOptDefVal = string(gateStrict)
	modes := []cobra.Completion{
		cobra.CompletionWithDesc(string(gateStrict), "exit 1 for a regression, 3 where a point is not settled"),
		cobra.CompletionWithDesc(string(gateRegression), "exit 1 for a regression, else 0"),
	}
	completion.Words(cmd, "gate", modes)
}

func (m *gateMode) String() string { return string(*m) }

// Type is empty: help prints the name that the usage text gives.
func (m *gateMode) Type() string { return "" }

// Set reads the value of --gate.
func (m *gateMode) Set(text string) error {
	switch mode := gateMode(text); mode {
	case gateStrict, gateRegression:
		*m = mode
		return nil
	}
	return errors.New("want strict or regression")
}

// verdict is the error that a gate ends with, nil where it lets pass.
func (m gateMode) verdict(g compare.Gate) error {
	switch {
	case g.Regressions > 0:
		return errRegression
	case m == gateStrict && (g.Unsettled > 0 || g.Points == 0):
		return errInconclusive
	}
	return nil
}

// line is the last line of a comparison; empty without a gate.
func (m gateMode) line(c *compare.Comparison) string {
	if m == gateOff {
		return ""
	}
	g := c.Gate()
	return verdicts.GateLine(g, verdicts.Noun(c), m == gateRegression, exitCode(m.verdict(g)))
}

// endGate ends a comparison that was printed with the verdict of its gate. The last line of a format for people has said
// it; for programs it goes to standard error.
func (a *app) endGate(m gateMode, c *compare.Comparison, format string) error {
	if m == gateOff {
		return nil
	}
	if !output.ForPeople(format) {
		fmt.Fprintln(a.stderr, m.line(c))
	}
	return m.verdict(c.Gate())
}

// misplaced is the error of a mode that stands behind a space, where it is a filter.
func (m gateMode) misplaced(args []string) error {
	if m != gateOff && len(args) > 0 && new(gateMode).Set(args[0]) == nil {
		return usageErrorf("--gate %s: the mode follows an equals sign: --gate=%s", args[0], args[0])
	}
	return nil
}
