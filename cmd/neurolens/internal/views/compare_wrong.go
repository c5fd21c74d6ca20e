package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// rowGroup is rows of a comparison that the table prints as one.
type rowGroup struct {
	place int   // of the first row
	at    []int // positions of the rows among those that are printed
}

// grouped groups the rows whose results are wrong for one reason: of ten points of an implementation that is wrong, one row says it. With
// --all, and of other rows, each is its own group.
func (w Comparison) grouped(places []int) []rowGroup {
	var groups []rowGroup
	known := map[string]int{}
	for i, place := range places {
		r := &w.C.Rows[place]
		if !w.Selection.All && r.Verdict == compare.Failed && slices.Contains(r.Flags, compare.FlagWrong) {
			key := r.Metric + " " + causeOf(r)
			if g, found := known[key]; found {
				groups[g].at = append(groups[g].at, i)
				continue
			}
			known[key] = len(groups)
		}
		groups = append(groups, rowGroup{place, []int{i}})
	}
	return groups
}

var number = lazyregexp.MustCompile(`[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?`)

// causeOf returns the error of a failed row without its numbers, which is equal for rows that failed alike.
func causeOf(r *compare.Row) string {
	return number.ReplaceAllString(term.FirstLine(r.Failure), "")
}

// groupAxes returns axes with a value for each group: that of its rows; where one axis tells them apart, their values; else how many they are.
func groupAxes(axes []Axis, groups []rowGroup) []Axis {
	grouped := make([]Axis, len(axes))
	for k, x := range axes {
		grouped[k].Name = x.Name
		for _, g := range groups {
			values := distinctAt(x, g.at)
			text := strings.Join(values, ", ")
			if most := 16; len(values) > 1 && (len(values) < len(g.at) || len(text) > most) {
				text = term.Count(len(values), "value")
			}
			grouped[k].Values = append(grouped[k].Values, text)
		}
	}
	return grouped
}

// distinctAt returns the values of an axis at some rows, each once, in natural order.
func distinctAt(x Axis, rows []int) []string {
	var values []string
	for _, row := range rows {
		if !slices.Contains(values, x.Values[row]) {
			values = append(values, x.Values[row])
		}
	}
	slices.SortFunc(values, summary.Naturally)
	return values
}

// groupsOf is pointsOf for groups of rows, with the axes of groups. A row for several points has their number in place of values.
func (w Comparison) groupsOf(groups []rowGroup, axes []Axis) ([]term.Column, [][]term.Cell) {
	places := make([]int, len(groups))
	for i, g := range groups {
		places[i] = g.place
	}
	columns, cells := w.pointsOf(places, axes)
	for i, g := range groups {
		if len(g.at) == 1 {
			continue
		}
		for k := len(axes); k < len(columns); k++ {
			switch columns[k].Header {
			case "VERDICT":
				cells[i][k].Text = fmt.Sprintf("%d %s", len(g.at), cells[i][k].Text)
			case "":
			default:
				cells[i][k].Text = term.Unknown
			}
		}
	}
	return columns, cells
}

// failuresShown is the number of reasons of failures that are printed at most.
const failuresShown = 3

// failures returns lines about what went wrong in runs of the head: points that failed alike have one line.
func (w Comparison) failures(places []int) []string {
	_, varying := Axes(subjects(w.C.Rows), IdentityColumns)
	names := PointNames(valuesAt(varying, places), len(places))
	type failed struct {
		text  string
		other bool // a point has the text with other numbers
		rows  []int
	}
	var causes []*failed
	byCause, seen := map[string]*failed{}, map[string]bool{}
	for i, place := range places {
		r := &w.C.Rows[place]
		text := term.FirstLine(r.Failure)
		failing := slices.Contains(r.Flags, compare.FlagFailures) || slices.Contains(r.Flags, compare.FlagWrong)
		if failing = failing || r.Reason == judge.FailedRequests; text == "" || r.Verdict != compare.Failed && !failing {
			continue
		}
		cause := causeOf(r)
		c := byCause[cause]
		if c == nil {
			c = &failed{text: text}
			byCause[cause], causes = c, append(causes, c)
		}
		c.other = c.other || text != c.text
		if key := cause + "\n" + names[i]; !seen[key] { // a point has a row for each of several metrics
			seen[key], c.rows = true, append(c.rows, i)
		}
	}
	var lines []string
	for _, c := range causes[:min(len(causes), failuresShown)] {
		name := names[c.rows[0]]
		if len(c.rows) > 1 {
			at := slices.DeleteFunc(valuesAt(varying, places), func(x Axis) bool { return len(distinctAt(x, c.rows)) > 1 })
			name = PointNames(at, len(places))[c.rows[0]]
			of := term.Count(len(c.rows), "point")
			if c.other {
				of = "the first of " + of
			}
			c.text += " (" + of + ")"
		}
		lines = append(lines, strings.TrimSpace(name+term.Gap+c.text))
	}
	if more := len(causes) - failuresShown; more > 0 {
		lines = append(lines, "… --format json has "+term.Count(more, "more error"))
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}
