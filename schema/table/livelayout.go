package table

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/schema"
)

// liveLayout is what the live files of a shape have in common.
type liveLayout struct {
	fields []*field
	leaves []liveLeaf
	schema []byte // the elements of the schema, as the footer has them
	nodes  int    // number of these elements
	orders []byte // the orders of the leaves, likewise
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

func newLiveLayout(s shape) *liveLayout {
	l := &liveLayout{fields: s.fields()}
	w := &thriftWriter{}
	l.element(w, liveRoot, nil, len(l.fields))
	for _, f := range l.fields {
		l.add(w, f, liveLeaf{bounded: bounded(f.Column)})
	}
	l.schema = w.out
	orders := &thriftWriter{}
	for i := range l.leaves {
		l.leaves[i].describe()
		orders.open()   // ColumnOrder
		orders.empty(1) // that of the type
		orders.close()
	}
	l.orders = orders.out
	return l
}

// describe sets what the footer says about the leaf in every file.
func (l *liveLeaf) describe() {
	w := &thriftWriter{}
	w.open()
	w.int32(1, int(physicalType(l.kind)))
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

// add adds the elements and the leaves of a field. above has the path and the levels of what surrounds it. Lists of integers
// are DELTA_BINARY_PACKED: samples of a clock take 2.7 B each.
func (l *liveLayout) add(w *thriftWriter, f *field, above liveLeaf) {
	at := above.inside(f.Name, !f.Required)
	l.element(w, f.Name, f, children(f))
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
		l.repeated(w, group, len(f.fields))
		at = at.inside(group, true)
		at.repetition++
		at.delta = f.Kind == schema.KindList
	}
	for _, part := range f.fields {
		l.add(w, part, at)
	}
}

// inside is the place of a node below another one.
func (at liveLeaf) inside(name string, optional bool) liveLeaf {
	at.path = append(at.path[:len(at.path):len(at.path)], name)
	if optional {
		at.definition++
	}
	return at
}

// children is the number of nodes right below the node of a field.
func children(f *field) int {
	switch f.Kind {
	case schema.KindStruct:
		return len(f.fields)
	case schema.KindList, schema.KindMap:
		return 1
	}
	return 0
}

// element writes the SchemaElement of a field, or of the root, which has none.
func (l *liveLayout) element(w *thriftWriter, name string, f *field, children int) {
	l.nodes++
	w.open()
	if f != nil {
		if f.fields == nil {
			w.int32(1, int(physicalType(f.Kind)))
		}
		repetition := format.Optional
		if f.Required {
			repetition = format.Required
		}
		w.int32(3, int(repetition))
	}
	w.text(4, name)
	if children > 0 {
		w.int32(5, children)
	}
	if f != nil {
		annotate(w, f.Column)
	}
	w.close()
}

// repeated writes the SchemaElement of the group in a list or map that is repeated. It has no field id.
func (l *liveLayout) repeated(w *thriftWriter, name string, children int) {
	l.nodes++
	w.open()
	w.int32(3, int(format.Repeated))
	w.text(4, name)
	w.int32(5, children)
	w.close()
}

// physicalType is the type of a leaf.
func physicalType(k schema.Kind) format.Type {
	switch k {
	case schema.KindInt, schema.KindTime:
		return format.Int64
	case schema.KindReal:
		return format.Double
	case schema.KindBool:
		return format.Boolean
	}
	return format.ByteArray
}

// annotate writes the end of the SchemaElement of a column: its converted type (6), its field id (9), and its logical type
// (10), which is the newer form of the converted type.
func annotate(w *thriftWriter, c *schema.Column) {
	switch c.Kind {
	case schema.KindString:
		annotated(w, c, 0, 1, func() {}) // UTF8
	case schema.KindInt:
		annotated(w, c, 18, 10, func() { // INT_64
			w.int8(1, 64)
			w.bool(2, true) // signed
		})
	case schema.KindTime:
		annotated(w, c, 10, 8, func() { // TIMESTAMP_MICROS
			w.bool(1, true) // adjusted to UTC
			w.structure(2)
			w.empty(2) // microseconds
			w.close()
		})
	case schema.KindList:
		annotated(w, c, 3, 3, func() {})
	case schema.KindMap:
		annotated(w, c, 1, 2, func() {})
	default:
		w.int32(9, c.ID)
	}
}

func annotated(w *thriftWriter, c *schema.Column, converted int, logical byte, content func()) {
	w.int32(6, converted)
	w.int32(9, c.ID)
	w.structure(10)
	w.structure(logical)
	content()
	w.close()
	w.close()
}
