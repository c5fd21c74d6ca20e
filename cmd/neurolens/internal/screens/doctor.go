package screens

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

// Advice shows what is to be done, what is not known, and how many checks there were. Where the table is wider than
// the terminal, each piece of advice is a block of lines, and its command is never broken.
func Advice(env schema.Env, advice []probe.Advice, width int) term.View {
	v := term.View{Columns: []term.Column{{Header: "CHECK"}, {Header: "VALUE"}, {Header: "WHY"}, {Header: "REMEDY"}}}
	var blocks []string
	unknowns := map[string][]string{}
	states := map[string]int{}
	for _, d := range advice {
		states[d.State]++
		value := cmp.Or(d.Value, term.Unknown)
		switch {
		case d.Remedy != "":
			v.Rows = append(v.Rows, []term.Cell{{Text: d.Check}, {Text: value}, {Text: d.Why}, {Text: d.Remedy}})
			blocks = append(blocks, term.Wrapped(d.Check+term.Gap+value, width)...)
			blocks = append(blocks, term.Wrapped(adviceIndent+d.Why, width)...)
			blocks = append(blocks, adviceIndent+d.Remedy, "")
		case d.State == probe.StateUnknown:
			unknowns[d.Missing] = append(unknowns[d.Missing], d.Check)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(unknowns)) {
		v.Below = append(v.Below, "not known, "+reason+term.Gap+strings.Join(unknowns[reason], " "))
	}
	v.Below = append(v.Below, adviceCount(states, len(advice)))
	if len(v.Rows) == 0 {
		return v
	}
	v.Above = term.Heading(machineWords(env))
	v.Compact = func() term.View {
		lines := append(slices.Clone(v.Above), "")
		lines = append(lines, blocks...)
		for _, line := range v.Below {
			lines = append(lines, term.Wrapped(line, width)...)
		}
		return term.View{Commands: lines}
	}
	return v
}

// adviceIndent begins the lines of a block below its first.
const adviceIndent = "    "

// adviceCount is the last line, which counts every check.
func adviceCount(states map[string]int, checks int) string {
	if states[probe.StateOK] == checks {
		return term.Count(checks, "check") + ": nothing here is known to disturb measurements"
	}
	return fmt.Sprintf("%s: %d to look at, %d fine, %d not known; nothing was changed",
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
