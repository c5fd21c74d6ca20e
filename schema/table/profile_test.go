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
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSealedProfile holds what FORMAT.md promises of a sealed file: all columns of its table in order with their ids,
// metadata, encodings and compression, in every row group.
func TestSealedProfile(t *testing.T) {
	for table, rows := range rowsOf(runtest.Full()) {
		checkSealed(t, table, rows, 1, true)
		checkSealed(t, table, rows, 2, false)
	}
}

// checkSealed writes a file with rows in each of some row groups, with few values or as if there were many, and checks it.
func checkSealed(t *testing.T, table *schema.Table, rows [][]any, groups int, few bool) {
	t.Helper()
	id := schema.NewULID(runtest.Small().StartedAt)
	out := &memory{}
	w := NewWriter(out, table, "test", []schema.ULID{id})
	for left := groups; left > 0; left-- {
		for _, row := range rows {
			valuetest.OK(t, w.Write(row))
		}
		if left > 1 {
			w.flush()
			w.commit()
		}
	}
	valuetest.OK(t, w.Close())
	file := valuetest.Must(parquet.OpenFile(bytes.NewReader(out.content), int64(len(out.content))))
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
	if got := file.Metadata().RowGroups; len(got) != groups {
		t.Errorf("%d row groups, want %d", len(got), groups)
	}
	for _, group := range file.Metadata().RowGroups {
		for i, chunk := range group.Columns {
			if path := strings.Join(chunk.MetaData.PathInSchema, "."); path != paths[i] {
				t.Errorf("a column chunk has the path %q, want %q", path, paths[i])
			}
			checkSealedChunk(t, chunk.MetaData, encodedAs(table, &chunk.MetaData, few), out.content)
		}
	}
}

// encoded says how the values of a column chunk are written.
type encoded struct {
	codec     format.CompressionCodec
	encodings []format.Encoding // of its pages
}

// encodedAs returns what FORMAT.md says of a column, in a file of few values or of many.
func encodedAs(table *schema.Table, m *format.ColumnMetaData, few bool) encoded {
	name := m.PathInSchema[0]
	switch {
	case m.Type == format.Int64:
		return encoded{format.Uncompressed, []format.Encoding{format.DeltaBinaryPacked}}
	case m.Type == format.Boolean:
		return encoded{format.Uncompressed, []format.Encoding{format.Plain}}
	case m.Type == format.Double && table == schema.Runs:
		return encoded{format.Uncompressed, []format.Encoding{format.Plain}}
	case m.Type == format.Double:
		return encoded{format.Zstd, []format.Encoding{format.Plain}}
	case name == digestColumn || name == runIDColumn && table == schema.Runs:
		return encoded{format.Uncompressed, []format.Encoding{format.DeltaLengthByteArray}}
	case name == runIDColumn:
		return encoded{format.Zstd, []format.Encoding{format.DeltaLengthByteArray}}
	case few:
		return encoded{format.Zstd, []format.Encoding{format.Plain}}
	}
	return encoded{format.Zstd, []format.Encoding{format.Plain, format.RLEDictionary}} // a dictionary itself is PLAIN
}

func checkSealedChunk(t *testing.T, m format.ColumnMetaData, want encoded, content []byte) {
	t.Helper()
	name := fmt.Sprint(m.PathInSchema)
	if m.Codec != want.codec {
		t.Errorf("%s has codec %v, want %v", name, m.Codec, want.codec)
	}
	pages := pagesOf(t, content, &m)
	if has := pages[0].isDictionary(); has != slices.Contains(want.encodings, format.RLEDictionary) {
		t.Errorf("%s has a dictionary: %v", name, has)
	}
	for _, p := range pages {
		encoding := p.DataPageHeaderV2.V.Encoding
		if p.isDictionary() {
			encoding = p.DictionaryPageHeader.V.Encoding
		}
		if !slices.Contains(want.encodings, encoding) || !slices.Contains(m.Encoding, encoding) {
			t.Errorf("%s has a page of type %v, encoding %v; want %v, and the footer names %v", name, p.Type, encoding, want.encodings, m.Encoding)
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
