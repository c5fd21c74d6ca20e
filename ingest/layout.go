package ingest

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/parquet-go/parquet-go"
)

// shape tells which columns a live file has: the places, in a row, of those that are not NULL for its run; and for
// samples and ops, whose rows are nested in it, of those that are not NULL in every one of them.
//
// A column left out saves its page and its part of the footer, and every reader the time for them. Readers ask for the
// columns they know and get NULL for what a file lacks, a field of a nested row included.
type shape struct {
	run, samples, ops []byte
}

// shapeOf finds the shape of a row, which has the columns of schema.LiveColumns: samples and ops are the last two.
func shapeOf(row []any) shape {
	samples, _ := row[len(row)-2].([][]any)
	ops, _ := row[len(row)-1].([][]any)
	return shape{present([][]any{row}), present(samples), present(ops)}
}

// present gives the places that are not nil in some row.
func present(rows [][]any) []byte {
	if len(rows) == 0 {
		return nil
	}
	var places []byte
	for i := range rows[0] {
		if slices.ContainsFunc(rows, func(row []any) bool { return row[i] != nil }) {
			places = append(places, byte(i))
		}
	}
	return places
}

// key identifies the shape; no table has 255 columns.
func (s shape) key() string {
	return string(s.run) + "\xff" + string(s.samples) + "\xff" + string(s.ops)
}

// field is a column of a live file, or a part of one.
type field struct {
	*schema.Column
	place  int      // of its value in the row or struct
	leaf   int      // number of its first leaf in the file
	leaves int      // how many it has
	fields []*field // its parts, as Children
}

// fields are the columns of the shape, in the order of the format.
func (s shape) fields() []*field {
	columns := schema.LiveColumns()
	var fields []*field
	leaves := 0
	for _, place := range s.run {
		var kept []byte
		switch columns[place].Name {
		case schema.Samples.Name:
			kept = s.samples
		case schema.Ops.Name:
			kept = s.ops
		}
		f := newField(columns[place], int(place), leaves, kept)
		fields = append(fields, f)
		leaves += f.leaves
	}
	return fields
}

// newField gives the field of a column whose first leaf has that number. Where kept is not nil, the column is a list
// of structs and these are the parts of the struct that are kept.
func newField(c *schema.Column, place, leaf int, kept []byte) *field {
	f := &field{Column: c, place: place, leaf: leaf}
	for i, part := range c.Children {
		if c.Kind == schema.KindStruct && kept != nil && !slices.Contains(kept, byte(i)) {
			continue
		}
		p := newField(part, i, leaf+f.leaves, kept)
		f.fields = append(f.fields, p)
		f.leaves += p.leaves
	}
	if f.fields == nil {
		f.leaves = 1
	}
	return f
}

// node is the field's type in Parquet. Every node has the column's field id, which the groups in between that lists
// and maps need (`list`, `key_value`) do not have.
//
// Live files are many, small and short-lived: no dictionary and no compression, which would cost more for a page of
// one value than the value. Lists of integers are DELTA_BINARY_PACKED: samples of a clock take 2.7 B each.
func (f *field) node(element bool) parquet.Node {
	var n parquet.Node
	switch f.Kind {
	case schema.KindList:
		n = parquet.List(f.fields[0].node(true))
	case schema.KindMap:
		n = parquet.Map(f.fields[0].node(false), f.fields[1].node(false))
	case schema.KindStruct:
		n = group(f.fields)
	case schema.KindInt:
		n = parquet.Encoded(parquet.Int(64), &parquet.Plain)
		if element {
			n = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
		}
	case schema.KindReal:
		n = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	case schema.KindBool:
		n = parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.Plain)
	case schema.KindTime:
		n = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.Plain)
	default:
		n = parquet.Encoded(parquet.String(), &parquet.Plain)
	}
	if !f.Required {
		n = parquet.Optional(n)
	}
	return parquet.FieldID(n, f.ID)
}

// orderedGroup is a group whose fields stand in the order of the format; parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group
	names []string
}

func group(fields []*field) orderedGroup {
	g := orderedGroup{Group: parquet.Group{}}
	for _, f := range fields {
		g.Group[f.Name] = f.node(false)
		g.names = append(g.names, f.Name)
	}
	return g
}

// Fields gives the fields in order.
func (g orderedGroup) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	ordered := make([]parquet.Field, len(g.names))
	for i, name := range g.names {
		ordered[i] = byName[name]
	}
	return ordered
}
