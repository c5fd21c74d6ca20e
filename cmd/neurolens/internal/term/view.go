package term

import (
	"fmt"
	"io"
	"strings"
)

// Unknown stands where a value is not known.
const Unknown = "–"

// View is what people see of a result: lines above, a table, lines below, commands to copy.
type View struct {
	Above    []string
	Columns  []Column
	Rows     [][]Cell
	Below    []string
	Commands []string    // lines that are never broken
	Compact  func() View // the same in fewer columns, for where this is too wide; may be nil
}

// Column is a column of a view. Where the table is too wide, the column with the largest drop goes first; 0 stays.
type Column struct {
	Header string
	Right  bool // its texts end below one another, as numbers do
	Drop   int
	Whole  bool // the header is not cut while the view has a Compact one
}

// Cell is a text of a table.
type Cell struct {
	Text   string
	Failed bool // a failure: red where there is colour
}

// Gap stands between two columns, and between a word and what explains it.
const Gap = "  "

// Colours of what follows, until Plain.
const (
	Red   = "\x1b[31m"
	Cyan  = "\x1b[36m"
	Plain = "\x1b[0m"
)

// Render writes the view for a terminal of so many columns. Nothing wraps: columns go in their order, then the
// longest texts are cut.
func (v View) Render(w io.Writer, width int, color bool) {
	if v.Compact != nil && !v.Fits(width) {
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
		v.renderTable(w, width, color)
		if len(v.Below) > 0 {
			fmt.Fprintln(w)
		}
	}
	for _, line := range v.Below {
		for _, part := range Wrapped(line, width) {
			fmt.Fprintln(w, part)
		}
	}
	for _, line := range v.Commands {
		fmt.Fprintln(w, OneLine(line))
	}
}

func (v View) renderTable(w io.Writer, width int, color bool) {
	shown, widths, _ := v.fit(width)
	line := make([]string, len(shown))
	for i, c := range shown {
		line[i] = Pad(Cut(v.Columns[c].Header, widths[c]), widths[c], v.Columns[c].Right)
	}
	fmt.Fprintln(w, Cut(strings.TrimRight(strings.Join(line, Gap), " "), width))
	texts := make([][]string, len(shown)) // of columns
	for i, c := range shown {
		texts[i] = v.cutColumn(c, widths[c])
	}
	for n, row := range v.Rows {
		for i, c := range shown {
			line[i] = Pad(texts[i][n], widths[c], v.Columns[c].Right)
			if row[c].Failed && color {
				line[i] = Red + line[i] + Plain
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, Gap), " "))
	}
}
