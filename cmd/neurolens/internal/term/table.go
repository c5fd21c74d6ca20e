package term

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// TableView shows a table as it is, under its own column names. A page that has texts whole has all columns too.
func TableView(t answer.Table, page Page) View {
	v := View{Below: []string{Count(len(t.Rows), "row")}}
	for _, c := range t.Columns {
		right := c.Type == answer.TypeInteger || c.Type == answer.TypeReal
		v.Columns = append(v.Columns, Column{Header: c.Name, Right: right})
	}
	unit := t.Index("unit")
	for _, row := range t.Rows {
		rowUnit := ""
		if unit >= 0 {
			rowUnit, _ = row[unit].(string)
		}
		cells := make([]Cell, len(row))
		for i, value := range row {
			cells[i].Text = ValueText(t.Columns[i], value, rowUnit)
		}
		v.Rows = append(v.Rows, cells)
	}
	return Narrowed(v, page)
}

// Narrowed returns a view of a table that shows its first columns alone where not all can be read, and says how many are left out.
func Narrowed(v View, page Page) View {
	if page.Whole {
		return v
	}
	v.Compact = func() View {
		first, left := v.Leading(page.Width)
		if left > 0 {
			first.Below = append(first.Below, Count(left, "more column")+" left out: the terminal is too narrow; choose fewer, or --format json, csv or plain")
		}
		return first
	}
	return v
}

// TableViewOr returns a view of a table, or of a text if the table has no rows.
func TableViewOr(t answer.Table, page Page, none string) View {
	v := TableView(t, page)
	if len(t.Rows) == 0 {
		v.Below = []string{none}
	}
	return v
}

// ValueText prints a value of a column for people: in the column's unit, or in that of the row.
func ValueText(c answer.Column, v any, rowUnit string) string {
	switch v := v.(type) {
	case nil:
		return Unknown
	case time.Time:
		return v.Local().Format("2006-01-02 15:04:05 -07:00")
	case float64, int64:
		switch {
		case c.Unit == schema.UnitOfRow && rowUnit != "":
			return Quantity(v, rowUnit)
		case c.Unit != "" && c.Unit != schema.UnitOfRow:
			return Quantity(v, c.Unit)
		}
		return numberText(v)
	case string:
		return strings.NewReplacer("\n", " ", "\t", " ").Replace(v)
	}
	return ValueString(v)
}

// shownDigits are the significant digits of a number without a unit. More are those of binary fractions, not of a measurement.
const shownDigits = 10

// numberText prints a number without a unit for people. Whole numbers keep all digits.
func numberText(v any) string {
	f, ok := v.(float64)
	if !ok || f == math.Trunc(f) || math.IsNaN(f) {
		return ValueString(v)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', shownDigits, 64), 64)
	if err != nil {
		return ValueString(v)
	}
	return ValueString(rounded)
}

// Quantity prints a value of a stored unit for people; NULL is unknown.
func Quantity(v any, unit string) string {
	switch v := v.(type) {
	case float64:
		return schema.ForPeople(v, unit)
	case int64:
		return schema.ForPeople(float64(v), unit)
	}
	return Unknown
}

// RecordsView shows each row as lines of column and value.
func RecordsView(t answer.Table) View {
	var v View
	for i, row := range t.Rows {
		if i > 0 {
			v.Below = append(v.Below, "")
		}
		var lines [][2]string
		for j, c := range t.Columns {
			lines = append(lines, [2]string{c.Name, ValueText(c, row[j], "")})
		}
		v.Below = append(v.Below, Pairs(lines)...)
	}
	return v
}

// PairsView shows facts and their values without a header or a count.
func PairsView(t answer.Table) View {
	var lines [][2]string
	for _, row := range t.Rows {
		lines = append(lines, [2]string{ValueString(row[0]), ValueText(t.Columns[1], row[1], "")})
	}
	return View{Below: Pairs(lines)}
}

// ValueString returns a value for a program: stored units, the shortest digits that give the number back, RFC 3339 in UTC,
// lists and maps as JSON, nothing for NULL.
func ValueString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return schema.CanonicalFloat(v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return fmt.Sprint(v)
	}
	return b.String()
}

// plainEscapes are those of the format plain that are older than \u, and its own escape character.
var plainEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// plainText returns a text for a cell of the format plain: one line without tabs that steers nothing.
func plainText(text string) string { return Escaped(plainEscapes.Replace(text), IsControl) }

// csvNumber matches the numbers that may begin with a sign.
var csvNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// csvText returns a text for a cell that a spreadsheet must not take for a formula: it gets an apostrophe before it.
func csvText(text string) string {
	if text == "" || !strings.Contains("=+-@\t\r", text[:1]) || csvNumber.MatchString(text) {
		return text
	}
	return "'" + text
}
