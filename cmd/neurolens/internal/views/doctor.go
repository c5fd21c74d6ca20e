package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
)

// Advice shows what is to be done, what is not known, and how many checks there were. Each command stands on a line of its
// own, which is never broken, so that it can be pasted.
func Advice(env schema.Env, advice []probe.Advice, width int) term.View {
	var lines []string
	unknowns := map[string][]string{}
	states := map[string]int{}
	for _, d := range advice {
		states[d.State]++
		switch {
		case d.Command+d.Remedy != "":
			lines = append(lines, term.Wrapped(d.Check+term.Gap+cmp.Or(d.Value, term.Unknown), width)...)
			lines = append(lines, term.Wrapped(adviceIndent+d.Why, width)...)
			if d.Command != "" {
				lines = append(lines, adviceIndent+d.Command)
			} else {
				lines = append(lines, term.Wrapped(adviceIndent+d.Remedy, width)...)
			}
			lines = append(lines, "")
		case d.State == probe.StateUnknown:
			unknowns[d.Missing] = append(unknowns[d.Missing], d.Check)
		}
	}
	if len(lines) > 0 {
		lines = append(append(term.Heading(machineWords(env)), ""), lines...)
	}
	for _, reason := range slices.Sorted(maps.Keys(unknowns)) {
		lines = append(lines, term.Wrapped("unknown, "+reason+term.Gap+strings.Join(unknowns[reason], " "), width)...)
	}
	return term.View{Commands: append(lines, term.Wrapped(adviceCount(states, len(advice)), width)...)}
}

// adviceIndent begins the lines of a block below its first.
const adviceIndent = "    "

// adviceCount is the last line, which counts every check.
func adviceCount(states map[string]int, checks int) string {
	if states[probe.StateOK] == checks {
		return term.Count(checks, "check") + ": nothing known to disturb measurements"
	}
	return fmt.Sprintf("%s: %d to look at, %d fine, %d unknown; nothing was changed",
		term.Count(checks, "check"), states[probe.StateAdvice], states[probe.StateOK], states[probe.StateUnknown])
}

// machineWords say whose advice it is.
func machineWords(env schema.Env) []string {
	var words []string
	for _, word := range []string{env.Machine, env.CPUModel, env.GPUName} {
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}
