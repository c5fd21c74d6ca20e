package table

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// liveProfile is that of live files: no dictionary and no compression, which would take more room for a page of one value
// than the value. Lists of integers are DELTA_BINARY_PACKED.
func liveProfile(c *schema.Column, element bool) parquet.Node {
	if element && c.Kind == schema.KindInt {
		return parquet.Encoded(leafNode(c), &parquet.DeltaBinaryPacked)
	}
	return parquet.Encoded(leafNode(c), &parquet.Plain)
}

// referenceFile returns the live file of a row as parquet-go writes it, without its hash.
func referenceFile(tb testing.TB, row []any) []byte {
	tb.Helper()
	fields := shapeOf(row).fields()
	values := newLeaves(fields)
	for _, f := range fields {
		put(&values, f, row[f.place], level{})
	}
	var out bytes.Buffer
	options := append(metadata("test"), boundless(fields)...)
	w := parquet.NewGenericWriter[any](&out, append(options, parquet.NewSchema(liveRoot, group(fields, liveProfile)))...)
	for i, column := range w.ColumnWriters() {
		valuetest.Must(column.WriteRowValues(values[i]))
	}
	valuetest.OK(tb, w.Close())
	return out.Bytes()
}

// livePart is a page of a file, and what the file says of it.
type livePart struct {
	header format.PageHeader
	body   []byte
	chunk  format.ColumnChunk
}

// liveParts gives the footer of a file without its row group, and the pages, without what depends on the length of the
// headers and without the page index, which a live file does not have. The places of the pages must be those of the file.
func liveParts(tb testing.TB, content []byte) (format.FileMetaData, []livePart) {
	tb.Helper()
	end := len(content) - 8
	footer := content[end-int(binary.LittleEndian.Uint32(content[end:])) : end]
	var m format.FileMetaData
	valuetest.OK(tb, thrift.Unmarshal(new(thrift.CompactProtocol), footer, &m))
	if len(m.RowGroups) != 1 {
		tb.Fatalf("it has %d row groups", len(m.RowGroups))
	}
	group := &m.RowGroups[0]
	offset, total := group.FileOffset, int64(0)
	var parts []livePart
	for _, chunk := range group.Columns {
		part := livePart{chunk: chunk}
		size := chunk.MetaData.TotalCompressedSize
		if chunk.MetaData.DataPageOffset != offset || chunk.MetaData.TotalUncompressedSize != size {
			tb.Errorf("%v is at %d with %d bytes, want %d", chunk.MetaData.PathInSchema, chunk.MetaData.DataPageOffset, size, offset)
		}
		reader := bytes.NewReader(content[offset : offset+size])
		decoder := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(reader))
		valuetest.OK(tb, decoder.Decode(&part.header))
		part.body = content[offset+size-int64(part.header.CompressedPageSize) : offset+size]
		if reader.Len() != len(part.body) {
			tb.Errorf("%v has %d bytes after its header, want %d", chunk.MetaData.PathInSchema, reader.Len(), len(part.body))
		}
		offset, total = offset+size, total+size
		part.header.DataPageHeaderV2.V.Statistics = format.Statistics{}
		part.chunk.ColumnIndexOffset, part.chunk.ColumnIndexLength, part.chunk.OffsetIndexOffset, part.chunk.OffsetIndexLength = 0, 0, 0, 0
		part.chunk.MetaData.DataPageOffset, part.chunk.MetaData.TotalCompressedSize, part.chunk.MetaData.TotalUncompressedSize = 0, 0, 0
		parts = append(parts, part)
	}
	if group.TotalByteSize != total || group.TotalCompressedSize != total {
		tb.Errorf("the row group has %d bytes, want %d", group.TotalByteSize, total)
	}
	group.Columns, group.TotalByteSize, group.TotalCompressedSize, group.SortingColumns = nil, 0, 0, nil
	for i := range m.Schema {
		m.Schema[i].TypeLength.Valid, m.Schema[i].TypeLength.V = false, 0 // it is for types of a fixed length, and parquet-go writes it always
	}
	for i := range m.KeyValueMetadata {
		if m.KeyValueMetadata[i].Key == schema.FileHashKey {
			m.KeyValueMetadata[i].Value = ""
		}
	}
	m.CreatedBy = ""
	return m, parts
}

// checkLikeReference compares the live file of a row with what parquet-go writes: the same schema, metadata, statistics of
// values and page headers, and the same bytes in all pages. It is read as the same row.
func checkLikeReference(tb testing.TB, e *Encoder, row []any) {
	tb.Helper()
	content := valuetest.Must(e.row(row))
	if err := schema.CheckFileHash(content); err != nil {
		tb.Error(err)
	}
	got, gotParts := liveParts(tb, content)
	want, wantParts := liveParts(tb, referenceFile(tb, row))
	if !reflect.DeepEqual(got, want) {
		tb.Errorf("the footer is\n%+v, want\n%+v", got, want)
	}
	if len(gotParts) != len(wantParts) {
		tb.Fatalf("it has %d columns, want %d", len(gotParts), len(wantParts))
	}
	for i, part := range gotParts {
		path, want := part.chunk.MetaData.PathInSchema, wantParts[i]
		want.chunk.MetaData.EncodingStats, want.chunk.MetaData.SizeStatistics = nil, format.SizeStatistics{}
		if !bytes.Equal(part.body, want.body) {
			tb.Errorf("the page of %v is\n%x, want\n%x", path, part.body, want.body)
		}
		if !reflect.DeepEqual(part.header, want.header) {
			tb.Errorf("the header of %v is\n%+v, want\n%+v", path, part.header, want.header)
		}
		if !reflect.DeepEqual(part.chunk, want.chunk) {
			tb.Errorf("the footer of %v is\n%+v, want\n%+v", path, part.chunk, want.chunk)
		}
	}
	file := valuetest.Must(open(bytes.NewReader(content), int64(len(content)), &schema.Table{Name: liveRoot, Columns: schema.LiveColumns()}))
	back := valuetest.Must(file.Reader().Read())
	for i, c := range schema.LiveColumns() {
		if !same(back[i], row[i]) {
			tb.Errorf("%s is read as %v, want %v", c.Name, back[i], row[i])
		}
	}
}

// TestLikeReference compares files of runs.
func TestLikeReference(t *testing.T) {
	e := testEncoder()
	for _, r := range variety(2) {
		r.StartedAt = r.StartedAt.Truncate(time.Microsecond)
		checkLikeReference(t, e, liveRow(&r, schema.DigestOf(&r)))
	}
}

// TestLargePage encodes as many samples as a long run has, and other numbers of them before and after it.
func TestLargePage(t *testing.T) {
	e := testEncoder()
	for _, n := range []int{7, 1, 300_000, 129, 128, 8} {
		r := runtest.Small()
		r.StartedAt = r.StartedAt.Truncate(time.Microsecond)
		ticks, reals := make([]int64, n), make([]float64, n)
		for i := range n {
			ticks[i], reals[i] = int64(i*i)%7919, 1/float64(1+i)
		}
		r.Metrics = append(r.Metrics, schema.Metric{Name: "long", Tick: 1, Ticks: ticks}, schema.Metric{Name: "reals", Reals: reals})
		checkLikeReference(t, e, liveRow(&r, schema.DigestOf(&r)))
	}
}

// FuzzLikeReference compares files of rows with any values, and with NULL in any place.
func FuzzLikeReference(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, byte(13*seed))
	}
	e := testEncoder()
	f.Fuzz(func(t *testing.T, seed uint64, density byte) {
		maker := rowMaker{rand.New(rand.NewPCG(seed, 1)), float64(density) / math.MaxUint8}
		checkLikeReference(t, e, maker.fields(schema.LiveColumns()))
	})
}

// rowMaker makes rows of random values.
type rowMaker struct {
	*rand.Rand
	density float64 // share of values that are not NULL
}

func (m rowMaker) fields(columns []*schema.Column) []any {
	row := make([]any, len(columns))
	for i, c := range columns {
		if c.Required || m.Float64() < m.density {
			row[i] = m.value(c)
		}
	}
	return row
}

func (m rowMaker) value(c *schema.Column) any {
	switch c.Kind {
	case schema.KindInt:
		return m.integer()
	case schema.KindReal:
		return m.real()
	case schema.KindBool:
		return m.IntN(2) == 1
	case schema.KindTime:
		return time.UnixMicro(m.integer() >> 16).UTC()
	case schema.KindList:
		return m.list(c.Children[0])
	case schema.KindMap:
		if c.Children[1].Kind == schema.KindReal {
			return makeMap(m, m.real)
		}
		return makeMap(m, m.text)
	}
	return m.text()
}

func makeMap[T any](m rowMaker, value func() T) map[string]T {
	made := map[string]T{}
	for range m.length() {
		made[m.text()] = value()
	}
	return made
}

func (m rowMaker) list(element *schema.Column) any {
	n := m.length()
	switch element.Kind {
	case schema.KindInt:
		return makeList(n, m.integer)
	case schema.KindReal:
		return makeList(n, m.real)
	case schema.KindString:
		return makeList(n, m.text)
	}
	return makeList(n, func() []any { return m.fields(element.Children) })
}

func makeList[T any](n int, value func() T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = value()
	}
	return list
}

// length is that of a list: often short, and sometimes longer than a block of an encoding.
func (m rowMaker) length() int {
	if m.IntN(8) == 0 {
		return m.IntN(300)
	}
	return m.IntN(4)
}

func (m rowMaker) integer() int64 {
	return int64(m.Uint64()) >> m.IntN(64)
}

func (m rowMaker) real() float64 {
	edges := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)}
	if i := m.IntN(2 * len(edges)); i < len(edges) {
		return edges[i]
	}
	return m.NormFloat64()
}

func (m rowMaker) text() string {
	text := make([]byte, m.length())
	for i := range text {
		text[i] = byte(m.Uint32())
	}
	return string(text)
}
