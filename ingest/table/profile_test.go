package table

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// TestSealedProfile holds what FORMAT.md promises of a sealed file: all columns of its table in order with their ids,
// metadata, encodings and compression, in every row group.
func TestSealedProfile(t *testing.T) {
	id := schema.NewULID(runtest.Small().StartedAt)
	for table, rows := range rowsOf(runtest.Full()) {
		out := &memory{}
		w := NewWriter(out, table, "test", []schema.ULID{id})
		for range 2 {
			for _, row := range rows {
				if err := w.Write(row); err != nil {
					t.Fatal(err)
				}
			}
			w.flush()
			w.commit()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := parquet.OpenFile(bytes.NewReader(out.content), int64(len(out.content)))
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{
			formatKey: strconv.Itoa(schema.Format), writerKey: "test", schema.PackCoversKey: schema.EncodeCovers([]schema.ULID{id}),
		} {
			if got, _ := file.Lookup(key); got != want {
				t.Errorf("metadata %s is %q, want %q", key, got, want)
			}
		}
		if name := file.Schema().Name(); name != table.Name {
			t.Errorf("the root of %s is %q", table.Name, name)
		}
		for i, f := range file.Root().Fields() {
			if c := table.Columns[i]; f.Name() != c.Name || f.ID() != c.ID {
				t.Errorf("%s has column %s with id %d, want %s with %d", table.Name, f.Name(), f.ID(), c.Name, c.ID)
			}
		}
		var paths []string
		for _, path := range file.Schema().Columns() {
			paths = append(paths, strings.Join(path, "."))
		}
		if groups := file.Metadata().RowGroups; len(groups) != 2 {
			t.Errorf("%d row groups, want 2", len(groups))
		}
		for _, group := range file.Metadata().RowGroups {
			for i, chunk := range group.Columns {
				if path := strings.Join(chunk.MetaData.PathInSchema, "."); path != paths[i] {
					t.Errorf("a column chunk has the path %q, want %q", path, paths[i])
				}
				checkSealedChunk(t, table, chunk.MetaData, out.content)
			}
		}
	}
}

func checkSealedChunk(t *testing.T, table *schema.Table, m format.ColumnMetaData, content []byte) {
	t.Helper()
	name := fmt.Sprint(m.PathInSchema)
	codec, encodings := format.Zstd, []format.Encoding{format.Plain, format.RLEDictionary}
	switch {
	case m.Type == format.Int64:
		codec, encodings = format.Uncompressed, []format.Encoding{format.DeltaBinaryPacked}
	case m.Type == format.Boolean:
		codec, encodings = format.Uncompressed, []format.Encoding{format.Plain}
	case m.Type == format.Double:
		encodings = []format.Encoding{format.Plain}
	case m.PathInSchema[0] == runIDColumn || m.PathInSchema[0] == digestColumn:
		encodings = []format.Encoding{format.DeltaLengthByteArray}
	}
	if table == schema.Runs && (m.Type == format.Double || encodings[0] == format.DeltaLengthByteArray) {
		codec = format.Uncompressed
	}
	if m.Codec != codec {
		t.Errorf("%s has codec %v, want %v", name, m.Codec, codec)
	}
	for _, p := range pagesOf(t, content, &m) {
		encoding := p.DataPageHeaderV2.V.Encoding
		if p.isDictionary() {
			encoding = p.DictionaryPageHeader.V.Encoding
		}
		if !slices.Contains(encodings, encoding) || !slices.Contains(m.Encoding, encoding) {
			t.Errorf("%s has a page of type %v, encoding %v; want %v, and the footer names %v", name, p.Type, encoding, encodings, m.Encoding)
		}
	}
}

// pagesOf gives the headers of the pages of a column chunk, with their offsets. All are dictionary pages or data pages v2.
func pagesOf(t *testing.T, content []byte, m *format.ColumnMetaData) []*pageHeader {
	t.Helper()
	w := &pageWalk{file: bytes.NewReader(content), size: int64(len(content)), at: m.DataPageOffset}
	if m.DictionaryPageOffset != 0 {
		w.at = m.DictionaryPageOffset
	}
	var pages []*pageHeader
	for end := w.at + m.TotalCompressedSize; w.at < end; w.take() {
		p, err := w.peek()
		if err != nil {
			t.Fatalf("%v, at %d: %v", m.PathInSchema, w.at, err)
		}
		pages = append(pages, p)
	}
	return pages
}
