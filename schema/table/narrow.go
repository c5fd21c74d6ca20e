package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Narrow gives a file in memory, and its size, as if it had no other columns of a table than these. Opening it takes much less time, because
// only their part of the footer is decoded. It needs the first column too. The error wraps schema.ErrDamaged.
func Narrow(content []byte, t *schema.Table, columns ...string) (io.ReaderAt, int64, error) {
	end := len(content) - tailLength
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
	footer = append(binary.LittleEndian.AppendUint32(footer, length), magic...)
	return &spliced{content[:begin], footer}, int64(begin + len(footer)), nil
}

// tailLength is the number of bytes behind a footer: its length, and the magic bytes.
const tailLength = 4 + len(magic)

// spliced is a file of two parts.
type spliced struct{ first, second []byte }

// ReadAt implements io.ReaderAt.
func (s *spliced) ReadAt(b []byte, offset int64) (n int, err error) {
	if offset < int64(len(s.first)) {
		n = copy(b, s.first[max(offset, 0):])
	}
	if at := offset + int64(n) - int64(len(s.first)); n < len(b) && at <= int64(len(s.second)) {
		n += copy(b[n:], s.second[at:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}
