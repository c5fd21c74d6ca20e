package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Table is rows about points or runs.
type Table struct {
	ID      string // unique in the page
	Title   string
	Text    []string // what stands above it
	Columns []Column
	Rows    []Row
	Below   []string
	Command string // shows a row, with KEY in place of its key; empty: none does
}

// Column is what cells of a table have in common. Of a column with a unit, cells have stored values.
type Column struct {
	Header string
	Unit   string // of the stored values, for the file that is copied
	Right  bool   // numbers
	Long   bool   // texts that take several lines
	Stored bool   // its cells have stored values beside their texts
}

// Row is a row of a table. Its key is the id of a run or of a point; marks of charts that have the same one belong to it.
type Row struct {
	Key   string
	Cells []Cell
}

// Cell is a text, the value that it stands for, and what it says.
type Cell struct {
	Text   string
	Stored string // as stored, for sorting and copying: a number; empty: what the text says
	Tone   chart.Tone
}

// longTable is from how many rows on a table is laid out row by row, so that rows out of sight cost nothing.
const longTable = 200

// table writes a table. Its rows are as short as HTML allows: end tags are left out where the language says so, and stored values
// stand in one attribute of the row, behind its key, with semicolons between them.
func (w *writing) table(t *Table) template.HTML {
	w.tables++
	name := fmt.Sprintf("t%d", w.tables)
	var b strings.Builder
	class := ""
	if len(t.Rows) >= longTable {
		class = " class=long"
		fmt.Fprintf(&w.styles, "#%s tr{grid-template-columns:%s}", name, t.widths())
	}
	fmt.Fprintf(&b, "<div class=box tabindex=0 role=group aria-label=\"%s\"><table id=%s%s data-name=\"%s\" data-command=\"%s\"><caption>%s</caption><thead><tr>",
		escaped(t.Title), name, class, escaped(t.ID), escaped(t.Command), escaped(t.Title))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "<th scope=col%s%s>%s", htmlAttribute("data-unit", c.Unit), flagOf("data-stored", c.Stored), escaped(c.Header))
		if c.Right { // a class in each cell would be longer than most values
			fmt.Fprintf(&w.styles, "#%s :is(th,td):nth-child(%d){text-align:right}", name, i+1)
		}
		if c.Long {
			fmt.Fprintf(&w.styles, "#%s td:nth-child(%d){white-space:normal;overflow-wrap:anywhere;min-width:16ch}", name, i+1)
		}
	}
	b.WriteString("<tbody>")
	for i := range t.Rows {
		t.row(&b, w.short(t.Rows[i].Key), &t.Rows[i])
	}
	b.WriteString("</table></div>")
	return template.HTML(b.String())
}

// row writes a row.
func (t *Table) row(b *strings.Builder, key string, r *Row) {
	data := oneWord(key)
	for i, c := range t.Columns {
		if c.Stored {
			data += ";" + oneWord(r.Cells[i].Stored)
		}
	}
	b.WriteString("\n<tr")
	if strings.Trim(data, ";") != "" {
		b.WriteString(htmlAttribute("data-v", strings.TrimRight(data, ";")))
	}
	b.WriteString(">")
	for _, c := range r.Cells {
		fmt.Fprintf(b, "<td%s>%s", htmlAttribute("class", string(c.Tone)), escaped(c.Text))
	}
}

// widths are those of the columns of a long table, of which the last one takes the rest.
func (t *Table) widths() string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		n := term.Width(c.Header) + 2 // and the mark of the order
		for k := range t.Rows {
			n = max(n, term.Width(line(t.Rows[k].Cells[i].Text)))
		}
		parts[i] = fmt.Sprintf("%dch", min(n, 36)+2)
	}
	parts[len(parts)-1] = "minmax(" + parts[len(parts)-1] + ",1fr)"
	return strings.Join(parts, " ")
}

// oneWord is a text without what separates values of an attribute.
func oneWord(text string) string { return strings.ReplaceAll(line(text), ";", ",") }

// escaped is a text within HTML.
func escaped(text string) string { return template.HTMLEscapeString(line(text)) }

// htmlAttribute writes an attribute, without quotes where its value needs none; nothing of an empty value.
func htmlAttribute(name, value string) string {
	switch {
	case value == "":
		return ""
	case strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }):
		return " " + name + "=\"" + template.HTMLEscapeString(value) + "\""
	}
	return " " + name + "=" + value
}

// plain tells whether a character may stand in an attribute without quotes, with room to spare.
func plain(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(".;-+_", r)
}

func flagOf(name string, on bool) string {
	if on {
		return " " + name
	}
	return ""
}
