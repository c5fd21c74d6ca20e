package term

import (
	"bytes"
	"fmt"
	"io"

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

// ForPeople tells whether a format shows a view rather than the table itself.
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
