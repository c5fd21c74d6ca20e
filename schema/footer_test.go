package schema

import (
	"bytes"
	"testing"
)

// FuzzFooter: whatever the end of a file is, reading it comes to an end with an error or a footer.
func FuzzFooter(f *testing.F) {
	f.Add([]byte{0x15, 0x04, 0x19, 0x1c, 0x15, 0x0c, 0x52, 0x02, 0x00, 0x16, 0x02, 0x19, 0x1c, 0x36, 0x02, 0x00, 0x00})
	f.Add(bytes.Repeat([]byte{0x1c}, 100))
	f.Add(bytes.Repeat([]byte{0x19, 0x19}, 100))
	f.Add([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, footer []byte) {
		content := append(bytes.Clone(footer), byte(len(footer)), byte(len(footer)>>8), byte(len(footer)>>16), byte(len(footer)>>24))
		content = append(content, ParquetMagic...)
		read, err := ReadFooter(bytes.NewReader(content), int64(len(content)))
		if err == nil {
			_ = read.Check(Runs, 1)
		}
		live, err := ReadLiveFooter(bytes.NewReader(content), int64(len(content)))
		if format, rows, again := ReadFooterRows(bytes.NewReader(content), int64(len(content))); err == nil && again == nil && (live.Format != format || live.Rows != rows) {
			t.Errorf("%x has %d rows of %q, and %d of %q", footer, live.Rows, live.Format, rows, format)
		}
		some := func(field int64) bool { return field%2 == 0 }
		narrow, err := NarrowFooter(footer, some)
		if err != nil {
			return
		}
		if again, err := NarrowFooter(narrow, some); err != nil || !bytes.Equal(again, narrow) {
			t.Errorf("%x is %x, of which the same columns are %x, %v", footer, narrow, again, err)
		}
	})
}
