package table

import (
	"cmp"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// Salvage reads the intact rows of a damaged file: rows that have no column in a damaged page.
type Salvage struct {
	table  *schema.Table
	file   *parquet.File
	fields []*field
	todo   []stretch
	rows   *Reader // of the current stretch; nil between stretches
	whole  bool
}

// OpenSalvage opens a damaged file of a table. It tries the footer of the file, and one that is made from the pages with the columns of
// this version, and takes the one with more rows. The error wraps schema.ErrDamaged if no row can be found, or comes from reading.
func OpenSalvage(file io.ReaderAt, size int64, t *schema.Table) (*Salvage, error) {
	var best *Salvage
	var rowsLeft int64 = -1
	var failed error
	for _, open := range []func(io.ReaderAt, int64, *schema.Table) (*Salvage, error){openRebuilt, openIndexed, openPlain} {
		s, err := open(file, size, t)
		if err != nil {
			if !errors.Is(err, schema.ErrDamaged) {
				return nil, err
			}
			failed = err // report the error of the file's own footer
			continue
		}
		if rows := s.left(); rows > rowsLeft {
			best, rowsLeft = s, rows
		}
		if s.whole {
			break
		}
	}
	if best == nil {
		return nil, failed
	}
	return best, nil
}

func openRebuilt(file io.ReaderAt, size int64, t *schema.Table) (s *Salvage, err error) {
	defer recovered(&err)
	rebuilt, complete, err := rebuild(file, size, t)
	if err != nil {
		return nil, err
	}
	s, err = newSalvage(rebuilt.file, rebuilt.size, t)
	if err == nil {
		s.whole = s.whole && complete
	}
	return s, err
}

func openIndexed(file io.ReaderAt, size int64, t *schema.Table) (s *Salvage, err error) {
	defer recovered(&err)
	return newSalvage(file, size, t)
}

func openPlain(file io.ReaderAt, size int64, t *schema.Table) (s *Salvage, err error) {
	defer recovered(&err)
	return newSalvage(file, size, t, parquet.SkipPageIndex(true))
}

// newSalvage opens a file and checks every page of it.
func newSalvage(file io.ReaderAt, size int64, t *schema.Table, options ...parquet.FileOption) (*Salvage, error) {
	opened, err := parquet.OpenFile(file, size, append(options, parquet.SkipMagicBytes(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))...)
	if err != nil {
		return nil, damaged(err)
	}
	if err := checkCodecs(opened); err != nil {
		return nil, err
	}
	b, fields, err := bind(opened.Root(), t.Columns)
	if err := cmp.Or(err, b.newer); err != nil {
		return nil, damaged(err)
	}
	if len(fields) == 0 || fields[0].Name != runIDColumn {
		return nil, damaged(errLevels)
	}
	s := &Salvage{table: t, file: opened, fields: fields, whole: true}
	for g, group := range opened.RowGroups() {
		good, err := goodRows(group)
		if err != nil {
			return nil, err
		}
		for _, r := range good {
			s.todo = append(s.todo, stretch{g, r.from, r.end})
		}
		s.whole = s.whole && len(good) == 1 && good[0] == stretch{from: 0, end: group.NumRows()}
	}
	return s, nil
}

// left returns the number of remaining rows.
func (s *Salvage) left() int64 {
	var n int64
	for _, r := range s.todo {
		n += r.end - r.from
	}
	return n
}

// Read returns the next intact row, and io.EOF after the last. Other errors come from the file system.
func (s *Salvage) Read() ([]any, error) {
	for {
		if s.rows == nil {
			if len(s.todo) == 0 {
				return nil, io.EOF
			}
			rows, err := s.begin(s.todo[0])
			s.todo = s.todo[1:]
			if errors.Is(err, schema.ErrDamaged) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s.rows = rows
		}
		row, err := s.rows.Read()
		if err == nil {
			return row, nil
		}
		_ = s.Close()
		if !errors.Is(err, io.EOF) && !errors.Is(err, schema.ErrDamaged) {
			return nil, err
		}
	}
}

// Close ends reading before the last row.
func (s *Salvage) Close() error {
	if s.rows == nil {
		return nil
	}
	err := s.rows.Close()
	s.rows = nil
	return err
}

// begin reads the rows of a stretch.
func (s *Salvage) begin(r stretch) (rows *Reader, err error) {
	defer recovered(&err)
	chunks := s.file.RowGroups()[r.group].ColumnChunks()
	rows = &Reader{table: s.table, fields: s.fields, rows: r.end - r.from, cursors: make([]cursor, len(chunks))}
	for i, chunk := range chunks {
		pages := chunk.Pages()
		rows.cursors[i].pages = &boundedPages{pages, r.end - r.from}
		if r.from == 0 {
			continue
		}
		if err := pages.SeekToRow(r.from); err != nil {
			return nil, errors.Join(damaged(err), rows.Close())
		}
	}
	rows.decoder.leaves = make([][]parquet.Value, len(chunks))
	return rows, nil
}

// stretch is a range of rows of a row group: from (included) to end.
type stretch struct {
	group     int
	from, end int64
}

// goodRows returns the rows of a row group whose pages are all intact.
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

// goodOfChunk returns the rows of a column chunk whose pages are intact. After a damaged page, reading continues where the offset index
// places the next one. Values are read into a shared buffer.
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

// readableFrom reads pages from a row on, which must be the first of a page, and returns the row at which it had to stop. The error
// wraps schema.ErrDamaged, unless readableFrom reached the end of the chunk or the file could not be read.
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

// pageAfter returns the first row of the page after the one with a row, as far as that is known.
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

// common returns the rows that are in both of two ascending lists of stretches.
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

// ReadPage returns the next page, or the part of it that is within the rows.
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
