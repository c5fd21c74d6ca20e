package table

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/schema"
)

// leanTail returns the end of a file without the parts that no reader of it can use. tail is the end as the Parquet writer made it,
// which is at an offset of the file: it may begin with pages, and then has the page index and the footer.
//
// Page index and footer were half of a file of 24 runs: there are 92 columns, and each had 150 bytes about one page.
func leanTail(footer format.FileMetaData, tail []byte, at int64) ([]byte, error) {
	footer.Schema = leanSchema(footer.Schema)
	for i := range footer.RowGroups {
		if onePageEach(&footer.RowGroups[i]) {
			forgetPages(&footer.RowGroups[i])
		}
	}
	pages := tail[:pagesEnd(footer.RowGroups)-at]
	lean := append(slices.Clip(pages), moveIndexes(footer.RowGroups, tail, at)...)
	return appendFooter(lean, &footer)
}

// pagesEnd returns the offset at which the pages of a file end.
func pagesEnd(groups []format.RowGroup) int64 {
	if len(groups) == 0 {
		return int64(len(schema.ParquetMagic))
	}
	last := &groups[len(groups)-1]
	return last.FileOffset + last.TotalCompressedSize
}

// leanSchema returns a schema without the lengths of types that have no length of their own.
func leanSchema(elements []format.SchemaElement) []format.SchemaElement {
	lean := make([]format.SchemaElement, len(elements))
	for i, e := range elements {
		e.TypeLength.Valid = false // no column of the format is a FIXED_LEN_BYTE_ARRAY
		lean[i] = e
	}
	return lean
}

// onePageEach reports whether each column of a row group has one data page, so that no reader can skip a page in it.
func onePageEach(g *format.RowGroup) bool {
	for i := range g.Columns {
		pages := int32(0)
		for _, s := range g.Columns[i].MetaData.EncodingStats {
			if s.PageType != format.DictionaryPage {
				pages += s.Count
			}
		}
		if pages != 1 {
			return false
		}
	}
	return true
}

// forgetPages removes the information about single pages from a footer: their offsets, and the encodings of their values and levels.
func forgetPages(g *format.RowGroup) {
	for i := range g.Columns {
		c := &g.Columns[i]
		c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
		c.MetaData.EncodingStats, c.MetaData.SizeStatistics = nil, format.SizeStatistics{}
	}
}

// moveIndexes returns the page indexes that the row groups still have, and puts their new places into the row groups. As Parquet
// requires, all column indexes come before all offset indexes.
func moveIndexes(groups []format.RowGroup, tail []byte, at int64) []byte {
	var moved []byte
	start := pagesEnd(groups)
	move := func(offset *int64, length int32) {
		if length == 0 {
			return
		}
		from := *offset - at
		*offset = start + int64(len(moved))
		moved = append(moved, tail[from:from+int64(length)]...)
	}
	for i := range groups {
		for j := range groups[i].Columns {
			c := &groups[i].Columns[j]
			move(&c.ColumnIndexOffset, c.ColumnIndexLength)
		}
	}
	for i := range groups {
		for j := range groups[i].Columns {
			c := &groups[i].Columns[j]
			move(&c.OffsetIndexOffset, c.OffsetIndexLength)
		}
	}
	return moved
}

// appendFooter appends the footer of a file with its length.
func appendFooter(to []byte, footer *format.FileMetaData) ([]byte, error) {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), footer)
	if err != nil {
		return nil, err
	}
	to = append(to, b...)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(b)))
	return append(to, schema.ParquetMagic...), nil
}

// bounded reports whether the statistics of a column have its smallest and its largest value. Readers cannot use them in lists and maps,
// and queries do not search ranges of digests and messages, which may be long.
func bounded(c *schema.Column) bool {
	return c.Kind != schema.KindList && c.Kind != schema.KindMap && c.Name != digestColumn && c.Name != errorColumn
}

// boundless returns the options for the columns that are not bounded.
func boundless(fields []*field) []parquet.WriterOption {
	var options []parquet.WriterOption
	for _, f := range fields {
		if !bounded(f.Column) {
			eachLeaf(f, nil, func(path ...string) { options = append(options, parquet.SkipPageBounds(path...)) })
		}
	}
	return options
}

// eachLeaf calls visit with the paths of the leaves of a field, in the file.
func eachLeaf(f *field, above []string, visit func(path ...string)) {
	path := append(above[:len(above):len(above)], f.Name)
	switch f.Kind {
	case schema.KindList:
		path = append(path, "list")
	case schema.KindMap:
		path = append(path, "key_value")
	}
	if f.fields == nil {
		visit(path...)
	}
	for _, part := range f.fields {
		eachLeaf(part, path, visit)
	}
}
