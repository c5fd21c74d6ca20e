package table

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// openWhole opens a file with its page index.
func openWhole(t *testing.T, content []byte) *parquet.File {
	t.Helper()
	file := valuetest.Must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
	return file
}

// TestLeanFooter: the footer of a small file says nothing that no reader can use, and its columns have bounds unless they
// are in a list or a map, or are the digest or the message of an error.
func TestLeanFooter(t *testing.T) {
	for table, rows := range rowsOf(runtest.Full()) {
		file := openWhole(t, write(t, table, rows).content)
		for _, e := range file.Metadata().Schema {
			if e.TypeLength.Valid {
				t.Errorf("%s: %s has a length", table.Name, e.Name)
			}
		}
		for _, c := range file.Metadata().RowGroups[0].Columns {
			m, name := c.MetaData, fmt.Sprint(table.Name, c.MetaData.PathInSchema)
			if !reflect.DeepEqual(indexOf(&c), format.ColumnChunk{}) || m.EncodingStats != nil || !reflect.DeepEqual(m.SizeStatistics, format.SizeStatistics{}) {
				t.Errorf("%s: the footer says of its only page: %+v %+v %+v", name, indexOf(&c), m.EncodingStats, m.SizeStatistics)
			}
			values := m.NumValues > m.Statistics.NullCount
			want := values && len(m.PathInSchema) == 1 && m.PathInSchema[0] != digestColumn && m.PathInSchema[0] != errorColumn
			if got := m.Statistics.MinValue != nil && m.Statistics.MaxValue != nil; got != want {
				t.Errorf("%s: it has bounds: %v, want %v", name, got, want)
			}
		}
	}
}

// indexOf returns what a footer says of the page index of a column.
func indexOf(c *format.ColumnChunk) format.ColumnChunk {
	return format.ColumnChunk{
		OffsetIndexOffset: c.OffsetIndexOffset, OffsetIndexLength: c.OffsetIndexLength,
		ColumnIndexOffset: c.ColumnIndexOffset, ColumnIndexLength: c.ColumnIndexLength,
	}
}

// TestPageIndex: row groups with a column of several pages keep the page index, which names each of their pages, also if
// there are row groups without one between them.
func TestPageIndex(t *testing.T) {
	_, rows, _ := sweepRows(runtest.NewSweep(1, 30), 1500)
	out := &memory{}
	w := NewWriter(out, schema.Runs, "test", nil)

	for i, row := range rows[schema.Runs] {
		valuetest.OK(t, w.Write(row))
		if i == 700 || i == 710 {
			valuetest.OK(t, w.endGroup())
		}
	}
	valuetest.OK(t, w.Close())
	file := openWhole(t, out.content)
	if n := len(file.RowGroups()); n != 3 {
		t.Fatalf("%d row groups, want 3", n)
	}
	for g, group := range file.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			c := &file.Metadata().RowGroups[g].Columns[i]
			if g == 1 {
				if !reflect.DeepEqual(indexOf(c), format.ColumnChunk{}) {
					t.Errorf("row group 1 has an index of %v", c.MetaData.PathInSchema)
				}
				continue
			}
			checkPageIndex(t, pagesOf(t, out.content, &c.MetaData), chunk)
			if c.MetaData.EncodingStats == nil {
				t.Errorf("%v has no statistics of its encodings", c.MetaData.PathInSchema)
			}
		}
	}
	got := readAll(t, schema.Runs, out.content)
	for i, row := range rows[schema.Runs] {
		mustBeSame(t, schema.Runs, got[i], row)
	}
}

// checkPageIndex compares the page index of a column with its pages.
func checkPageIndex(t *testing.T, pages []*pageHeader, chunk parquet.ColumnChunk) {
	t.Helper()
	offsets := valuetest.Must(chunk.OffsetIndex())
	columns := valuetest.Must(chunk.ColumnIndex())
	pages = slices.DeleteFunc(pages, (*pageHeader).isDictionary)
	if offsets.NumPages() != len(pages) || columns.NumPages() != len(pages) {
		t.Fatalf("column %d has %d pages, and indexes of %d and %d", chunk.Column(), len(pages), offsets.NumPages(), columns.NumPages())
	}
	first := int64(0)
	for i, p := range pages {
		if offsets.Offset(i) != p.offset || offsets.CompressedPageSize(i) != p.size || offsets.FirstRowIndex(i) != first {
			t.Errorf("column %d: page %d is at %d", chunk.Column(), i, p.offset)
		}
		if columns.NullCount(i) != int64(p.DataPageHeaderV2.V.NumNulls) {
			t.Errorf("column %d: page %d has %d NULLs in the index", chunk.Column(), i, columns.NullCount(i))
		}
		first += int64(p.DataPageHeaderV2.V.NumRows)
	}
}

// TestEmptyFile: a file without rows can be read.
func TestEmptyFile(t *testing.T) {
	for table := range rowsOf(runtest.Full()) {
		if rows := readAll(t, table, write(t, table, nil).content); len(rows) != 0 {
			t.Errorf("%d rows of %s", len(rows), table.Name)
		}
	}
}
