package views

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// Operators returns the operators of a run, a row each.
func Operators(run *schema.Run, all []summary.Operator) term.View {
	if len(all) == 0 {
		return term.View{Below: []string{noOperators(run)}}
	}
	v := term.View{Columns: []term.Column{
		{Header: "OPERATOR"}, {Header: "TYPE"}, {Header: "DEVICE", Drop: 2}, {Header: "COUNT", Right: true, Drop: 1}, {Header: "TIME", Right: true}, {Header: "SHARE", Right: true},
	}}
	for i := range all {
		o := &all[i]
		cells := []term.Cell{{Text: term.Cut(o.Name, longestName)}, {Text: term.OneLine(o.Type)}, {Text: term.OneLine(o.Device)}, {Text: term.Unknown}, {Text: term.Unknown}, {Text: term.Unknown}}
		if o.Count != nil {
			cells[3].Text = fmt.Sprint(*o.Count)
		}
		if o.DurationNS != nil {
			cells[4].Text = term.Quantity(*o.DurationNS, "ns")
		}
		if o.Share != nil {
			cells[5].Text = fmt.Sprintf("%.1f %%", 100**o.Share)
		}
		v.Rows = append(v.Rows, cells)
	}
	v = withoutEmptyColumns(v, 1, term.Unknown)
	v.Below = aboutOperators(run, all)
	return v
}

// longestName is how many columns the name of an operator takes at most: a template of C++ would push its type and time out of sight.
// Formats for programs have the whole name.
const longestName = 72

// noOperators says why a run has none, and where they come from.
func noOperators(run *schema.Run) string {
	text := "run " + ShortRun(run.RunID) + " has no operators: "
	if run.Source == schema.SourceNeuroLens {
		return text + "bench --profile measures them, in a separate run"
	}
	return text + "the imported file (" + term.OneLine(run.Source) + ") contains none; ingest reads those of Nsight Systems, torch.profiler, ONNX Runtime and layers of trtexec"
}

// aboutOperators says what TIME and SHARE are of, and how much the profiler slowed the work down.
func aboutOperators(run *schema.Run, all []summary.Operator) []string {
	lines := []string{"TIME is the total of all calls in the profile"}
	if n := run.Env.Facts["profile.iterations"]; n != "" {
		lines[0] = "TIME is the total of " + n + " iterations under the profiler"
	}
	if text := slowdown(run.Env.Facts); text != "" {
		lines = append(lines, text)
	}
	lines = append(lines, ProfileWarnings(run.Warnings)...)
	nested := func(o summary.Operator) bool { return o.DurationNS != nil && summary.IsNestedOperator(o.Type) }
	if slices.ContainsFunc(all, nested) {
		lines = append(lines, "some rows contain or start others (ranges, calls), and SHARE counts the time of both; plot ops does not")
	}
	return lines
}

// slowdown says how long an iteration took under the profiler and without it; empty: that is not known.
func slowdown(facts map[string]string) string {
	with, err := strconv.ParseInt(facts["profile.latency_ns"], 10, 64)
	without, errWithout := strconv.ParseInt(facts["profile.unprofiled_ns"], 10, 64)
	if err != nil || errWithout != nil || without <= 0 {
		return ""
	}
	return fmt.Sprintf("an iteration took %s under the profiler and %s without it: %.3gx", term.Quantity(with, "ns"), term.Quantity(without, "ns"), float64(with)/float64(without))
}
