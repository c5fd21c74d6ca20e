package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the shape of a column's values.
type Kind int

// The kinds, each with the Go type of its values in a row. NULL is nil.
const (
	KindString Kind = iota // string
	KindInt                // int64
	KindReal               // float64
	KindBool               // bool
	KindTime               // time.Time, UTC, stored in microseconds
	KindList               // []string, []int64, []float64, or [][]any for a list of structs
	KindMap                // map[string]string or map[string]float64
	KindStruct             // []any, one value a child; only inside a list
)

// Column is a column of a table, or a part of one: the element of a list, the key or value of a map, a field of a struct.
// ID is its Parquet field id, numbered per table; it never changes.
type Column struct {
	ID       int
	Name     string
	Kind     Kind
	Children []*Column // list: the element; map: key and value; struct: its fields
	Required bool
	Derived  bool   // left out of the digest
	Unit     string // stored unit; UnitOfRow if the column unit of the row has it; empty if there is none
	Doc      string
}

// UnitOfRow is the Unit of columns whose unit is in the column unit of the same row.
const UnitOfRow = "of the row"

// SQLType returns the column's DuckDB type.
func (c *Column) SQLType() string { return duckTypes.Of(c) }

// SQLTypes are the names of the types of columns in a dialect of SQL.
type SQLTypes struct {
	Text, Integer, Real, Boolean, Time string
	List, Map, Struct, Field           string // formats of the types of parts; Field formats the name and the type of a field of a struct
}

var duckTypes = SQLTypes{
	"VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP WITH TIME ZONE", "%s[]", "MAP(%s, %s)", "STRUCT(%s)", `"%s" %s`,
}

// Of returns the SQL type of a column.
func (s *SQLTypes) Of(c *Column) string {
	switch c.Kind {
	case KindInt:
		return s.Integer
	case KindReal:
		return s.Real
	case KindBool:
		return s.Boolean
	case KindTime:
		return s.Time
	case KindList:
		return fmt.Sprintf(s.List, s.Of(c.Children[0]))
	case KindMap:
		return fmt.Sprintf(s.Map, s.Of(c.Children[0]), s.Of(c.Children[1]))
	case KindStruct:
		fields := make([]string, len(c.Children))
		for i, f := range c.Children {
			fields[i] = fmt.Sprintf(s.Field, f.Name, s.Of(f))
		}
		return fmt.Sprintf(s.Struct, strings.Join(fields, ", "))
	default:
		return s.Text
	}
}

// Table is a table of the store: its columns in the order of the format.
type Table struct {
	Name    string
	Columns []*Column
}

// Column finds a top-level column by name.
func (t *Table) Column(name string) (*Column, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// Place returns the index of a top-level column in the rows of the table, or -1 if there is no column of that name.
func (t *Table) Place(name string) int {
	return slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Name == name })
}

// RunColumn returns a column of runs by a name that is fixed in the program. It panics if there is none, so any test finds a wrong name.
func RunColumn(name string) *Column {
	c, ok := Runs.Column(name)
	if !ok {
		panic("runs has no column " + name)
	}
	return c
}

// number gives the columns their ids in the way that Iceberg numbers a new table: first all top-level columns from 1,
// then their children in column order, a column's direct children before what is inside them.
func (t *Table) number() {
	next := 1
	for _, c := range t.Columns {
		c.ID = next
		next++
	}
	for _, c := range t.Columns {
		next = numberChildren(c, next)
	}
}

func numberChildren(c *Column, next int) int {
	for _, child := range c.Children {
		child.ID = next
		next++
	}
	for _, child := range c.Children {
		next = numberChildren(child, next)
	}
	return next
}

// Field ids of the columns that a live file nests in the row of a run. A nested column has its id in its own table plus
// this base.
const (
	nestedSamplesID = 100_000
	nestedOpsID     = 200_000
	nestedElementID = 99_999 // the list's element: this plus the base
)

// LiveColumns returns the columns of a live file: those of runs, then `samples` and `ops`, which are lists of structs with
// the columns of those tables without run_id.
func LiveColumns() []*Column {
	columns := append([]*Column{}, Runs.Columns...)
	return append(columns, nested(Samples, nestedSamplesID), nested(Ops, nestedOpsID))
}

func nested(t *Table, base int) *Column {
	element := &Column{ID: base + nestedElementID, Name: "element", Kind: KindStruct, Required: true}
	for _, c := range t.Columns {
		if c.Name != "run_id" {
			element.Children = append(element.Children, shifted(c, base))
		}
	}
	return &Column{ID: base, Name: t.Name, Kind: KindList, Children: []*Column{element}}
}

func shifted(c *Column, base int) *Column {
	copied := *c
	copied.ID += base
	copied.Children = nil
	for _, child := range c.Children {
		copied.Children = append(copied.Children, shifted(child, base))
	}
	return &copied
}
