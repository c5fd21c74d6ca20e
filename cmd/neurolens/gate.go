package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
)

// The errors that a gate ends with. They have no text, because the last line of the output says it.
var (
	errRegression   = errors.New("")
	errInconclusive = errors.New("")
)

// gateMode is what gives a comparison an exit status of its own.
type gateMode string

const (
	gateOff    gateMode = ""
	strict     gateMode = "strict"     // an inconclusive point ends with an exit status too
	regression gateMode = "regression" // an inconclusive point is a warning in the last line, unless requests failed or nothing was compared
)

// register adds --gate to a command; without a value it is strict.
func (m *gateMode) register(cmd *cobra.Command) {
	cmd.Flags().Var(m, "gate", "exit 1 for a regression, 3 if inconclusive; `MODE`: strict, regression (inconclusive is 0)")
	cmd.Flags().Lookup("gate").NoOptDefVal = string(strict)
	modes := []cobra.Completion{
		cobra.CompletionWithDesc(string(strict), "exit 1 for a regression, 3 if a point is inconclusive"),
		cobra.CompletionWithDesc(string(regression), "exit 1 for a regression, 0 if a point is inconclusive"),
	}
	help.Words(cmd, "gate", modes)
}

func (m *gateMode) String() string { return string(*m) }

// Type is empty: help prints the name that the usage text gives.
func (m *gateMode) Type() string { return "" }

// Set reads the value of --gate.
func (m *gateMode) Set(text string) error {
	switch mode := gateMode(text); mode {
	case strict, regression:
		*m = mode
		return nil
	}
	return errors.New("want strict or regression")
}

// verdict returns the error that a gate ends with, nil if it passes. No gate passes if nothing was compared, if requests failed, or if no
// run has one of the requested metrics.
func (m gateMode) verdict(g compare.Gate) error {
	switch {
	case g.Regressions > 0:
		return errRegression
	case g.Requests > 0, g.Points == 0, len(g.Absent) > 0, m == strict && g.Inconclusive > 0:
		return errInconclusive
	}
	return nil
}

// status returns the exit status of a verdict.
func status(verdict error) int {
	switch verdict {
	case errRegression:
		return exitRegression
	case errInconclusive:
		return exitInconclusive
	}
	return 0
}

// line returns the last line of a comparison; empty without a gate.
func (m gateMode) line(c *compare.Comparison) string {
	if m == gateOff {
		return ""
	}
	g := c.Gate()
	return views.GateLine(g, views.Noun(c), m == regression, status(m.verdict(g)))
}

// historyLine returns the last line of a history; empty without a gate.
func (m gateMode) historyLine(w views.History) string {
	if m == gateOff {
		return ""
	}
	return w.GateLine(status(m.historyVerdict(w.H.Gate)))
}

// historyVerdict returns the error that the gate of a history ends with; series that are too short to decide do not count.
func (m gateMode) historyVerdict(g history.Gate) error {
	switch {
	case g.Regressed > 0:
		return errRegression
	case m == strict && (g.Inconclusive > 0 || g.Series == g.Short):
		return errInconclusive
	}
	return nil
}

// misplaced returns the error of a mode that stands behind a space, where it is a filter.
func (m gateMode) misplaced(args []string) error {
	if m != gateOff && len(args) > 0 && new(gateMode).Set(args[0]) == nil {
		return fmt.Errorf("--gate %s: write the mode after an equals sign: --gate=%s", args[0], args[0])
	}
	return nil
}

// endGate ends a comparison that was printed with the verdict of its gate. The last line of a format for people has said
// it; for programs it goes to standard error.
func (a *app) endGate(m gateMode, c *compare.Comparison, format string) error {
	if m == gateOff {
		return nil
	}
	if !term.ForPeople(format) {
		fmt.Fprintln(a.stderr, m.line(c))
	}
	return m.verdict(c.Gate())
}
