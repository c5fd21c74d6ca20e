package table

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// ErrNewer means that a file is intact, but has columns or a format that this version does not know. Do not rewrite such
// a file.
var ErrNewer = errors.New("the file was written by a newer version")

// binder finds the columns of the format in a file.
type binder struct {
	leaf  int   // index of the next leaf of the file
	newer error // names the first unknown column, and wraps ErrNewer
}

// bind returns the fields of the columns that a file has, in its order, and a binder that has seen all its leaves. The error wraps
// schema.ErrDamaged if a column has another type.
func bind(root parquet.Node, columns []*schema.Column) (b binder, fields []*field, err error) {
	fields, err = b.children(root, columns)
	return b, fields, err
}

// children binds the fields of a group by their ids, which are the ids of the columns.
func (b *binder) children(group parquet.Node, columns []*schema.Column) ([]*field, error) {
	var fields []*field
	for _, node := range group.Fields() {
		place := placeOf(columns, node.ID())
		if place < 0 {
			b.leaf += leavesOf(node)
			b.newer = cmp.Or(b.newer, fmt.Errorf("%w: column %q with field id %d is unknown", ErrNewer, node.Name(), node.ID()))
			continue
		}
		f, err := b.column(node, columns[place], place)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// leavesOf counts the leaves below a node, or the node itself.
func leavesOf(node parquet.Node) int {
	if node.Leaf() {
		return 1
	}
	n := 0
	for _, f := range node.Fields() {
		n += leavesOf(f)
	}
	return n
}

func placeOf(columns []*schema.Column, id int) int {
	for i, c := range columns {
		if c.ID == id {
			return i
		}
	}
	return -1
}

// column binds a node of the file to a column of the format, with its parts.
func (b *binder) column(node parquet.Field, c *schema.Column, place int) (*field, error) {
	f := &field{Column: c, place: place, leaf: b.leaf}
	if node.Name() != c.Name || node.Repeated() || node.Required() != c.Required {
		return nil, mismatch(node, c)
	}
	var err error
	switch c.Kind {
	case schema.KindStruct:
		if node.Leaf() {
			return nil, mismatch(node, c)
		}
		f.fields, err = b.children(node, c.Children)
	case schema.KindList:
		f.fields, err = b.repeated(node, c, "list")
	case schema.KindMap:
		f.fields, err = b.repeated(node, c, "key_value")
	default:
		if want := leafNode(c).Type(); !node.Leaf() || node.Type().Kind() != want.Kind() || node.Type().String() != want.String() {
			return nil, mismatch(node, c)
		}
		b.leaf++
	}
	f.leaves = b.leaf - f.leaf
	if err == nil && f.leaves == 0 {
		err = mismatch(node, c)
	}
	return f, err
}

// repeated binds the content of the repeated group of a list or a map, which must have all its parts.
func (b *binder) repeated(node parquet.Field, c *schema.Column, name string) ([]*field, error) {
	if node.Leaf() || len(node.Fields()) != 1 {
		return nil, mismatch(node, c)
	}
	group := node.Fields()[0]
	if group.Name() != name || !group.Repeated() || group.Leaf() {
		return nil, mismatch(node, c)
	}
	fields, err := b.children(group, c.Children)
	if err != nil {
		return nil, err
	}
	if len(fields) != len(c.Children) {
		return nil, mismatch(node, c)
	}
	for i, f := range fields {
		if f.place != i {
			return nil, mismatch(node, c)
		}
	}
	return fields, nil
}

func mismatch(node parquet.Field, c *schema.Column) error {
	return fmt.Errorf("%w: column %q with field id %d should be the %s %q", schema.ErrDamaged, node.Name(), node.ID(), c.SQLType(), c.Name)
}
