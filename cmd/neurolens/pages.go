package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
)

// pagePrinter writes a result in a format for programs, a part of its rows at a time.
type pagePrinter struct {
	format string
	escape bool // what would steer a terminal; plain and JSON do anyway
	raw    bool // cells of csv that begin as formulas do stay as they are
	began  bool // a page was written
	rows   bool // a row was written
}

// pageWriter writes a result to standard output, a part of its rows at a time: it may be longer than what fits in memory.
type pageWriter struct {
	app     *app
	printer pagePrinter
	buffer  bytes.Buffer
}

func (a *app) pagePrinter(format string) pagePrinter {
	return pagePrinter{format: format, escape: a.terminal, raw: a.csvRaw}
}

// pages writes a result in a format for programs.
func (a *app) pages(format string) *pageWriter {
	return &pageWriter{app: a, printer: a.pagePrinter(format)}
}

// page writes some rows.
func (w *pageWriter) page(t answer.Table) error {
	if err := w.printer.page(&w.buffer, t); err != nil {
		return err
	}
	return w.flush()
}

// end writes what stands after the last row.
func (w *pageWriter) end() error {
	w.printer.end(&w.buffer)
	return w.flush()
}

func (w *pageWriter) flush() error {
	err := w.app.write(w.buffer.Bytes())
	w.buffer.Reset()
	return err
}

// page writes the rows of a table; the tables of all calls have the same columns.
func (p *pagePrinter) page(b *bytes.Buffer, t answer.Table) error {
	var err error
	switch p.format {
	case formatPlain:
		p.plain(b, t)
	case formatCSV:
		err = p.csv(b, t)
	case formatJSON:
		err = p.json(b, t)
	case formatJSONL:
		err = printJSONL(b, t)
	}
	if err != nil {
		return fmt.Errorf("printing as %s: %w", p.format, err)
	}
	p.began = true
	p.rows = p.rows || len(t.Rows) > 0
	return nil
}

// end writes what stands after the last row.
func (p *pagePrinter) end(b *bytes.Buffer) {
	if p.format != formatJSON {
		return
	}
	if p.rows {
		b.WriteString("\n")
	}
	b.WriteString("]\n")
}

// plain writes tab-separated lines under a header of column names. A tab or a line break inside a value or a name is
// written as \t or \n, so that every row is one line, and what would steer a terminal as \u and four digits.
func (p *pagePrinter) plain(b *bytes.Buffer, t answer.Table) {
	cells := make([]string, len(t.Columns))
	if !p.began {
		for i, name := range names(t) {
			cells[i] = plainText(name)
		}
		fmt.Fprintln(b, strings.Join(cells, "\t"))
	}
	for _, row := range t.Rows {
		for i, v := range row {
			cells[i] = plainText(machineText(v))
		}
		fmt.Fprintln(b, strings.Join(cells, "\t"))
	}
}

func names(t answer.Table) []string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = c.Name
	}
	return all
}

func (p *pagePrinter) csv(b *bytes.Buffer, t answer.Table) error {
	out := csv.NewWriter(b)
	record := make([]string, len(t.Columns))
	if !p.began {
		for i, name := range names(t) {
			record[i] = p.csvCell(name)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	for _, row := range t.Rows {
		for i, v := range row {
			record[i] = p.csvCell(v)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvCell is a value in a cell of CSV. Texts alone can be taken for formulas: numbers are what they say.
func (p *pagePrinter) csvCell(v any) string {
	text := machineText(v)
	if _, isText := v.(string); isText && !p.raw {
		text = csvText(text)
	}
	if p.escape {
		text = term.Escaped(text, term.Steers)
	}
	return text
}

func (p *pagePrinter) json(b *bytes.Buffer, t answer.Table) error {
	if !p.began {
		b.WriteString("[")
	}
	keys := keys(t.Columns)
	for i, row := range t.Rows {
		if p.rows || i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		if err := writeObject(b, t.Columns, keys, row); err != nil {
			return err
		}
	}
	return nil
}

func printJSONL(b *bytes.Buffer, t answer.Table) error {
	keys := keys(t.Columns)
	for _, row := range t.Rows {
		if err := writeObject(b, t.Columns, keys, row); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	return nil
}
