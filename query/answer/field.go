package answer

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Field is a column of an answer with rows of type Row, and a function that returns its value.
//
// The fields of an answer are the only list of its columns: printed tables, files and the documentation of columns are made from it.
type Field[Row any] struct {
	Column
	Meaning string             // description of the values, without a full stop
	Of      func(row *Row) any // a value of the column's type; nil is NULL
}

// NewField returns a field without a unit.
func NewField[Row any](name string, kind Type, meaning string, of func(row *Row) any) Field[Row] {
	return Field[Row]{Column: Column{Name: name, Type: kind}, Meaning: meaning, Of: of}
}

// TextField returns a field with texts. An empty text is NULL.
func TextField[Row any](name, meaning string, of func(row *Row) string) Field[Row] {
	return NewField(name, TypeText, meaning, func(row *Row) any { return Text(of(row)) })
}

// In returns the field with values in a unit.
func (f Field[Row]) In(unit string) Field[Row] {
	f.Unit = unit
	return f
}

// columnsOf returns the columns of fields.
func columnsOf[Row any](fields []Field[Row]) []Column {
	columns := make([]Column, len(fields))
	for i, f := range fields {
		columns[i] = f.Column
	}
	return columns
}

// TableOf makes a table of rows, with one column per field.
func TableOf[Row any](fields []Field[Row], rows []Row) Table {
	t := Table{Rows: make([][]any, 0, len(rows))}
	refill(&t, fields, rows)
	return t
}

// TablesOf returns a function that makes tables as TableOf does. Each call reuses the memory of the previous table, which becomes
// invalid.
func TablesOf[Row any](fields []Field[Row]) func(rows []Row) Table {
	t := Table{Rows: [][]any{}}
	return func(rows []Row) Table {
		refill(&t, fields, rows)
		return t
	}
}

// refill makes t the table of other rows of the same fields.
func refill[Row any](t *Table, fields []Field[Row], rows []Row) {
	if t.Columns == nil {
		t.Columns = columnsOf(fields)
	}
	before := t.Rows
	t.Rows = slices.Grow(before[:0], len(rows))[:len(rows)]
	for i := range rows {
		if i >= len(before) {
			t.Rows[i] = make([]any, len(fields))
		}
		for k, f := range fields {
			t.Rows[i][k] = f.Of(&rows[i])
		}
	}
}

// computedDigits is the number of significant digits of computed numbers. Further digits differ between machines, because logarithms
// are rounded differently.
const computedDigits = 12

// Computed returns a cell with a number that was computed from measurements, rounded to 12 significant digits; NULL if it is not finite.
func Computed(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return schema.RoundedTo(computedDigits, v)
}

// Statistic returns a cell with a summary statistic, rounded to the certain digits; whole numbers are not rounded. NULL for nil.
func Statistic(v *float64) any {
	if v == nil {
		return nil
	}
	if math.IsNaN(*v) || math.IsInf(*v, 0) || *v == math.Trunc(*v) {
		return *v
	}
	return schema.RoundedTo(schema.CertainDigits, *v)
}

// statistics are the columns of runs that are summary statistics. min, max and first_sample are not among them: they are samples.
var statistics = []string{"mean", "stddev", "p25", "p50", "p75", "p90", "p95", "p99", "mad", "log_median"}

// OfRun returns the value of a column of runs for a listing: the stored value, with statistics rounded as by Statistic.
func OfRun(c Column, value any) any {
	if v, ok := value.(float64); ok && slices.Contains(statistics, c.Name) {
		return Statistic(&v)
	}
	return value
}

// Value returns a cell with the value of a pointer; NULL for nil.
func Value[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// ComputedValue is Computed for a pointer; NULL for nil.
func ComputedValue(v *float64) any {
	if v == nil {
		return nil
	}
	return Computed(*v)
}
