package views

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// Markdown writes a comparison as a comment to a pull request: the verdict, what changed, and the rest folded.
func (w Comparison) Markdown() []byte {
	w.Reader.UTC = true // a comment is read in another place, and on another day
	var b bytes.Buffer
	fmt.Fprintf(&b, "**%s**\n\n", term.MarkdownText(cmp.Or(w.Gate, w.announced())))
	if w.Gate != "" {
		fmt.Fprintf(&b, "%s\n\n%s\n\n", term.MarkdownText(w.announced()), w.gateLegend())
	}
	for _, line := range w.Second {
		fmt.Fprintf(&b, "%s\n\n", term.MarkdownText(line))
	}
	switch {
	case len(w.Selection.By) > 0:
		columns, rows := w.groups()
		term.View{Columns: columns, Rows: rows}.Markdown(&b)
	case w.sideBySide():
		w.Selection.All = true
		several := w.metricsTable()
		columns, rows := several.table(several.varying(several.places()), w.C.Contrast.Axis == "")
		term.View{Columns: columns, Rows: rows}.Markdown(&b)
	default:
		w := w.withOthers()
		loud, rest := w.split()
		w.table(&b, loud)
		w.methods(&b, loud)
		if len(rest) > 0 {
			counts := map[judge.Verdict]int{}
			for _, place := range rest {
				counts[ResultOf(&w.C.Rows[place].Point)]++
			}
			fmt.Fprintf(&b, "<details><summary>%s: %s</summary>\n\n", term.Count(len(rest), w.noun()), verdictCounts(counts))
			w.table(&b, rest)
			w.methods(&b, rest)
			b.WriteString("</details>\n\n")
		}
	}
	b.WriteString("<details><summary>What was compared</summary>\n\n")
	lines := slices.Concat(w.head(), w.failures(w.everything()))
	lines = slices.Concat(lines, w.counts(), w.otherCounts(), w.caveats())
	if len(w.Selection.By) == 0 {
		lines = append(lines, w.explained(term.View{}, w.everything())...)
	}
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, "* %s\n", term.MarkdownText(line))
		}
	}
	b.WriteString("\n</details>\n")
	return b.Bytes()
}

// gateLegend explains the words of GateSentence to people who have never seen NeuroLens.
func (w Comparison) gateLegend() string {
	means := "A point is one benchmark with its parameters."
	if w.sideBySide() {
		means = "A result is one metric of one benchmark with its parameters."
	}
	return means + " It regressed if it is worse than the base by at least the threshold and by more than chance explains. It is inconclusive if the data are " +
		"too few, or too noisy, to tell."
}

// everything returns the indices of all rows.
func (w Comparison) everything() []int {
	w.Selection.All = true
	return w.shown()
}

// split separates the rows that need attention from the others, the worst first.
func (w Comparison) split() (loud, rest []int) {
	quiet := []judge.Verdict{judge.Unchanged, judge.Inconclusive, judge.Estimate}
	for _, place := range w.everything() {
		r := &w.C.Rows[place]
		if differ := r.Repeats != nil && r.Repeats.Differ(); slices.Contains(quiet, r.Verdict) && !differ && !slices.Contains(r.Flags, compare.FlagFailures) {
			rest = append(rest, place)
		} else {
			loud = append(loud, place)
		}
	}
	return loud, rest
}

// methods explains how changes were estimated that the medians of the sides contradict.
func (w Comparison) methods(b *bytes.Buffer, places []int) {
	var said []string
	for _, place := range places {
		if word := methodFlag(&w.C.Rows[place]); word != "" && !slices.Contains(said, word) {
			said = append(said, word)
			fmt.Fprintf(b, "%s: %s\n\n", word, term.MarkdownText(meanings[word]))
		}
	}
}

func (w Comparison) table(b *bytes.Buffer, places []int) {
	if len(places) == 0 {
		return
	}
	groups := w.grouped(places)
	columns, cells := w.groupsOf(groups, groupAxes(w.pointAxes(places), groups))
	term.View{Columns: columns, Rows: cells}.Markdown(b)
}
