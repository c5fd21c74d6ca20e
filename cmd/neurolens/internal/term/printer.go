package term

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
)

// The formats of a result. table and md are for people: units that suit the value, short ids, local time. The others
// are for programs: stored units, full ids, RFC 3339 times, every row.
const (
	FormatTable = "table"
	FormatPlain = "plain"
	FormatJSON  = "json"
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
	FormatMD    = "md"
)

// Formats are all formats of a result, as --format takes them.
var Formats = []string{FormatTable, FormatPlain, FormatJSON, FormatJSONL, FormatCSV, FormatMD}

// ForPeople reports whether a format shows a view rather than the table itself.
func ForPeople(format string) bool { return format == FormatTable || format == FormatMD }

// Printer writes results to one place, for what is known of who reads it there.
type Printer struct {
	Out      io.Writer
	Page     Page // for table
	Terminal bool // Out is one
	CSVRaw   bool // cells of csv that begin as formulas do stay as they are
}

// Print writes a result in a format. view makes the view that table and md show.
func (p Printer) Print(format string, t answer.Table, view func() View) error {
	if ForPeople(format) {
		return p.View(format, view())
	}
	w := p.Pages(format)
	if err := w.Page(t); err != nil {
		return err
	}
	return w.End()
}

// View writes a view as table or md.
func (p Printer) View(format string, v View) error {
	var b bytes.Buffer
	if format == FormatMD {
		v.Markdown(&b)
	} else {
		v.Render(&b, p.Page)
	}
	return p.Write(b.Bytes())
}

// Write writes text that is made already.
func (p Printer) Write(b []byte) error {
	if _, err := p.Out.Write(b); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// tables writes a table, a page of its rows at a time.
type tables struct {
	printer Printer
	above   []string
	header  string
	texts   []int // the width of the texts of each column so far
	last    View
	began   bool
}

// Tables writes a table a page of its rows at a time: its beginning can be read before its end is known.
func (p Printer) Tables() *tables { return &tables{printer: p} }

// Page writes the rows of a view below those of the page before. If its columns, their widths, or the lines above are other ones, these
// lines and the header stand above the rows again.
func (w *tables) Page(v View) error {
	page := w.printer.Page
	chosen := v.atLeast(w.texts)
	if v.Compact != nil && !chosen.Fits(page) {
		chosen = v.Compact().atLeast(w.texts)
	}
	w.last = chosen
	if len(chosen.Rows) == 0 {
		return nil
	}
	var b bytes.Buffer
	header, rows, stacked := chosen.table(page)
	if stacked && w.began {
		b.WriteString("\n")
	}
	if !w.began || header != w.header || !slices.Equal(chosen.Above, w.above) {
		if w.began {
			b.WriteString("\n")
		}
		chosen.renderAbove(&b, page)
		if !stacked {
			fmt.Fprintln(&b, header)
		}
	}
	for _, row := range rows {
		fmt.Fprintln(&b, row)
	}
	_, w.texts, _ = chosen.measure()
	w.above, w.header, w.began = chosen.Above, header, true
	return w.printer.Write(b.Bytes())
}

// End writes the lines below the last page.
func (w *tables) End() error {
	var b bytes.Buffer
	if !w.began {
		w.last.renderAbove(&b, w.printer.Page)
	}
	w.last.renderBelow(&b, w.printer.Page, w.began)
	return w.printer.Write(b.Bytes())
}

// pages writes a result in a format for programs, a part of its rows at a time: it may be longer than what fits in memory.
type pages struct {
	printer Printer
	format  string
	buffer  bytes.Buffer
	cell    bytes.Buffer // of CSV, before it is quoted
	started bool         // a page was written
	rows    bool         // a row was written
}

// Pages writes a result in a format for programs.
func (p Printer) Pages(format string) *pages { return &pages{printer: p, format: format} }

// Page writes some rows; the tables of all calls have the same columns.
func (w *pages) Page(t answer.Table) error {
	var err error
	switch w.format {
	case FormatPlain:
		w.plain(t)
	case FormatCSV:
		err = w.csv(t)
	case FormatJSON:
		err = w.json(t)
	case FormatJSONL:
		err = WriteLines(&w.buffer, t)
	}
	if err != nil {
		return fmt.Errorf("printing as %s: %w", w.format, err)
	}
	w.started = true
	w.rows = w.rows || len(t.Rows) > 0
	return w.flush()
}

// End writes the text after the last row.
func (w *pages) End() error {
	if w.format != FormatJSON {
		return nil
	}
	if w.rows {
		w.buffer.WriteString("\n")
	}
	w.buffer.WriteString("]\n")
	return w.flush()
}

func (w *pages) flush() error {
	err := w.printer.Write(w.buffer.Bytes())
	w.buffer.Reset()
	return err
}

// plain writes tab-separated lines under a header of column names. A tab or a line break inside a value or a name is
// written as \t or \n, so that every row is one line, and what would steer a terminal as \u and four digits.
func (w *pages) plain(t answer.Table) {
	cells := make([]string, len(t.Columns))
	if !w.started {
		for i, name := range names(t) {
			cells[i] = plainText(name)
		}
		fmt.Fprintln(&w.buffer, strings.Join(cells, "\t"))
	}
	for _, row := range t.Rows {
		for i, v := range row {
			cells[i] = plainText(ValueString(v))
		}
		fmt.Fprintln(&w.buffer, strings.Join(cells, "\t"))
	}
}

func names(t answer.Table) []string {
	return Texts(t.Columns, func(c answer.Column) string { return c.Name })
}

func (w *pages) csv(t answer.Table) error {
	if !w.started {
		header := make([]any, len(t.Columns))
		for i, name := range names(t) {
			header[i] = name
		}
		if err := w.csvRecord(header); err != nil {
			return err
		}
	}
	for _, row := range t.Rows {
		if err := w.csvRecord(row); err != nil {
			return err
		}
	}
	return nil
}

// csvRecord writes a record. Package encoding/csv needs each cell as a string, which takes most of the time of an answer with very many
// numbers and lists.
func (w *pages) csvRecord(row []any) error {
	for i, v := range row {
		if i > 0 {
			w.buffer.WriteByte(',')
		}
		switch v := v.(type) {
		case nil:
		case int64:
			w.buffer.Write(strconv.AppendInt(w.buffer.AvailableBuffer(), v, 10))
		case float64:
			if v == 0 || !writeReal(&w.buffer, v) { // minus zero has a sign in JSON
				w.buffer.WriteString(ValueString(v))
			}
		case []any, []float64, map[string]any:
			w.cell.Reset()
			if err := writeJSON(&w.cell, v); err != nil {
				return err
			}
			w.csvQuoted(w.cell.Bytes())
		default:
			w.cell.Reset()
			w.cell.WriteString(w.csvCell(v))
			w.csvQuoted(w.cell.Bytes())
		}
	}
	w.buffer.WriteByte('\n')
	return nil
}

// csvQuoted writes the text of a cell, in quotes if it needs them (RFC 4180).
func (w *pages) csvQuoted(text []byte) {
	first, _ := utf8.DecodeRune(text)
	if len(text) == 0 || !bytes.ContainsAny(text, ",\"\r\n") && !unicode.IsSpace(first) && string(text) != `\.` {
		w.buffer.Write(text)
		return
	}
	w.buffer.WriteByte('"')
	for {
		before, after, found := bytes.Cut(text, []byte{'"'})
		w.buffer.Write(before)
		if !found {
			break
		}
		w.buffer.WriteString(`""`)
		text = after
	}
	w.buffer.WriteByte('"')
}

// csvCell returns a value in a cell of CSV. Texts alone can be taken for formulas: numbers are what they say.
func (w *pages) csvCell(v any) string {
	text := ValueString(v)
	if _, isText := v.(string); isText && !w.printer.CSVRaw {
		text = csvText(text)
	}
	if w.printer.Terminal {
		text = Escaped(text, IsControl)
	}
	return text
}

func (w *pages) json(t answer.Table) error {
	if !w.started {
		w.buffer.WriteString("[")
	}
	keys := keys(t.Columns)
	for i, row := range t.Rows {
		if w.rows || i > 0 {
			w.buffer.WriteString(",")
		}
		w.buffer.WriteString("\n  ")
		if err := writeObject(&w.buffer, t.Columns, keys, row); err != nil {
			return err
		}
	}
	return nil
}
