package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Unknown stands where a value is not known.
const Unknown = "–"

// View is what people see of a result: lines above, a table, lines below, commands to copy, and those to type next.
type View struct {
	Above    []string
	Columns  []Column
	Rows     [][]Cell
	Below    []string
	Commands []string    // lines that are never broken
	Next     []string    // commands to type next, never broken either; Markdown, which others read, leaves them out
	Compact  func() View // the same in fewer columns, for where this is too wide; may be nil
	Points   []string    // the id of what each row is of, for rows that would look the same; may be nil
}

// Column is a column of a view. Where the table is too wide, the column with the largest drop goes first; 0 stays.
type Column struct {
	Header string
	Right  bool // its texts end below one another, as numbers do
	Drop   int
	Whole  bool // the header is not cut while the view has a Compact one
	Fixed  bool // nothing is cut
}

// Cell is a text of a table.
type Cell struct {
	Text   string
	Failed bool // a failure or a regression: red where there is colour
	Won    bool // an improvement: green
}

// Gap stands between two columns, and between a word and what explains it.
const Gap = "  "

// Colours of what follows, until Plain.
const (
	Red   = "\x1b[31m"
	Green = "\x1b[32m"
	Cyan  = "\x1b[36m"
	Plain = "\x1b[0m"
)

// Page is what a view is printed on.
type Page struct {
	Width int
	Color bool
	Whole bool // no text of a table is cut, unless it is longer than ShortNames allows: a row may be longer than Width
}

// Render writes the view on a page. No row is broken: columns go in their order, then the longest texts are cut, unless
// the page has them whole.
func (v View) Render(w io.Writer, page Page) {
	width := page.Width
	if v.Compact != nil && !v.Fits(page) {
		v = v.Compact()
	}
	for _, line := range v.Above {
		for _, part := range Wrapped(line, width) {
			fmt.Fprintln(w, part)
		}
	}
	if len(v.Rows) > 0 {
		if len(v.Above) > 0 {
			fmt.Fprintln(w)
		}
		v.renderTable(w, page)
		if len(v.Below) > 0 {
			fmt.Fprintln(w)
		}
	}
	for _, line := range v.Below {
		for _, part := range Wrapped(line, width) {
			fmt.Fprintln(w, part)
		}
	}
	for _, line := range slices.Concat(v.Commands, v.Next) {
		fmt.Fprintln(w, OneLine(line))
	}
}

// withShortNames is the view with the texts of its table as ShortNames returns them.
func (v View) withShortNames() View {
	rows := make([][]Cell, len(v.Rows))
	for i, row := range v.Rows {
		rows[i] = slices.Clone(row)
	}
	for c, column := range v.Columns {
		if column.Fixed {
			continue
		}
		for i, text := range ShortNames(v.texts(c)) {
			rows[i][c].Text = text
		}
	}
	v.Rows = rows
	return v
}

func (v View) renderTable(w io.Writer, page Page) {
	if page.Whole {
		v = v.withShortNames()
	}
	t := v.distinct(page)
	fmt.Fprintln(w, strings.TrimRight(strings.Join(t.header, Gap), " "))
	for n, line := range t.rows {
		for i, c := range t.shown {
			switch cell := t.view.Rows[n][c]; {
			case cell.Failed && page.Color:
				line[i] = Red + line[i] + Plain
			case cell.Won && page.Color:
				line[i] = Green + line[i] + Plain
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, Gap), " "))
	}
}
