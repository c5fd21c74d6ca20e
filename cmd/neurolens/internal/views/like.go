package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// shownDifferences is how many operators a table names to explain a distance, and minShown the least change of a share that is
// worth a word.
const (
	shownDifferences = 2
	minShown         = .005
)

// Like is a table of runs by their distance from one: what all share above it, a column for each axis in which they differ, and
// which operators make the distance.
func (l Listing) Like(found summary.Similar) term.View {
	short := ShortRun(found.To)
	if len(found.Rows) == 0 {
		return term.View{Below: []string{"there was no other run to compare with " + short}}
	}
	subjects := make([]Subject, len(found.Rows))
	for i := range found.Rows {
		subjects[i] = subjectOf(found.Rows[i].ListedRun)
	}
	constants, varying := Axes(subjects, RunColumns)
	below := fmt.Sprintf("like %s, the nearest first; %s compared", short, term.Count(found.Compared, "run"))
	if len(found.Rows) < found.Compared {
		below = fmt.Sprintf("like %s, the nearest %s of %s compared (--limit 0 for all)", short, term.Thousands(len(found.Rows)), term.Count(found.Compared, "run"))
	}
	v, names := term.View{Above: term.Heading(constants), Below: []string{below}}, operatorNames(found.Rows)
	table := func(v term.View, varying []Axis, most int) term.View {
		v.Columns = []term.Column{{Header: "RUN"}, {Header: "WHEN " + l.Reader.Offset(), Drop: 1}}
		for _, x := range varying {
			v.Columns = append(v.Columns, AxisColumn(x))
		}
		v.Columns = append(v.Columns, term.Column{Header: "DIST", Right: true}, term.Column{Header: "SHARED", Right: true, Drop: 2}, term.Column{Header: "DIFFERENCES", Fixed: most > 1})
		for i := range found.Rows {
			row := &found.Rows[i]
			cells := []term.Cell{{Text: ShortRun(row.RunID)}, {Text: l.Reader.When(row.StartedAt)}}
			for _, x := range varying {
				cells = append(cells, AxisCell(x, i))
			}
			v.Rows = append(v.Rows, append(cells, term.Cell{Text: fmt.Sprintf("%.3f", row.Distance)}, term.Cell{Text: percent(row.Shared)}, term.Cell{Text: differencesText(row, names, most)}))
		}
		return v
	}
	v = table(v, varying, shownDifferences)
	v.Compact = func() term.View {
		merged := l.Reader.MergedAxes(varying)
		short := table(term.View{Above: v.Above, Below: v.Below}, merged, shownDifferences)
		for most := shownDifferences - 1; most > 0 && !short.Fits(l.Reader.Page()); most-- { // rather fewer than half of one
			short = table(term.View{Above: v.Above, Below: v.Below}, merged, most)
		}
		return short
	}
	return v
}

// NotCompared are what people should know of what was compared, a line each: that it is another run's operators, and which runs
// were not.
func NotCompared(run *schema.Run, found summary.Similar) []string {
	var lines []string
	if found.To != run.RunID {
		lines = append(lines, fmt.Sprintf("run %s has no operators: run %s, a profile of the same point, is used instead", ShortRun(run.RunID), ShortRun(found.To)))
	}
	if found.Without > 0 {
		verb := map[bool]string{true: "was", false: "were"}[found.Without == 1]
		lines = append(lines, fmt.Sprintf("%s without operators, or not ok, %s not compared", term.Count(found.Without, "run"), verb))
	}
	return lines
}

// differencesText names the operators that make a distance, as many as most.
func differencesText(row *summary.SimilarRun, names map[string]string, most int) string {
	var words []string
	for _, d := range row.Differences {
		if text := differenceText(d, names[d.Operator]); text != "" {
			words = append(words, text)
		}
	}
	if len(words) > most {
		words = append(words[:most:most], "…")
	}
	return cmp.Or(strings.Join(words, ", "), "the same")
}

// differenceText is one of them: its shares, and its sizes where these differ; empty where that is not worth a word.
func differenceText(d summary.OperatorDifference, name string) string {
	switch {
	case d.Share == nil:
		return fmt.Sprintf("%s %s → none", name, percent(*d.To))
	case d.To == nil:
		return fmt.Sprintf("%s none → %s", name, percent(*d.Share))
	}
	var words []string
	if change := *d.Share - *d.To; max(change, -change) >= minShown {
		words = append(words, fmt.Sprintf("%s → %s", percent(*d.To), percent(*d.Share)))
	}
	if d.Size != nil && d.ToSize != nil && *d.Size != *d.ToSize {
		words = append(words, fmt.Sprintf("%s → %s a call", sizeText(*d.ToSize, d.Unit), sizeText(*d.Size, d.Unit)))
	}
	if len(words) == 0 {
		return ""
	}
	return name + " " + strings.Join(slices.Compact(words), " and ")
}

// longestOperator is how many columns the name of an operator has: those of kernels may have thousands of characters.
const longestOperator = 21

// operatorNames are the operators that rows differ in, by their whole names: the beginnings of these, or, where two begin alike, that in which
// they differ.
func operatorNames(rows []summary.SimilarRun) map[string]string {
	var whole, plain, short []string
	for i := range rows {
		for _, d := range rows[i].Differences {
			whole = append(whole, d.Operator)
		}
	}
	slices.Sort(whole)
	whole = slices.Compact(whole)
	seen := map[string]bool{}
	for i, name := range whole {
		plain = append(plain, strings.TrimPrefix(term.OneLine(name), "void "))
		short = append(short, term.Cut(plain[i], longestOperator))
		seen[short[i]] = true
	}
	if len(seen) < len(whole) {
		short = term.CutDistinct(plain, longestOperator)
	}
	names := make(map[string]string, len(whole))
	for i, name := range whole {
		names[name] = short[i]
	}
	return names
}

// sizeText is a size for people.
func sizeText(size float64, unit string) string {
	unit, _, _ = strings.Cut(unit, " ")
	return term.Quantity(size, unit)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
