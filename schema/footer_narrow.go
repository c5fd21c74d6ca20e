package schema

import "encoding/binary"

// NarrowFooter is the metadata of a Parquet file, without its length, as if the file had no other columns than those with the wanted field
// ids. Their places in the file are the same. Decoding it takes much less time than decoding all. The error wraps ErrDamaged.
func NarrowFooter(footer []byte, wanted func(field int64) bool) ([]byte, error) {
	n := narrower{compactReader: compactReader{left: footer}, wanted: wanted}
	if err := n.file(); err != nil {
		return nil, errFooter
	}
	return n.out, nil
}

// narrower copies a footer without some of its columns.
type narrower struct {
	compactReader
	wanted func(field int64) bool
	out    []byte
	leaves []bool // whether a leaf of the schema is of a wanted column
}

// file copies FileMetaData: 2 is the schema, 4 the row groups, 7 how the values of each leaf are ordered.
func (n *narrower) file() error {
	return n.structure(func(id int64, kind byte) error {
		switch id {
		case 2:
			return n.schema(kind)
		case 4:
			return n.list(kind, func(int) bool { return true }, n.group)
		case 7:
			return n.list(kind, n.leaf, n.whole)
		}
		return n.value(kind)
	})
}

// group copies a RowGroup: 1 are its chunks, one for each leaf, and 4 the leaves by which it is sorted, by their numbers: none.
func (n *narrower) group() error {
	return n.structure(func(id int64, kind byte) error {
		switch id {
		case 1:
			return n.list(kind, n.leaf, n.whole)
		case 4:
			return n.list(kind, func(int) bool { return false }, nil)
		}
		return n.value(kind)
	})
}

// leaf reports whether a leaf is kept.
func (n *narrower) leaf(i int) bool { return i < len(n.leaves) && n.leaves[i] }

// whole copies a struct.
func (n *narrower) whole() error { return n.value(compactStruct) }

// value copies the value of a field.
func (n *narrower) value(kind byte) error {
	before := n.left
	err := n.skip(kind)
	n.out = append(n.out, before[:len(before)-len(n.left)]...)
	return err
}

// structure copies a struct, of which each copies the values of the fields.
func (n *narrower) structure(each func(id int64, kind byte) error) error {
	before := n.left
	err := n.fields(func(id int64, kind byte) error {
		n.out = append(n.out, before[:len(before)-len(n.left)]...) // its header
		err := each(id, kind)
		before = n.left
		return err
	})
	n.out = append(n.out, 0)
	return err
}

// list copies the structs of a list that are kept, each by copied.
func (n *narrower) list(kind byte, keep func(i int) bool, copied func() error) error {
	all, element, err := n.compactReader.list()
	if err != nil || kind != compactList || element != compactStruct {
		return errCompact
	}
	kept := uint64(0)
	for i := range int(all) {
		if keep(i) {
			kept++
		}
	}
	n.header(kept)
	for i := range int(all) {
		if !keep(i) {
			err = n.skip(compactStruct)
		} else {
			err = copied()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// header begins a list of structs. The long form of its length is always right.
func (n *narrower) header(structs uint64) {
	n.out = binary.AppendUvarint(append(n.out, 0xf0|compactStruct), structs)
}

// schema copies the elements of the schema: the root, then each column before what is in it.
func (n *narrower) schema(kind byte) error {
	all, element, err := n.compactReader.list()
	if err != nil || kind != compactList || element != compactStruct || all == 0 {
		return errCompact
	}
	root, err := n.element()
	if err != nil || root.before == nil {
		return errCompact
	}
	var kept []byte
	columns, elements := int64(0), uint64(1)
	for range root.children {
		before, leaves := n.left, len(n.leaves)
		field, count, err := n.column(0)
		if err != nil {
			return err
		}
		if !n.wanted(field) {
			continue
		}
		for i := leaves; i < len(n.leaves); i++ {
			n.leaves[i] = true
		}
		kept = append(kept, before[:len(before)-len(n.left)]...)
		columns, elements = columns+1, elements+count
	}
	n.header(elements)
	n.out = append(n.out, root.before...)
	n.out = binary.AppendVarint(n.out, columns)
	n.out = append(n.out, root.after...)
	n.out = append(n.out, kept...)
	return nil
}

// schemaElement is an element of the schema.
type schemaElement struct {
	field, children int64
	before, after   []byte // its bytes around the number of children
}

// element reads a SchemaElement: 5 is the number of children, 9 the field id.
func (n *narrower) element() (e schemaElement, err error) {
	all := n.left
	e.field = -1
	err = n.fields(func(id int64, kind byte) (err error) {
		switch id {
		case 5:
			e.before = all[:len(all)-len(n.left)]
			e.children, err = n.integer()
			e.after = n.left
		case 9:
			e.field, err = n.integer()
		default:
			err = n.skip(kind)
		}
		return err
	})
	if e.after != nil {
		e.after = e.after[:len(e.after)-len(n.left)]
	}
	return e, err
}

// column reads an element with all that is in it: the field id of the outermost, and the number of elements. Its leaves are not kept yet.
func (n *narrower) column(depth int) (field int64, elements uint64, err error) {
	e, err := n.element()
	if err != nil || depth > maxDepth {
		return 0, 0, errCompact
	}
	if e.children == 0 {
		n.leaves = append(n.leaves, false)
	}
	elements = 1
	for range e.children {
		_, more, err := n.column(depth + 1)
		if err != nil {
			return 0, 0, err
		}
		elements += more
	}
	return e.field, elements, nil
}
