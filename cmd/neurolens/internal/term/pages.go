package term

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
)

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

// Began tells whether a page was written.
func (w *pages) Began() bool { return w.started }

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

// End writes what stands after the last row.
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
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = c.Name
	}
	return all
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

// csvCell is a value in a cell of CSV. Texts alone can be taken for formulas: numbers are what they say.
func (w *pages) csvCell(v any) string {
	text := ValueString(v)
	if _, isText := v.(string); isText && !w.printer.CSVRaw {
		text = csvText(text)
	}
	if w.printer.Terminal {
		text = Escaped(text, Steers)
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
