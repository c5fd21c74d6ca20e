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
	switch {
	case len(w.flags.by) > 0:
		v.columns, v.rows = w.groups(t)
	case w.flags.sideBySide():
		v.columns, v.rows = w.matrix(t)
	default:
		rows := w.shown(t)
		v.columns, v.rows = w.points(query.Table{Columns: t.Columns, Rows: rows})
		if hidden := w.hidden(rows); hidden != "" {
			v.below = append(v.below, hidden, "")
		}
		v.below = slices.Concat(v.below, w.failures(rows), w.explained(v, rows))
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
	return slices.Concat(w.subject(), lines, w.differs())
}

// subject says what all points have in common: what was measured, and what is no difference.
func (w compareWriter) subject() []string {
	axis, _, _ := strings.Cut(w.flags.matrix, "=")
	constants, _ := axes(w.c.Table, slices.DeleteFunc(slices.Clone(identityColumns), func(name string) bool { return name == schema.CanonicalAlias(axis) }))
	metrics := strings.Join(w.c.Metrics, ", ")
	if len(w.c.Rows) > 0 && len(w.c.Metrics) == 1 {
		if better := textAt(w.c.Table, w.c.Rows[0], "better"); better != "" {
			metrics += ", " + better + " is better"
		}
		if zone, ok := at(w.c.Table, w.c.Rows[0], "dead_zone").(float64); ok && !w.flags.gate {
			metrics += "; less than " + w.amount(w.c.Rows[0], zone) + " is no change"
		}
	}
	return heading(append(constants, metrics))
}

// amount is a size of a change in a row: a share, or a difference in its unit.
func (w compareWriter) amount(row []any, size float64) string {
	if textAt(w.c.Table, row, "scale") == string(schema.ScaleRatio) {
		return share(size)
	}
	return strings.TrimPrefix(signedQuantity(size, textAt(w.c.Table, row, "unit")), "+")
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
			return []string{oneOrMore(len(c.Head.Sessions), "session") + ", interleaved: runs of a block are compared with one another"}
		}
		return nil
	}
	var noise []float64
	least := math.MaxInt
	for _, p := range c.Points {
		if p.Ratio && !math.IsNaN(p.SessionSD) {
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

// oneOrMore counts in words where there is one.
func oneOrMore(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return count(n, noun)
}

// has tells whether some point has no verdict for a reason.
func (w compareWriter) has(r compare.Reason) bool {
	return slices.ContainsFunc(w.c.Points, func(p query.ComparedPoint) bool { return p.Reason == r })
}

// shown are the rows that a table has: unchanged ones only with --all, or where there is nothing else.
func (w compareWriter) shown(t query.Table) [][]any {
	loud := slices.DeleteFunc(slices.Clone(t.Rows), func(row []any) bool {
		return textAt(t, row, "verdict") == string(compare.Unchanged) && !hasFlag(t, row, query.FlagFailures)
	})
	if w.flags.all || len(loud) == 0 {
		return t.Rows
	}
	return loud
}

func hasFlag(t query.Table, row []any, flag string) bool {
	flags, _ := at(t, row, "flags").([]any)
	return slices.Contains(flags, any(flag))
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
