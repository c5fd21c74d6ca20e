package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
)

// headline is a comparison in a line.
func (d *Document) headline(c *summary.Comparison) string {
	a := &c.All
	byDifference := ""
	if a.Differences > 0 {
		byDifference = "; " + term.Count(a.Differences, "pair") + " compared by difference"
	}
	if a.Compared == 0 {
		text := fmt.Sprintf("against %s: none of %s has a ratio", c.Name(), term.Count(a.Pairs, "pair")) + byDifference
		if n := c.Verdicts[string(judge.Regressed)]; n > 0 {
			text += ", " + term.Thousands(n) + " regressed by verdict"
		}
		return text
	}
	better := d.direction(c)
	return fmt.Sprintf("against %s: %s of %s slower by estimate, %s regressed by verdict; geometric mean %s, median %s, best %s, worst %s", c.Name(),
		term.Thousands(a.Slower), term.Count(a.Compared, "pair"), term.Thousands(c.Verdicts[string(judge.Regressed)]), changed(a.GeometricMean, better), changed(a.Median, better), d.changeAt(a.BestPair), d.changeAt(a.WorstPair)) + byDifference
}

// comparisons are the changes from each baseline, in all and for each group, benchmark and value of the axis.
func (p page) comparisons() {
	for i := range p.d.Comparisons {
		c := &p.d.Comparisons[i]
		p.title(2, "Changes from "+c.Name())
		p.line("%s. A change is estimated from pairs of runs, so with few, noisy runs it can differ from that of the medians above.", capital(p.d.headline(c)))
		if c.All.Compared == 1 {
			p.line("The only one: %s.", p.pairText(c.All.BestPair))
		}
		if c.All.Compared > 1 {
			p.line("Best: %s. Worst: %s.", p.pairText(c.All.BestPair), p.pairText(c.All.WorstPair))
		}
		p.line("%s", verdictsText(c))
		p.ratios(c, groupWord(p.d.Selection.By), c.Groups)
		if len(c.Values) > 1 && len(c.Values) <= maxNamed && len(c.Values) < c.All.Pairs {
			p.ratios(c, c.Axis, c.Values)
			p.wins(c)
		}
		if len(c.Benchmarks) > 1 && len(c.Benchmarks) <= maxNamed && len(c.Benchmarks) < c.All.Pairs {
			p.ratios(c, "benchmark", c.Benchmarks)
		}
	}
}

// maxNamed is the largest number of rows in a table of changes. The rows of the results have the changes, too.
const maxNamed = 40

// reasons say why there is no verdict.
var reasons = map[judge.Reason]string{
	judge.FewRuns: "too few runs", judge.Noise: "too much noise", judge.Quantised: "clock too coarse", judge.Sessions: "different sessions",
	judge.Machines: "different machines", judge.Clocks: "different clocks", judge.Levels: "different kinds of samples", judge.Units: "different units",
	judge.Order: "one side ran before the other", judge.Unchecked: "a result that could not be checked", judge.Wrong: views.WrongResult,
	judge.Unsettled: "sessions differ more than they did", judge.FailedRequests: "failed requests", judge.NoValues: "no values",
}

// reasonText is a reason in words; of a newer version, its code.
func reasonText(reason string) string { return cmp.Or(reasons[judge.Reason(reason)], reason) }

// verdictsText says how many pairs have which verdict.
func verdictsText(c *summary.Comparison) string {
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(c.Verdicts)) {
		parts = append(parts, term.Thousands(c.Verdicts[v])+" "+v)
	}
	text := "Verdicts: " + strings.Join(parts, ", ")
	if len(c.Reasons) > 0 {
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(c.Reasons)) {
			why = append(why, term.Thousands(c.Reasons[reason])+" for "+reasonText(reason))
		}
		text += ". Pairs without a verdict: " + strings.Join(why, ", ")
	}
	if c.Verdicts[string(judge.Estimate)] > 0 {
		text += "; an estimate is not a verdict"
	}
	return text + "."
}

// wins says which value of the axis is the fastest how often.
func (p page) wins(c *summary.Comparison) {
	if c.Sets < 2 {
		return
	}
	names := slices.SortedFunc(maps.Keys(c.Wins), func(a, b string) int { return cmp.Or(c.Wins[b]-c.Wins[a], strings.Compare(a, b)) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + " " + term.Thousands(c.Wins[name])
	}
	p.line("Fastest by estimate, for %s: %s.", term.Count(c.Sets, "baseline"), strings.Join(parts, ", "))
}

// groupWord says what the groups of a report are.
func groupWord(by []string) string {
	if slices.Equal(by, []string{"suite"}) {
		return "suite"
	}
	return "group"
}

// ratios is a table of the changes of groups of pairs, with all of them last.
func (p page) ratios(c *summary.Comparison, what string, rows []summary.NamedRatios) {
	if len(rows) < 2 {
		return
	}
	t := table{columns: []column{
		{header: what},
		{"pairs", true},
		{"compared", true},
		{"slower", true},
		{"geometric mean", true},
		{"median", true},
		{"best", true},
		{"worst", true},
	}}
	better := p.d.direction(c)
	for _, r := range append(slices.Clone(rows), summary.NamedRatios{Name: "all", Ratios: c.All}) {
		t.rows = append(t.rows, []string{
			views.OrUnknown(string(r.Name)), term.Thousands(r.Pairs), term.Thousands(r.Compared), term.Thousands(r.Slower),
			changed(r.GeometricMean, better), changed(r.Median, better), p.d.changeAt(r.BestPair), p.d.changeAt(r.WorstPair),
		})
	}
	t.write(p.w)
}

// changeAt is the change of the pair at a place; unknown without a place.
func (d *Document) changeAt(place *int) string {
	if place == nil {
		return term.Unknown
	}
	return changeText(&d.Pairs[*place])
}

// pairText is a pair in words.
func (p page) pairText(place *int) string {
	pair := &p.d.Pairs[*place]
	return fmt.Sprintf("%s, %s instead of %s: %s", changeText(pair), quantity(pair.Value, pair.Unit), quantity(pair.Base, pair.Unit), p.names.pair(pair))
}

// against is a comparison as a column of results.
type against struct {
	name  string
	pairs map[pairKey]*summary.Pair
}

// pairKey is a point of a comparison.
type pairKey struct{ point, machine summary.Text }

// columnsOf are the comparisons as columns.
func columnsOf(d *Document) []against {
	all := make([]against, len(d.Comparisons))
	for i := range d.Comparisons {
		all[i] = against{d.Comparisons[i].Name(), make(map[pairKey]*summary.Pair, d.Comparisons[i].All.Pairs)}
	}
	for i := range d.Pairs {
		pair := &d.Pairs[i]
		all[pair.Comparison].pairs[pairKey{pair.PointID, pair.Machine}] = pair
	}
	return all
}

// among are the comparisons of which some points are.
func among(all []against, points []summary.Point) (some []against) {
	for _, a := range all {
		for i := range points {
			if a.pairs[pairKey{points[i].PointID, points[i].Machine}] != nil {
				some = append(some, a)
				break
			}
		}
	}
	return some
}

// cell is the change of a point, with the verdict where there is one.
func (a against) cell(p *summary.Point) string {
	pair := a.pairs[pairKey{p.PointID, p.Machine}]
	if pair == nil || p.Side == "base" {
		return ""
	}
	text := changeText(pair)
	if v := judge.Verdict(pair.Verdict); v != judge.Estimate && text != term.Unknown {
		text += " " + pair.Verdict
	}
	return text
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
