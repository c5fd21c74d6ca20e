package table

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/schema"
)

// liveLayout is the part of a live file that is the same for all runs of a shape.
type liveLayout struct {
	fields []*field
	leaves []liveLeaf
	schema []byte // the elements of the schema, as the footer has them
	nodes  int    // number of these elements
	orders []byte // the encoded column orders of the leaves
}

// liveLeaf is a leaf of a live file.
type liveLeaf struct {
	path       []string
	kind       schema.Kind
	bounded    bool // whether the statistics have bounds
	delta      bool // DELTA_BINARY_PACKED, not PLAIN
	repetition int  // maximum of the repetition levels: the number of surrounding lists
	definition int  // maximum of the definition levels

	described []byte // fields of its ColumnMetaData up to the fourth, which are the same in all files
}

// liveRoot is the name of the root of the schema of a live file.
const liveRoot = "run"

func newLiveLayout(s shape) (*liveLayout, error) {
	l := &liveLayout{fields: s.fields()}
	root := group(l.fields, func(c *schema.Column, _ bool) parquet.Node { return leafNode(c) })
	if err := l.element(liveRoot, root, thrift.Null[format.FieldRepetitionType]{}); err != nil {
		return nil, err
	}
	for _, f := range l.fields {
		l.add(f, liveLeaf{bounded: bounded(f.Column)})
	}
	orders := &thriftWriter{}
	for i := range l.leaves {
		l.leaves[i].describe()
		orders.open()   // ColumnOrder
		orders.empty(1) // TypeDefinedOrder
		orders.close()
	}
	l.orders = orders.out
	return l, nil
}

// describe sets the part of the footer about the leaf that is the same in every file.
func (l *liveLeaf) describe() {
	w := &thriftWriter{}
	w.open()
	w.int32(1, int(leafNode(&schema.Column{Kind: l.kind}).Type().Kind()))
	w.encodings(l)
	w.list(3, thriftBinary, len(l.path))
	for _, name := range l.path {
		w.bytes(name)
	}
	w.int32(4, int(format.Uncompressed))
	l.described = w.out
}

// encodings writes the encodings of values and levels, in ascending order.
func (w *thriftWriter) encodings(l *liveLeaf) {
	if l.definition == 0 && l.repetition == 0 {
		w.list(2, thriftInt32, 1)
		w.number(int64(l.encoding()))
		return
	}
	w.list(2, thriftInt32, 2)
	w.number(int64(min(l.encoding(), format.RLE)))
	w.number(int64(max(l.encoding(), format.RLE)))
}

// add adds the leaves of a field. above has the path and the levels of the surrounding columns. Lists of integers are
// DELTA_BINARY_PACKED: samples of a clock take 2.7 B each.
func (l *liveLayout) add(f *field, above liveLeaf) {
	at := above.inside(f.Name, !f.Required)
	group := ""
	switch f.Kind {
	case schema.KindStruct:
	case schema.KindList:
		group = "list"
	case schema.KindMap:
		group = "key_value"
	default:
		at.kind = f.Kind
		at.delta = at.delta && f.Kind == schema.KindInt
		l.leaves = append(l.leaves, at)
		return
	}
	at.delta = false
	if group != "" {
		at = at.inside(group, true)
		at.repetition++
		at.delta = f.Kind == schema.KindList
	}
	for _, part := range f.fields {
		l.add(part, at)
	}
}

// inside returns the place of a node below another one.
func (at liveLeaf) inside(name string, optional bool) liveLeaf {
	at.path = append(at.path[:len(at.path):len(at.path)], name)
	if optional {
		at.definition++
	}
	return at
}

// element adds the SchemaElement of a node, and the elements of the nodes below it, in the form of parquet-go.
func (l *liveLayout) element(name string, n parquet.Node, repetition thrift.Null[format.FieldRepetitionType]) error {
	e := format.SchemaElement{Name: name, FieldID: int32(n.ID()), RepetitionType: repetition}
	if t := n.Type().PhysicalType(); t != nil {
		e.Type.Set(*t)
	}
	if t := n.Type().ConvertedType(); t != nil {
		e.ConvertedType.Set(*t)
	}
	if t := n.Type().LogicalType(); t != nil {
		e.LogicalType = *t
	}
	if !n.Leaf() {
		e.NumChildren.Set(int32(len(n.Fields())))
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &e)
	if err != nil {
		return err
	}
	l.schema = append(l.schema, b...)
	l.nodes++
	for _, f := range n.Fields() {
		repetition := format.Required
		switch {
		case f.Optional():
			repetition = format.Optional
		case f.Repeated():
			repetition = format.Repeated
		}
		if err := l.element(f.Name(), f, thrift.New(repetition)); err != nil {
			return err
		}
	}
	return nil
}
