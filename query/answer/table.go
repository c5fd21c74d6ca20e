// Package answer has the tables, columns and cells of answers, and the errors that all parts of query share.
package answer

import "github.com/neurolens/neurolens/schema"

// Type is the type of a column's values.
type Type string

// The types, each with the Go type of its values. NULL is nil in all of them.
const (
	TypeText    Type = "text"    // string
	TypeInteger Type = "integer" // int64
	TypeReal    Type = "real"    // float64, NaN and infinities included
	TypeBoolean Type = "boolean" // bool
	TypeTime    Type = "time"    // time.Time, UTC
	TypeList    Type = "list"    // []any, or []float64
	TypeMap     Type = "map"     // map[string]any
)

// Column describes a column of a Table.
type Column struct {
	Name string
	// Unit is the stored unit of the values (ns, B). It is schema.UnitOfRow if the column `unit` of the table has the unit of each
	// row, and empty if there is no unit or it is unknown.
	Unit string
	Type Type
}

// Table is a result. Every row has one value per column, of the Go type that is listed at Type.
type Table struct {
	Columns []Column
	Rows    [][]any
}

// Index returns the position of a column, or -1.
func (t *Table) Index(name string) int {
	for i, c := range t.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// ColumnsNamed returns columns of a result with the types of the columns of runs with these names.
func ColumnsNamed(names ...string) []Column {
	types := map[schema.Kind]Type{
		schema.KindString: TypeText, schema.KindInt: TypeInteger, schema.KindReal: TypeReal, schema.KindBool: TypeBoolean, schema.KindTime: TypeTime,
		schema.KindList: TypeList, schema.KindMap: TypeMap,
	}
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name, Type: types[schema.RunColumn(name).Kind]}
	}
	return columns
}

// Units are the stored units of all columns of the views, by name. A name has the same unit in all views.
var Units = columnUnits()

func columnUnits() map[string]string {
	all := map[string]string{"values": schema.UnitOfRow, "value": schema.UnitOfRow}
	for _, t := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		for _, c := range t.Columns {
			all[c.Name] = c.Unit
		}
	}
	return all
}

// SetUnits sets the units of columns that have the name of a column of the views, except the columns in renamed, which have other
// content. schema.UnitOfRow is only set if the table has the column unit.
func (t *Table) SetUnits(renamed map[string]bool) {
	rowUnit := t.Index("unit") >= 0 && !renamed["unit"]
	for i := range t.Columns {
		c := &t.Columns[i]
		unit := Units[c.Name]
		if !renamed[c.Name] && (unit != schema.UnitOfRow || rowUnit) {
			c.Unit = unit
		}
	}
}
