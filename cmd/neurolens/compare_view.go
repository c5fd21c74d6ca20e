package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
)

// compareRows is how many rows a table shows unless told otherwise.
const compareRows = 20

// compareWriter shows a comparison to people.
type compareWriter struct {
	app   *app
	c     *query.Comparison
	flags compareFlags
	args  []string
}

// view is the comparison as a table: worst first, what did not change counted.
func (w compareWriter) view(t query.Table) view {
	v := view{above: w.head()}
	if len(w.flags.by) > 0 {
		v.columns, v.rows = w.groups(t)
	} else {
		rows := w.shown(t)
		v.columns, v.rows = w.points(query.Table{Columns: t.Columns, Rows: rows})
		if hidden := w.hidden(rows); hidden != "" {
			v.below = append(v.below, hidden, "")
		}
		v.below = append(v.below, w.explained(rows)...)
	}
	v.below = append(v.below, w.counts()...)
	if w.flags.gate {
		v.below = append(v.below, gateLine(w.c.Gate()))
	}
	if next := w.next(); next != "" {
		v.below = append(v.below, "")
		v.commands = []string{"next  " + next}
	}
	return v
}

// head says what is compared, and what differs.
func (w compareWriter) head() []string {
	c := w.c
	lines := []string{w.side("base", c.Base), w.side("head", c.Head)}
	return append(lines, w.differs()...)
}

// side is one line about a side.
func (w compareWriter) side(name string, s query.CompareSide) string {
	parts := []string{name, s.Filter}
	switch len(s.Commits) {
	case 0:
	case 1:
		parts = append(parts, shortCommit(s.Commits[0]))
	default:
		parts = append(parts, count(len(s.Commits), "commit"))
	}
	parts = append(parts, count(s.Runs, "run"))
	if len(s.Sessions) > 1 {
		parts = append(parts, count(len(s.Sessions), "session"))
	}
	if s.Until > 0 {
		parts = append(parts, w.app.when(time.UnixMicro(s.Until)))
	}
	return strings.Join(parts, gap)
}

func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// differs says what the sides have in common and what not, and whether that leaves a verdict.
func (w compareWriter) differs() []string {
	c := w.c
	var differing []string
	for _, d := range c.Differs {
		if volatileDifference(d) || d.Name == "machine" {
			continue
		}
		differing = append(differing, differenceText(d))
	}
	where := "the same machine"
	switch {
	case len(c.Head.Machines) == 1 && slices.Equal(c.Base.Machines, c.Head.Machines):
		where += " " + c.Head.Machines[0]
	case slices.Equal(c.Base.Machines, c.Head.Machines):
		where = "the same " + count(len(c.Head.Machines), "machine")
	case w.has(compare.Machines):
		where = fmt.Sprintf("different machines %s and %s: estimates, no verdict", strings.Join(c.Base.Machines, ", "), strings.Join(c.Head.Machines, ", "))
	default:
		where = "machines in common"
	}
	const most = 6
	if n := len(differing); n > most {
		differing = append(differing[:most], fmt.Sprintf("%d more (neurolens explain)", n-most))
	}
	if len(differing) > 0 {
		where += "; differs: " + strings.Join(differing, ", ")
	} else {
		where += "; nothing known differs"
	}
	return append([]string{where}, w.sessions()...)
}

// differenceText says how a fact differs: name old → new, or the name alone where that would be long.
func differenceText(d query.Difference) string {
	name := strings.TrimPrefix(d.Name, "env.")
	if d.Name == "git_commit" || len(d.Base) > 1 || len(d.Head) > 1 {
		return name
	}
	value := func(values []string) string {
		if len(values) == 0 {
			return unknown
		}
		return values[0]
	}
	text := fmt.Sprintf("%s %s → %s", name, value(d.Base), value(d.Head))
	if len(text) > 60 {
		return name
	}
	return text
}

// sessions says what different sessions do to the verdicts.
func (w compareWriter) sessions() []string {
	c := w.c
	if slices.Equal(c.Base.Sessions, c.Head.Sessions) {
		if slices.ContainsFunc(c.Points, func(p query.ComparedPoint) bool { return p.Method == compare.MethodBlocks }) {
			return []string{"one session, interleaved: runs of a block are compared with one another"}
		}
		return nil
	}
	var noise []float64
	least := math.MaxInt
	for _, p := range c.Points {
		if !math.IsNaN(p.SessionSD) {
			least = min(least, p.History)
			noise = append(noise, p.SessionSD)
		}
	}
	if len(noise) == 0 {
		return []string{
			"different sessions, and fewer than 5 earlier ones to know what sessions differ by: no verdict",
			"interleave the sides in one session (bench --against), or bench the base a few times more",
		}
	}
	slices.Sort(noise)
	return []string{fmt.Sprintf("different sessions, %d earlier ones known: sessions differ by ±%s (sd, median point)", least, share(noise[len(noise)/2]))}
}

// has tells whether some point has no verdict for a reason.
func (w compareWriter) has(r compare.Reason) bool {
	return slices.ContainsFunc(w.c.Points, func(p query.ComparedPoint) bool { return p.Reason == r })
}

// shown are the rows that a table has: unchanged ones only with --all, or where there is nothing else.
func (w compareWriter) shown(t query.Table) [][]any {
	loud := slices.DeleteFunc(slices.Clone(t.Rows), func(row []any) bool {
		return textAt(t, row, "verdict") == string(compare.Unchanged)
	})
	if w.flags.all || len(loud) == 0 {
		return t.Rows
	}
	return loud
}

// hidden counts the points that are not shown.
func (w compareWriter) hidden(rows [][]any) string {
	counts := map[compare.Verdict]int{}
	for _, p := range w.c.Points {
		counts[p.Verdict]++
	}
	for _, row := range rows {
		counts[compare.Verdict(textAt(w.c.Table, row, "verdict"))]--
	}
	var parts []string
	for _, v := range query.Verdicts {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(n), v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "… and " + strings.Join(parts, ", ") + " (--all)"
}

// points is the table of points.
func (w compareWriter) points(t query.Table) ([]viewColumn, [][]cell) {
	_, varying := axes(w.c.Table, append(slices.Clone(identityColumns), "machine"))
	varying = rowsOf(varying, w.c.Table, t)
	if len(w.c.Metrics) > 1 {
		varying = append(varying, axisOf(t, "metric", func(row []any) any { return at(t, row, "metric") }))
	}
	var columns []viewColumn
	for _, x := range varying {
		columns = append(columns, axisColumn(x))
	}
	columns = append(columns,
		viewColumn{header: "BASE", right: true}, viewColumn{header: "HEAD", right: true}, viewColumn{header: "CHANGE", right: true},
		viewColumn{header: "95 %", right: true}, viewColumn{header: "P", right: true, drop: 4}, viewColumn{header: "NOISE", right: true, drop: 3},
		viewColumn{header: "RUNS × N", right: true, drop: 2}, viewColumn{header: "VERDICT"}, viewColumn{header: "", drop: 1})
	rows := make([][]cell, len(t.Rows))
	for i, row := range t.Rows {
		for _, x := range varying {
			rows[i] = append(rows[i], axisCell(x, i))
		}
		rows[i] = append(rows[i], w.cells(t, row)...)
	}
	return columns, rows
}

// cells are those of a point beside its axes.
func (w compareWriter) cells(t query.Table, row []any) []cell {
	unit := textAt(t, row, "unit")
	verdict := compare.Verdict(textAt(t, row, "verdict"))
	text := string(verdict)
	bad := slices.Contains([]compare.Verdict{compare.Regressed, query.Missing, query.Failed}, verdict)
	if bad {
		text = strings.ToUpper(text)
	}
	relative := textAt(t, row, "scale") == string(schema.ScaleRatio)
	difference := func(name string, relatively func(float64) string) string {
		v, ok := at(t, row, name).(float64)
		switch {
		case !ok:
			return unknown
		case relative:
			return relatively(v)
		}
		return signedQuantity(v, unit)
	}
	interval := unknown
	if at(t, row, "low") != nil {
		interval = difference("low", bare) + " " + difference("high", bare)
	}
	noise := unknown
	if v, ok := at(t, row, "noise").(float64); ok {
		noise = quantity(v, unit)
		if relative {
			noise = share(v)
		}
	}
	return []cell{
		{text: quantity(at(t, row, "base"), unit)},
		{text: quantity(at(t, row, "head"), unit)},
		{text: difference("change", signed)},
		{text: interval},
		{text: chance(at(t, row, "p_adjusted"))},
		{text: noise},
		{text: runsText(t, row)},
		{text, bad},
		{text: wordsText(w.words(t, row))},
	}
}

// runsText says how often each side was measured.
func runsText(t query.Table, row []any) string {
	side := func(name string) string {
		runs, ok := at(t, row, name+"_runs").(int64)
		samples, has := at(t, row, name+"_samples").(int64)
		switch {
		case !ok:
			return unknown
		case !has:
			return thousands(int(runs))
		}
		return fmt.Sprintf("%s×%s", thousands(int(runs)), thousands(int(samples)))
	}
	base, head := side("base"), side("head")
	if base == head {
		return base
	}
	return base + " " + head
}

// words are the reason and the flags of a point that somebody has to think about.
func (w compareWriter) words(t query.Table, row []any) []string {
	var words []string
	if reason := textAt(t, row, "reason"); reason != "" {
		words = append(words, reason)
	}
	if textAt(t, row, "verdict") == string(compare.Unchanged) {
		return words
	}
	flags, _ := at(t, row, "flags").([]any)
	for _, f := range flags {
		if word := machineText(f); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// firstWords are those of words that a row has room for.
func firstWords(words []string) []string { return words[:min(len(words), rowWords)] }

// wordsText names the first of them, and counts the others.
func wordsText(words []string) string {
	text := strings.Join(firstWords(words), ", ")
	if more := len(words) - rowWords; more > 0 {
		text += fmt.Sprintf(", +%d", more)
	}
	return text
}

// rowsOf are axes of some rows of a table, in their order.
func rowsOf(varying []axis, all, some query.Table) []axis {
	places := make(map[*any]int, len(all.Rows))
	for i, row := range all.Rows {
		places[&row[0]] = i
	}
	chosen := make([]axis, len(varying))
	for k, x := range varying {
		chosen[k].name = x.name
		for _, row := range some.Rows {
			chosen[k].values = append(chosen[k].values, x.values[places[&row[0]]])
		}
	}
	return chosen
}
