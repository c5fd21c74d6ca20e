package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/schema"
)

// rebuilt is a file with a new footer.
type rebuilt struct {
	file io.ReaderAt
	size int64
}

// rebuild makes a new footer for a sealed file from its pages. Each page has a header with its length and its number of
// rows, and they follow one another, column by column, as a Writer of this version writes them. An incomplete row group
// is left out, with everything after it; complete means that there is none. The content of the pages is not checked. The
// error wraps schema.ErrDamaged if there is no row group, or is one of reading.
func rebuild(file io.ReaderAt, size int64, t *schema.Table) (r rebuilt, complete bool, err error) {
	blank, err := blankFooters[t]()
	if err != nil {
		return rebuilt{}, false, err
	}
	footer, template := *blank, blank.RowGroups[0].Columns
	w := &pageWalk{file: file, size: size, at: int64(len(schema.ParquetMagic))}
	footer.RowGroups, footer.NumRows = nil, 0
	var indexes []format.OffsetIndex
	for {
		group, index, err := w.group(template)
		if errors.Is(err, errNoPage) {
			complete = true
			break
		}
		if errors.Is(err, schema.ErrDamaged) {
			break
		}
		if err != nil {
			return rebuilt{}, false, err
		}
		footer.RowGroups = append(footer.RowGroups, group)
		footer.NumRows += group.NumRows
		indexes = append(indexes, index...)
	}
	if len(footer.RowGroups) == 0 {
		return rebuilt{}, false, fmt.Errorf("%w: its footer cannot be read, and its pages do not follow one another", schema.ErrDamaged)
	}
	tail, err := encodeTail(&footer, indexes, w.end)
	return rebuilt{&twoParts{file, w.end, tail}, w.end + int64(len(tail))}, complete, err
}

// blankFooters are made only once: making one takes longer than reading the pages of a small file.
var blankFooters = map[*schema.Table]func() (*format.FileMetaData, error){
	schema.Runs:    sync.OnceValues(func() (*format.FileMetaData, error) { return blankFooter(schema.Runs) }),
	schema.Samples: sync.OnceValues(func() (*format.FileMetaData, error) { return blankFooter(schema.Samples) }),
	schema.Ops:     sync.OnceValues(func() (*format.FileMetaData, error) { return blankFooter(schema.Ops) }),
}

// blankFooter returns the footer of a file of a table with one row.
func blankFooter(t *schema.Table) (*format.FileMetaData, error) {
	var out bytes.Buffer
	w := NewWriter(&out, t, "", nil)
	row := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		if c.Required {
			row[i] = zeroOf(c)
		}
	}
	if err := w.Write(row); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	return file.Metadata(), nil
}

// zeroOf returns a value for a column that cannot be NULL.
func zeroOf(c *schema.Column) any {
	if c.Kind == schema.KindInt {
		return int64(0)
	}
	return ""
}

// pageWalk goes from page to page.
type pageWalk struct {
	file io.ReaderAt
	size int64
	at   int64 // offset of the next page
	end  int64 // end of the last complete row group
	next *pageHeader
}

// pageHeader is the header of a page, with its offset.
type pageHeader struct {
	format.PageHeader
	offset, size int64 // size includes the header
}

func (p *pageHeader) isDictionary() bool { return p.Type == format.DictionaryPage }

// errNoPage means that no page begins at an offset.
var errNoPage = fmt.Errorf("%w: no page begins at that offset", schema.ErrDamaged)

// peek reads the header of the next page.
func (w *pageWalk) peek() (*pageHeader, error) {
	if w.next != nil {
		return w.next, nil
	}
	const maxHeader = 512 // bytes of a header, which has no statistics
	b := make([]byte, min(maxHeader, max(w.size-w.at, 0)))
	if n, err := w.file.ReadAt(b, w.at); n < len(b) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var protocol thrift.CompactProtocol
	reader := protocol.NewReaderFromBytes(b)
	p := &pageHeader{offset: w.at}
	if err := thrift.NewDecoder(reader).Decode(&p.PageHeader); err != nil {
		return nil, errNoPage
	}
	p.size = int64(reader.BytesRead()) + int64(p.CompressedPageSize)
	known := p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid && p.DataPageHeaderV2.V.NumRows > 0 ||
		p.isDictionary() && p.DictionaryPageHeader.Valid
	if !known || p.CompressedPageSize < 0 || p.UncompressedPageSize < 0 || p.offset+p.size > w.size {
		return nil, errNoPage
	}
	w.next = p
	return p, nil
}

// take skips the next page.
func (w *pageWalk) take() { w.at, w.next = w.at+w.next.size, nil }

// group reads the page headers of a row group. It fails with errNoPage if none begins here.
func (w *pageWalk) group(template []format.ColumnChunk) (format.RowGroup, []format.OffsetIndex, error) {
	g := format.RowGroup{FileOffset: w.at}
	indexes := make([]format.OffsetIndex, len(template))
	if _, err := w.peek(); err != nil {
		return g, nil, err
	}
	for i := range template {
		chunk, rows, err := w.chunk(&template[i], g.NumRows, &indexes[i])
		if err != nil {
			return g, nil, fmt.Errorf("%w: column %d of a row group is incomplete", schema.ErrDamaged, i)
		}
		g.NumRows = rows
		g.Columns = append(g.Columns, chunk)
		g.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		g.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
	}
	w.end = w.at
	return g, indexes, nil
}

// chunk reads the page headers of a column with the given number of rows. If the number is unknown (0), they end where the pages of
// another column begin; the first column of every table makes that possible.
func (w *pageWalk) chunk(template *format.ColumnChunk, rows int64, index *format.OffsetIndex) (format.ColumnChunk, int64, error) {
	c := format.ColumnChunk{MetaData: template.MetaData}
	m := &c.MetaData
	m.Statistics, m.SizeStatistics, m.EncodingStats = format.Statistics{}, format.SizeStatistics{}, nil
	m.NumValues, m.TotalUncompressedSize, m.TotalCompressedSize, m.DictionaryPageOffset, m.DataPageOffset = 0, 0, 0, 0, 0
	var encoding format.Encoding
	for found := int64(0); rows == 0 || found < rows; {
		p, err := w.peek()
		first := found == 0
		if rows == 0 && !first && (err != nil || p.isDictionary() || p.DataPageHeaderV2.V.Encoding != encoding) {
			return c, found, nil
		}
		if err != nil {
			return c, 0, err
		}
		header := p.size - int64(p.CompressedPageSize)
		m.TotalCompressedSize += p.size
		m.TotalUncompressedSize += header + int64(p.UncompressedPageSize)
		if p.isDictionary() {
			if !first || m.DictionaryPageOffset != 0 {
				return c, 0, errNoPage
			}
			m.DictionaryPageOffset = p.offset
			w.take()
			continue
		}
		if first {
			encoding, m.DataPageOffset = p.DataPageHeaderV2.V.Encoding, p.offset
		}
		index.PageLocations = append(index.PageLocations, format.PageLocation{Offset: p.offset, CompressedPageSize: int32(p.size), FirstRowIndex: found})
		m.NumValues += int64(p.DataPageHeaderV2.V.NumValues)
		if found += int64(p.DataPageHeaderV2.V.NumRows); rows > 0 && found > rows {
			return c, 0, errNoPage
		}
		w.take()
	}
	return c, rows, nil
}

// encodeTail encodes the end of a file, after its pages: the offset indexes and the footer.
func encodeTail(footer *format.FileMetaData, indexes []format.OffsetIndex, at int64) ([]byte, error) {
	var tail []byte
	var protocol thrift.CompactProtocol
	for i := range indexes {
		b, err := thrift.Marshal(&protocol, &indexes[i])
		if err != nil {
			return nil, err
		}
		columns := footer.RowGroups[i/len(footer.RowGroups[0].Columns)].Columns
		c := &columns[i%len(columns)]
		c.OffsetIndexOffset, c.OffsetIndexLength = at+int64(len(tail)), int32(len(b))
		c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0
		tail = append(tail, b...)
	}
	return appendFooter(tail, footer)
}

// twoParts is the beginning of a file, up to an offset, followed by other bytes.
type twoParts struct {
	file io.ReaderAt
	end  int64
	tail []byte
}

func (p *twoParts) ReadAt(b []byte, at int64) (n int, err error) {
	if at < p.end {
		n, err = p.file.ReadAt(b[:min(int64(len(b)), p.end-at)], at)
		if err != nil && !errors.Is(err, io.EOF) || n < len(b) && at+int64(n) < p.end {
			return n, err
		}
	}
	if n < len(b) {
		n += copy(b[n:], p.tail[min(at+int64(n)-p.end, int64(len(p.tail))):])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
