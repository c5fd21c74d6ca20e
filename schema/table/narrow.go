package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Narrow returns a file in memory, and its size, as if it had no other columns of a table than the given ones. Opening it takes much
// less time, because only their part of the footer is decoded. It needs the first column too. The error wraps schema.ErrDamaged.
func Narrow(content []byte, t *schema.Table, columns ...string) (io.ReaderAt, int64, error) {
	end := len(content) - schema.ParquetTail
	if end < 0 || binary.LittleEndian.Uint32(content[end:]) > uint32(end) {
		return nil, 0, fmt.Errorf("%w: it does not end like a Parquet file", schema.ErrDamaged)
	}
	begin := end - int(binary.LittleEndian.Uint32(content[end:]))
	footer, err := schema.NarrowFooter(content[begin:end], func(field int64) bool {
		at := slices.IndexFunc(t.Columns, func(c *schema.Column) bool { return int64(c.ID) == field })
		return at >= 0 && slices.Contains(columns, t.Columns[at].Name)
	})
	if err != nil {
		return nil, 0, err
	}
	length := uint32(len(footer))
	footer = append(binary.LittleEndian.AppendUint32(footer, length), schema.ParquetMagic...)
	return &twoParts{bytes.NewReader(content), int64(begin), footer}, int64(begin + len(footer)), nil
}
