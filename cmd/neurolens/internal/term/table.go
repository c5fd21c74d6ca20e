package term

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
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

// Narrowed is a view of a table that shows its first columns alone where not all can be read, and says how many are left out.
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

// TableViewOr says something else where there is no row.
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
