package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner"
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
	for _, c := range kernelCounters {
		v.Columns = append(v.Columns, term.Column{Header: c.header, Right: true, Drop: 3})
	}
	names := foldedNames(all)
	for i := range all {
		o := &all[i]
		cells := []term.Cell{{Text: names[i]}, {Text: term.OneLine(o.Type)}, {Text: term.OneLine(o.Device)}, {Text: term.Unknown}, {Text: term.Unknown}, {Text: term.Unknown}}
		switch {
		case o.CountEach != nil:
			cells[3].Text = schema.ForPeople(*o.CountEach, "")
		case o.Count != nil:
			cells[3].Text = fmt.Sprint(*o.Count)
		}
		switch {
		case o.DurationEach != nil:
			cells[4].Text = schema.ForPeople(*o.DurationEach, "ns")
		case o.DurationNS != nil:
			cells[4].Text = term.Quantity(*o.DurationNS, "ns")
		}
		if o.Share != nil {
			cells[5].Text = fmt.Sprintf("%.1f %%", 100**o.Share)
		}
		for _, c := range kernelCounters {
			cell := term.Cell{Text: term.Unknown}
			if value, measured := o.Counters[c.name]; measured {
				cell.Text = Share(value)
			}
			cells = append(cells, cell)
		}
		v.Rows = append(v.Rows, cells)
	}
	v = withoutEmptyColumns(v, 1, term.Unknown)
	v.Below = aboutOperators(run, all)
	return v
}

// kernelCounters are the counters of kernels that have a column, with its header.
var kernelCounters = []struct{ name, header string }{{"sm_throughput", "SM"}, {"dram_throughput", "DRAM"}, {"l2_hit_rate", "L2"}, {"occupancy", "OCCUPANCY"}}

// foldedNames returns the names of operators without template arguments and parameters, and whole where that does not tell two of them apart.
func foldedNames(all []summary.Operator) []string {
	whole := map[string]string{} // by the folded name; empty: there are several
	for i := range all {
		name, folded := all[i].Name, summary.FoldName(all[i].Name)
		if other, known := whole[folded]; known && other != name {
			name = ""
		}
		whole[folded] = name
	}
	names := make([]string, len(all))
	for i := range all {
		if names[i] = summary.FoldName(all[i].Name); whole[names[i]] == "" {
			names[i] = all[i].Name
		}
	}
	return term.CutDistinct(names, longestName)
}

// longestName is how many columns the name of an operator takes at most: a template of C++ would push its type and time out of sight.
// Formats for programs have the whole name.
const longestName = 72

// noOperators says why a run has none, and where they come from.
func noOperators(run *schema.Run) string {
	text := "run " + ShortRun(run.RunID) + " has no operators: "
	if why := WhyNothing(run); why != "" {
		return text + why
	}
	if run.Source == schema.SourceNeuroLens {
		return text + "bench --profile measures them, in a separate run"
	}
	return text + "the imported file (" + term.OneLine(run.Source) + ") contains none; ingest reads those of Nsight Systems, torch.profiler, ONNX Runtime and layers of trtexec"
}

// WhyNothing returns the reason why a run has no operators and no stacks; empty if nothing says it.
func WhyNothing(run *schema.Run) string {
	why := cmp.Or(run.Error, run.Env.Missing["ops"])
	if why == "" && run.Purpose == schema.PurposeProfile && run.Source == schema.SourceNeuroLens {
		why = strings.Join(append([]string{"its profiler, " + OrUnknown(run.Env.Facts[schema.FactProfile]) + ", reports none"}, runner.PassNotes(run)...), "; ")
	}
	return term.OneLine(why)
}

// aboutOperators says what TIME and SHARE are of, and how much the profiler slowed the work down.
func aboutOperators(run *schema.Run, all []summary.Operator) []string {
	lines := []string{"TIME is the total of all calls in the profile"}
	if n := summary.Iterations(run); n > 0 {
		lines[0] = "COUNT and TIME are of one iteration: the mean of " + term.Thousands(int(n)) + " under the profiler"
	}
	if all[0].Type == "function" && all[0].DurationNS == nil {
		of := ""
		if summary.Iterations(run) > 0 {
			of = ", of one iteration"
		}
		lines[0] = "COUNT is the number of samples in the function itself" + of + "; plot flame draws the stacks"
	}
	if slices.ContainsFunc(all, func(o summary.Operator) bool { return summary.FoldName(o.Name) != o.Name }) {
		lines = append(lines, "<…> stands for template arguments: --format csv has whole names")
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

// OperatorChanges returns the operators of two sides, a row each, and their total.
func OperatorChanges(c *summary.OperatorChanges) term.View {
	v := term.View{Columns: []term.Column{
		{Header: "OPERATOR"}, {Header: "BASE", Right: true}, {Header: "HEAD", Right: true}, {Header: "CHANGE", Right: true}, {Header: "COUNT", Right: true, Drop: 1}, {Header: ""},
	}}
	time := func(ns float64, there bool) term.Cell {
		if !there {
			return term.Cell{Text: term.Unknown}
		}
		return term.Cell{Text: schema.ForPeople(ns, "ns")}
	}
	count := func(n *float64) string {
		if n == nil {
			return term.Unknown
		}
		return schema.ForPeople(*n, "")
	}
	states := map[summary.OperatorState]int{}
	names := make([]string, len(c.Rows))
	for i := range c.Rows {
		names[i] = c.Rows[i].Operator
	}
	names = term.CutDistinct(names, longestName)
	for i := range c.Rows {
		o := &c.Rows[i]
		states[o.State]++
		counts := count(o.BaseCount)
		if head := count(o.HeadCount); head != counts {
			counts += " → " + head
		}
		v.Rows = append(v.Rows, []term.Cell{
			{Text: names[i]},
			time(o.Base, o.State != summary.OperatorAppeared), time(o.Head, o.State != summary.OperatorVanished),
			{Text: SignedQuantity(o.Head-o.Base, "ns")},
			{Text: counts},
			{Text: string(o.State), Failed: o.State == summary.OperatorSlower, Won: o.State == summary.OperatorFaster},
		})
	}
	v.Rows = append(v.Rows, []term.Cell{{Text: "total"}, time(c.Base, true), time(c.Head, true), {Text: SignedQuantity(c.Head-c.Base, "ns")}, {}, {}})
	var parts []string
	for _, state := range summary.OperatorStates {
		if n := states[state]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+string(state))
		}
	}
	of := "times are totals of the profiles, as it is not known how many iterations they have"
	if c.PerIteration {
		of = "times are of one iteration"
	}
	if c.Points > 1 {
		of += ", added up over " + term.Count(c.Points, "point")
	}
	v.Below = []string{term.Count(len(c.Rows), "operator") + ": " + strings.Join(parts, ", "), of, "one profile of each side shows no noise: compare without --ops judges times"}
	return v
}
