package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// markdown writes a comparison as a comment to a pull request: the verdict, what changed, and the rest folded.
func (w compareWriter) markdown(t answer.Table) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "**%s**\n\n", markdownText(w.verdictLine()))
	switch {
	case len(w.flags.by) > 0:
		columns, rows := w.groups(t)
		view{columns: columns, rows: rows}.renderMarkdown(&b)
	case w.flags.sideBySide():
		w.flags.all = true
		columns, rows, _ := w.matrix(t)
		view{columns: columns, rows: rows}.renderMarkdown(&b)
	default:
		loud, rest := w.split(t)
		w.table(&b, t, loud)
		if len(rest) > 0 {
			counts := map[judge.Verdict]int{}
			for _, row := range rest {
				counts[judge.Verdict(textAt(t, row, "verdict"))]++
			}
			fmt.Fprintf(&b, "<details><summary>%s: %s</summary>\n\n", count(len(rest), w.noun()), verdictCounts(counts))
			w.table(&b, t, rest)
			b.WriteString("</details>\n\n")
		}
	}
	b.WriteString("<details><summary>What was compared</summary>\n\n")
	lines := slices.Concat(w.head(), w.failures(w.c.Rows))
	if w.flags.gate != gateOff {
		lines = append(lines, w.counts()...)
	} else {
		lines = append(lines, w.counts()[1:]...)
	}
	if len(w.flags.by) == 0 {
		lines = append(lines, w.explained(view{}, t.Rows)...)
	}
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, "* %s\n", markdownText(line))
		}
	}
	b.WriteString("\n</details>\n")
	if _, err := w.app.stdout.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// verdictLine is the comparison in one line.
func (w compareWriter) verdictLine() string {
	if w.flags.gate != gateOff {
		return w.flags.gate.line(w.c.Gate(), w.noun())
	}
	return w.counts()[0]
}

// split parts the rows that somebody has to read from the others, the worst first.
func (w compareWriter) split(t answer.Table) (loud, rest [][]any) {
	w.flags.all = true
	for _, row := range w.shown(t) {
		quiet := []judge.Verdict{judge.Unchanged, judge.Inconclusive, judge.Estimate}
		if slices.Contains(quiet, judge.Verdict(textAt(t, row, "verdict"))) && !hasFlag(t, row, compare.FlagFailures) {
			rest = append(rest, row)
		} else {
			loud = append(loud, row)
		}
	}
	return loud, rest
}

func (w compareWriter) table(b *bytes.Buffer, t answer.Table, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	t.Rows = rows
	columns, cells := w.points(t, w.pointAxes(t))
	view{columns: columns, rows: cells}.renderMarkdown(b)
}
