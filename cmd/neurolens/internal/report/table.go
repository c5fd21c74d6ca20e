package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// table is a table of Markdown, whose columns are aligned so that it can be read as it is.
type table struct {
	columns []column
	rows    [][]string
}

type column struct {
	header string
	right  bool
}

// widest is up to where a column is made as wide as its longest cell: one very long name does not pad all others.
const widest = 48

// write writes the table without the columns that no row has anything in, and an empty line.
func (t *table) write(w io.Writer) {
	var shown []int
	for i := range t.columns {
		if t.filled(i) {
			shown = append(shown, i)
		}
	}
	widths, texts := make([]int, len(t.columns)), make([][]string, len(t.rows))
	for k := range texts {
		texts[k] = make([]string, len(t.columns))
	}
	for _, i := range shown {
		widths[i] = max(term.Width(cellText(t.columns[i].header)), 3)
		for k, row := range t.rows {
			texts[k][i] = cellText(row[i])
			if n := term.Width(texts[k][i]); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	header, rule := "|", "|"
	for _, i := range shown {
		c := t.columns[i]
		header += " " + term.Pad(cellText(c.header), widths[i], c.right) + " |"
		dashes := strings.Repeat("-", widths[i]+1)
		if c.right {
			rule += dashes + ":|"
		} else {
			rule += "-" + dashes + "|"
		}
	}
	fmt.Fprintf(w, "%s\n%s\n", header, rule)
	for _, row := range texts {
		line := "|"
		for _, i := range shown {
			line += " " + term.Pad(row[i], widths[i], t.columns[i].right) + " |"
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// filled tells whether any row has something in a column.
func (t *table) filled(column int) bool {
	for _, row := range t.rows {
		if row[column] != "" && row[column] != term.Unknown {
			return true
		}
	}
	return false
}

// cellText is a text as a cell shows it: on one line, and none of its characters ends the cell. Very long ones are cut.
func cellText(text string) string {
	const most = 160
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return term.MarkdownText(strings.Join(strings.Fields(text), " "))
}
