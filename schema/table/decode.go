package table

import (
	"errors"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// errLevels means that the values of a row do not fit together.
var errLevels = errors.New("the values of a row are inconsistent")

// decoder assembles the values of one row from the values of its leaves: the inverse of put.
type decoder struct {
	leaves [][]parquet.Value // the remaining values of the row, by leaf
	err    error             // the first error
	texts  map[string]string // texts so far, so that equal ones share memory
}

// maxTexts and maxText limit the texts that a decoder keeps.
const (
	maxTexts = 4096
	maxText  = 128
)

// text returns the string of some bytes.
func (d *decoder) text(b []byte) string {
	if len(b) > maxText {
		return string(b)
	}
	if s, ok := d.texts[string(b)]; ok {
		return s
	}
	if d.texts == nil || len(d.texts) >= maxTexts {
		d.texts = map[string]string{}
	}
	s := string(b)
	d.texts[s] = s
	return s
}

// into sets the values of fields in a row.
func (d *decoder) into(row []any, fields []*field) error {
	for _, f := range fields {
		row[f.place] = d.value(f, level{})
	}
	for _, left := range d.leaves {
		if len(left) > 0 {
			d.fail()
		}
	}
	return d.err
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = damaged(errLevels)
	}
}

// next takes the next value of a leaf.
func (d *decoder) next(leaf int) parquet.Value {
	if len(d.leaves[leaf]) == 0 {
		d.fail()
		return parquet.Value{}
	}
	v := d.leaves[leaf][0]
	d.leaves[leaf] = d.leaves[leaf][1:]
	return v
}

// head returns the next value of a leaf, if there is one.
func (d *decoder) head(leaf int) (parquet.Value, bool) {
	if len(d.leaves[leaf]) == 0 {
		return parquet.Value{}, false
	}
	return d.leaves[leaf][0], true
}

// skip consumes the values of an absent part: one in each of its leaves.
func (d *decoder) skip(f *field) {
	for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
		d.next(leaf)
	}
}

// value returns the value of a column, or nil if it is NULL.
func (d *decoder) value(f *field, l level) any {
	if !f.Required {
		l.definition++
	}
	head, ok := d.head(f.leaf)
	if !ok {
		d.fail()
		return nil
	}
	if head.DefinitionLevel() < l.definition {
		d.skip(f)
		return nil
	}
	switch f.Kind {
	case schema.KindList:
		return d.list(f, l)
	case schema.KindMap:
		return d.entries(f, l)
	case schema.KindStruct:
		values := make([]any, len(f.Children))
		for _, part := range f.fields {
			values[part.place] = d.value(part, l)
		}
		return values
	default:
		return d.leafValue(f.Kind, d.next(f.leaf))
	}
}

// leafValue returns the inverse of leafValue in shred.go.
func (d *decoder) leafValue(kind schema.Kind, v parquet.Value) any {
	switch kind {
	case schema.KindInt:
		return v.Int64()
	case schema.KindReal:
		return v.Double()
	case schema.KindBool:
		return v.Boolean()
	case schema.KindTime:
		return time.UnixMicro(v.Int64()).UTC()
	default:
		return d.text(v.ByteArray())
	}
}

// list returns the elements of a list that is not NULL.
func (d *decoder) list(f *field, l level) any {
	element := f.fields[0]
	switch element.Kind {
	case schema.KindInt:
		return scalars(d, f, l, parquet.Value.Int64)
	case schema.KindReal:
		return scalars(d, f, l, parquet.Value.Double)
	case schema.KindString:
		return scalars(d, f, l, func(v parquet.Value) string { return d.text(v.ByteArray()) })
	}
	rows := [][]any{}
	d.repeated(f, l, func(l level) {
		row, _ := d.value(element, l).([]any)
		rows = append(rows, row)
	})
	return rows
}

// scalars returns the elements of a list of leaves without NULLs.
func scalars[T any](d *decoder, f *field, l level, convert func(parquet.Value) T) []T {
	list := make([]T, 0, len(d.leaves[f.leaf]))
	d.repeated(f, l, func(l level) {
		v := d.next(f.leaf)
		if v.DefinitionLevel() != l.definition+1 {
			d.fail()
			return
		}
		list = append(list, convert(v))
	})
	return list
}

// entries returns the entries of a map that is not NULL.
func (d *decoder) entries(f *field, l level) any {
	if f.fields[1].Kind == schema.KindReal {
		return mapOf(d, f, l, parquet.Value.Double)
	}
	return mapOf(d, f, l, func(v parquet.Value) string { return d.text(v.ByteArray()) })
}

func mapOf[T any](d *decoder, f *field, l level, convert func(parquet.Value) T) map[string]T {
	m := map[string]T{}
	d.repeated(f, l, func(l level) {
		key, value := d.next(f.fields[0].leaf), d.next(f.fields[1].leaf)
		if key.DefinitionLevel() != l.definition || value.DefinitionLevel() != l.definition+1 {
			d.fail()
			return
		}
		m[d.text(key.ByteArray())] = convert(value)
	})
	return m
}

// repeated calls take for each entry of a list or a map that is not NULL, with the level of the entry.
func (d *decoder) repeated(f *field, l level, take func(level)) {
	entry := level{l.repetition, l.definition + 1, l.depth + 1}
	head, _ := d.head(f.leaf)
	if head.DefinitionLevel() < entry.definition {
		d.skip(f) // not NULL, but empty
		return
	}
	for d.err == nil {
		take(entry)
		head, ok := d.head(f.leaf)
		if !ok || head.RepetitionLevel() < entry.depth {
			return
		}
	}
}
