package table

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// stretch is a range of rows of a row group: from (included) to end.
type stretch struct {
	group     int
	from, end int64
}

// goodRows gives the rows of a row group whose pages are all intact.
func goodRows(group parquet.RowGroup) ([]stretch, error) {
	var all []stretch
	values := make([]parquet.Value, maxValuesRead)
	for i, chunk := range group.ColumnChunks() {
		good, err := goodOfChunk(chunk, values)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = good
		} else {
			all = common(all, good)
		}
		if len(all) == 0 {
			break
		}
	}
	return all, nil
}

// goodOfChunk gives the rows of a column chunk whose pages are intact. After a damaged page, reading continues where the
// offset index says that the next one begins. Values are read into a shared buffer.
func goodOfChunk(chunk parquet.ColumnChunk, buffer []parquet.Value) (good []stretch, err error) {
	next := int64(0)
	for {
		end, err := readableFrom(chunk, next, buffer)
		if err != nil && !errors.Is(err, schema.ErrDamaged) {
			return nil, err
		}
		if end > next {
			good = append(good, stretch{from: next, end: end})
		}
		if err == nil {
			return good, nil
		}
		more := false
		if next, more = pageAfter(chunk, end); !more {
			return good, nil
		}
	}
}

// readableFrom reads pages from a row on, which must be the first of a page, and gives the row at which it had to stop.
// The error wraps schema.ErrDamaged, unless it reached the end of the chunk or the file could not be read.
func readableFrom(chunk parquet.ColumnChunk, row int64, buffer []parquet.Value) (end int64, err error) {
	defer recovered(&err)
	pages := chunk.Pages()
	defer pages.Close()
	if row > 0 {
		if err := pages.SeekToRow(row); err != nil {
			return row, damaged(err)
		}
	}
	for end = row; ; {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, damaged(err)
		}
		if err := readValues(page, buffer); err != nil {
			return end, damaged(err)
		}
		end += page.NumRows()
		parquet.Release(page)
	}
}

// readValues reads all values of a page.
func readValues(page parquet.Page, buffer []parquet.Value) error {
	values, left := page.Values(), page.NumValues()
	for {
		n, err := values.ReadValues(buffer)
		left -= int64(n)
		if errors.Is(err, io.EOF) {
			if left != 0 {
				return errLevels
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pageAfter is the first row of the page after the one with a row, as far as that is known.
func pageAfter(chunk parquet.ColumnChunk, row int64) (next int64, ok bool) {
	index, err := chunk.OffsetIndex()
	if err != nil || index == nil {
		return 0, false
	}
	for i := range index.NumPages() {
		if first := index.FirstRowIndex(i); first > row {
			return first, true
		}
	}
	return 0, false
}

// common gives the rows that are in both of two lists of stretches, which ascend.
func common(a, b []stretch) (both []stretch) {
	for len(a) > 0 && len(b) > 0 {
		from, end := max(a[0].from, b[0].from), min(a[0].end, b[0].end)
		if from < end {
			both = append(both, stretch{from: from, end: end})
		}
		if a[0].end < b[0].end {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// boundedPages are pages with a known number of rows: anything after them is damaged.
type boundedPages struct {
	parquet.Pages
	rows int64
}

// ReadPage gives the next page, or as much of it as has the rows.
func (b *boundedPages) ReadPage() (parquet.Page, error) {
	if b.rows == 0 {
		return nil, io.EOF
	}
	page, err := b.Pages.ReadPage()
	if err != nil {
		return nil, err
	}
	if page.NumRows() > b.rows {
		page = page.Slice(0, b.rows)
	}
	b.rows -= page.NumRows()
	return page, nil
}
