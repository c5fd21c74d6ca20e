package answer

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Field is a column of an answer whose rows are of a type, and how a row gives its value.
//
// The fields of an answer are its one list of columns: its tables, its files and the tables of columns in the docs are made
// of them.
type Field[Row any] struct {
	Column
	Meaning string             // what a value says, in a sentence without its end
	Of      func(row *Row) any // a value of the column's type; nil is NULL
}

// columnsOf are the columns of fields.
func columnsOf[Row any](fields []Field[Row]) []Column {
	columns := make([]Column, len(fields))
	for i, f := range fields {
		columns[i] = f.Column
	}
	return columns
}

// TableOf is a table of rows, with a column for each field.
func TableOf[Row any](fields []Field[Row], rows []Row) Table {
	t := Table{Columns: columnsOf(fields), Rows: make([][]any, len(rows))}
	for i := range rows {
		cells := make([]any, len(fields))
		for k, f := range fields {
			cells[k] = f.Of(&rows[i])
		}
		t.Rows[i] = cells
	}
	return t
}

// computedDigits are the significant digits of a number that was computed: what is beyond them is how logarithms are
// rounded, and differs between machines.
const computedDigits = 12

// Computed is a cell of a number that was computed from measured ones, which is given with 12 significant digits; NULL for
// one that is not finite.
func Computed(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return schema.RoundedTo(computedDigits, v)
}

// Statistic is a cell of a number that sums samples up, with the digits that are certain, whole numbers with all; NULL for nil.
func Statistic(v *float64) any {
	if v == nil {
		return nil
	}
	if math.IsNaN(*v) || math.IsInf(*v, 0) || *v == math.Trunc(*v) {
		return *v
	}
	return schema.RoundedTo(schema.CertainDigits, *v)
}

// statistics are the columns of runs that sum samples up; min, max and first_sample are samples.
var statistics = []string{"mean", "stddev", "p25", "p50", "p75", "p90", "p95", "p99", "mad", "log_median"}

// OfRun is a value of a column of runs for a listing: what it is stored as, but for statistics, which are as Statistic has them.
func OfRun(c Column, value any) any {
	if v, ok := value.(float64); ok && slices.Contains(statistics, c.Name) {
		return Statistic(&v)
	}
	return value
}

// Value is a cell; NULL for nil.
func Value[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// ComputedValue is Computed; NULL for nil.
func ComputedValue(v *float64) any {
	if v == nil {
		return nil
	}
	return Computed(*v)
}
