package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/explain"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// explainRows is how many lines a table shows unless told otherwise.
const explainRows = 20

// explainText is how wide a fact is shown at most: next to it there is to be room for its name.
const explainText = 16

// explainWriter shows an explanation to people.
type explainWriter struct {
	compareWriter
	x   *explain.Explanation
	all bool
}

// view says which point is explained, and lists what else differs there.
func (w explainWriter) view() view {
	if len(w.x.Comparison.Rows) == 0 {
		return view{below: []string{"nothing got worse: " + w.counts()[0]}}
	}
	v := view{above: w.above()}
	var quiet, contrasts [][]any
	for _, row := range w.x.Rows[1:] {
		if textAt(w.x.Table, row, "kind") == string(explain.Contrast) {
			contrasts = append(contrasts, row)
			if at(w.x.Table, row, "rank") == nil {
				continue
			}
		}
		if at(w.x.Table, row, "rank") == nil {
			quiet = append(quiet, row)
			continue
		}
		v.rows = append(v.rows, w.cells(row))
	}
	ranked := len(v.rows)
	if ranked == 0 {
		v.above = append(v.above, "")
	}
	if hidden := ranked - explainRows; hidden > 0 && !w.all {
		v.rows = v.rows[:explainRows]
		v.below = append(v.below, fmt.Sprintf("… %s more (--all)", thousands(hidden)), "")
	}
	v.columns, v.rows = filled(explainViewColumns, v.rows)
	v.below = append(v.below, w.contrasts(contrasts)...)
	v.below = append(v.below, w.quiet(quiet)...)
	if ranked == 0 {
		v.below = append(v.below, "nothing else that is known differs")
	} else {
		v.below = append(v.below, count(ranked, "difference")+" here; that they came together makes none of them the cause")
	}
	if w.x.Tested > 0 {
		v.below = append(v.below, fmt.Sprintf("metrics and stages: false discovery rate 5 %% (Benjamini-Hochberg) over %d tests", w.x.Tested))
	}
	if log := w.log(); log != "" {
		v.below = append(v.below, "")
		v.commands = []string{"next  " + log}
	}
	return v
}

// explainViewColumns are the columns of what cells gives.
var explainViewColumns = []viewColumn{
	{header: "#", right: true},
	{header: "WHAT"},
	{header: "NAME"},
	{header: "BASE", right: true},
	{header: "HEAD", right: true},
	{header: "CHANGE", right: true},
	{header: "95 %", right: true, drop: 1},
	{header: "PART", right: true},
}

// filled are the columns in which some row has a text.
func filled(columns []viewColumn, rows [][]cell) ([]viewColumn, [][]cell) {
	var kept []viewColumn
	some := make([][]cell, len(rows))
	for i, c := range columns {
		if !slices.ContainsFunc(rows, func(row []cell) bool { return row[i].text != "" }) {
			continue
		}
		kept = append(kept, c)
		for k, row := range rows {
			some[k] = append(some[k], row[i])
		}
	}
	return kept, some
}

// above says what is compared, and which point is explained.
func (w explainWriter) above() []string {
	c := w.c
	lines := append([]string{w.side("base", c.Base), w.side("head", c.Head)}, w.sessions()...)
	lines = append(lines, w.counts()[0], "")
	point, row := answer.Table{Columns: c.Columns, Rows: c.Rows}, c.Rows[0]
	columns := append(slices.Clone(identityColumns), "machine", "metric")
	if textAt(point, row, "reason") == string(judge.Machines) { // the row has the head's
		columns = slices.DeleteFunc(columns, func(name string) bool { return name == "machine" })
	}
	constants, _ := axes(point, columns)
	for i, text := range constants {
		constants[i] = strings.TrimPrefix(text, "metric=")
	}
	lines = append(lines, heading(constants)...)
	cells := w.compareWriter.cells(point, row, false)
	base, head, change, interval, verdict, words := cells[0].text, cells[1].text, cells[2].text, cells[3].text, cells[7].text, cells[8].text
	line := base + " → " + head
	if change != unknown {
		line += gap + change + gap + "(" + interval + ")"
	}
	line += gap + verdict
	if words != "" {
		line += gap + words
	}
	return append(lines, line, w.chosen())
}

// chosen says why it is this point.
func (w explainWriter) chosen() string {
	points := w.c.Points
	switch v := judge.Verdict(textAt(w.c.Table, w.c.Rows[0], "verdict")); {
	case len(points) == 1:
		return "the only point"
	case slices.Contains([]judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}, v):
		return fmt.Sprintf("of %s the one that %s most", count(len(points), "point"), v)
	case slices.Contains([]judge.Verdict{judge.Unchanged, judge.Inconclusive, judge.Estimate}, v):
		return fmt.Sprintf("compare calls none of %s changed; this is the largest difference", count(len(points), "point"))
	default:
		return fmt.Sprintf("of %s the first that is %s", count(len(points), "point"), v)
	}
}

// cells are those of a line of evidence.
func (w explainWriter) cells(row []any) []cell {
	t := w.x.Table
	name, unit := textAt(t, row, "name"), textAt(t, row, "unit")
	value := func(column string) cell {
		text := textAt(t, row, column)
		number, err := strconv.ParseFloat(text, 64)
		switch {
		case text == "":
			return cell{text: unknown}
		case unit == "runs", textAt(t, row, "kind") == string(explain.Contrast):
			return cell{text: text + " runs"}
		case textAt(t, row, "scale") != "" && err == nil:
			return cell{text: quantity(number, unit)}
		}
		return cell{text: cut(shortHashes(text), explainText)}
	}
	interval := ""
	if at(t, row, "low") != nil && at(t, row, "high") != nil {
		interval = strings.TrimSuffix(w.change(row, "low"), " %") + " " + strings.TrimSuffix(w.change(row, "high"), " %")
	}
	part := ""
	if v, ok := at(t, row, "share").(float64); ok {
		part = fmt.Sprintf("%.0f %%", 100*v)
	}
	return []cell{
		{text: machineText(at(t, row, "rank"))},
		{text: textAt(t, row, "kind")},
		{text: factName(name)},
		value("base"),
		value("head"),
		{text: w.change(row, "change")},
		{text: interval},
		{text: part},
	}
}

// change is a difference as people read it; empty for what has none.
func (w explainWriter) change(row []any, column string) string {
	v, ok := at(w.x.Table, row, column).(float64)
	switch {
	case !ok:
		return ""
	case textAt(w.x.Table, row, "scale") == string(schema.ScaleRatio):
		return signed(v)
	}
	return signedQuantity(v, textAt(w.x.Table, row, "unit"))
}

// hash is a text that nobody reads to its end.
var hash = regexp.MustCompile(`^[0-9a-f]{32,}$`)

// shortHashes are some texts, of which those that are hashes lose their end.
func shortHashes(text string) string {
	all := strings.Split(text, ", ")
	for i, part := range all {
		if hash.MatchString(part) {
			all[i] = shortCommit(part)
		}
	}
	return strings.Join(all, ", ")
}

// quiet are lines about what was looked at and is no difference.
func (w explainWriter) quiet(rows [][]any) []string {
	var same, unsettled []string
	ops := 0
	for _, row := range rows {
		name := textAt(w.x.Table, row, "name")
		switch {
		case textAt(w.x.Table, row, "kind") == string(explain.Op):
			ops++
		case textAt(w.x.Table, row, "verdict") == string(judge.Unchanged):
			same = append(same, name)
		default:
			text := name
			if change := w.change(row, "change"); change != "" {
				text += " " + change
			}
			unsettled = append(unsettled, text)
		}
	}
	var lines []string
	if len(same) > 0 {
		lines = append(lines, "unchanged"+gap+strings.Join(same, ", "))
	}
	if len(unsettled) > 0 {
		lines = append(lines, "not settled"+gap+strings.Join(unsettled, ", "))
	}
	switch {
	case ops > 0:
		lines = append(lines, fmt.Sprintf("%s with a difference below 2 %% of what all take", count(ops, "op")))
	case w.x.BaseProfiles > 0 != (w.x.HeadProfiles > 0):
		lines = append(lines, "operators were profiled on one side alone (bench --profile)")
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// log is the command that lists the commits between the sides; empty where there are none to list.
func (w explainWriter) log() string {
	for _, row := range w.x.Rows {
		base, head := textAt(w.x.Table, row, "base"), textAt(w.x.Table, row, "head")
		if textAt(w.x.Table, row, "name") == "git_commit" && base != "" && head != "" && !strings.Contains(base+head, ", ") {
			return "git log --oneline " + shortCommit(base) + ".." + shortCommit(head)
		}
	}
	return ""
}
