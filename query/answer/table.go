// Package answer holds what questions are answered with.
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
	TypeList    Type = "list"    // []any
	TypeMap     Type = "map"     // map[string]any
)

// Column describes a column of a Table.
type Column struct {
	Name string
	// Unit is the stored unit of the values (ns, B). It is schema.UnitOfRow where the table's column `unit` says it for
	// each row, and empty where there is no unit or it is not known.
	Unit string
	Type Type
}

// Table is a result: every row has one value for each column, of the Go types that Type lists.
type Table struct {
	Columns []Column
	Rows    [][]any
}

// Index gives the position of a column, or -1.
func (t *Table) Index(name string) int {
	for i, c := range t.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// ColumnsNamed are columns of a result that are as those of runs of that name.
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

// Units are the stored units of all columns that the views have, by name; a name has the same unit in each.
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

// SetUnits gives columns of the views their units, but not those that renamed says are something else. The unit of the
// row is only said where the row says it.
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
