package table

import (
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/neurolens/neurolens/schema"
)

// field is a column of a file, or a part of one.
type field struct {
	*schema.Column
	place  int      // index of its value in the row or struct
	leaf   int      // index of its first leaf in the file
	leaves int      // number of its leaves
	fields []*field // its parts, as in Children; for a struct, only parts that the file has
}

// newFields returns the fields of a file with all these columns.
func newFields(columns []*schema.Column) []*field {
	var fields []*field
	leaves := 0
	for place, c := range columns {
		f := newField(c, place, leaves, nil)
		fields = append(fields, f)
		leaves += f.leaves
	}
	return fields
}

// newField returns the field of a column; leaf is the index of its first leaf. If kept is not nil, the column is a list of structs, and
// kept has the parts of the struct that are written.
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

// profile determines the encoding of the values of a leaf. element means that the leaf is the element of a list.
type profile func(c *schema.Column, element bool) parquet.Node

// node returns the field's Parquet type. Every node has the column's field id, except the intermediate groups of lists and
// maps (`list`, `key_value`).
func (f *field) node(p profile, element bool) parquet.Node {
	var n parquet.Node
	switch f.Kind {
	case schema.KindList:
		n = parquet.List(f.fields[0].node(p, true))
	case schema.KindMap:
		n = parquet.Map(f.fields[0].node(p, false), f.fields[1].node(p, false))
	case schema.KindStruct:
		n = group(f.fields, p)
	default:
		n = p(f.Column, element)
	}
	if !f.Required {
		n = parquet.Optional(n)
	}
	return parquet.FieldID(n, f.ID)
}

// leafNode returns the type of a leaf without an encoding.
func leafNode(c *schema.Column) parquet.Node {
	switch c.Kind {
	case schema.KindInt:
		return parquet.Int(64)
	case schema.KindReal:
		return parquet.Leaf(parquet.DoubleType)
	case schema.KindBool:
		return parquet.Leaf(parquet.BooleanType)
	case schema.KindTime:
		return parquet.Timestamp(parquet.Microsecond)
	default:
		return parquet.String()
	}
}

// sealedCodec compresses columns that a delta encoding does not make small.
var sealedCodec = &zstd.Codec{Level: zstd.SpeedDefault}

// profileOf returns the profile of sealed files and packs of a table. Text repeats from run to run, so it has dictionaries, except text
// that is different for each run, and except in files of few rows. Reals are PLAIN, because not every reader supports BYTE_STREAM_SPLIT.
// Columns of runs that filters read for every run are not compressed, which halves the time of a filter over a million runs.
func profileOf(t *schema.Table, few bool) profile {
	return func(c *schema.Column, _ bool) parquet.Node {
		n := sealedNode(c)
		if few && c.Kind == schema.KindString && !unique(c) {
			n = parquet.Encoded(leafNode(c), &parquet.Plain)
		}
		often := t == schema.Runs && (c.Kind == schema.KindReal || unique(c))
		if often || c.Kind != schema.KindString && c.Kind != schema.KindReal {
			return n
		}
		return parquet.Compressed(n, sealedCodec)
	}
}

// unique reports whether a text is different for each run.
func unique(c *schema.Column) bool { return c.Name == runIDColumn || c.Name == digestColumn }

// sealedNode returns a leaf with the encoding of sealed files.
func sealedNode(c *schema.Column) parquet.Node {
	switch {
	case c.Kind == schema.KindInt || c.Kind == schema.KindTime:
		return parquet.Encoded(leafNode(c), &parquet.DeltaBinaryPacked)
	case c.Kind == schema.KindBool || c.Kind == schema.KindReal:
		return parquet.Encoded(leafNode(c), &parquet.Plain)
	case unique(c):
		return parquet.Encoded(leafNode(c), &parquet.DeltaLengthByteArray)
	default:
		return parquet.Encoded(leafNode(c), &parquet.RLEDictionary)
	}
}

// orderedGroup is a group with its fields in the order of the format; parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group
	names []string
}

func group(fields []*field, p profile) orderedGroup {
	g := orderedGroup{Group: parquet.Group{}}
	for _, f := range fields {
		g.Group[f.Name] = f.node(p, false)
		g.names = append(g.names, f.Name)
	}
	return g
}

// Fields returns the fields in order.
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
