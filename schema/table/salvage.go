package table

import (
	"cmp"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// Salvage reads the intact rows of a damaged file: those without a column in a damaged page.
type Salvage struct {
	table  *schema.Table
	file   *parquet.File
	fields []*field
	todo   []stretch
	rows   *Reader // of the current stretch; nil between stretches
	whole  bool
}

// OpenSalvage opens a damaged file of a table. It tries the footer of the file, and one that is made from the pages with
// the columns of this version, and takes the one with more rows. The error wraps schema.ErrDamaged if no row can be
// found, or is one of reading.
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
			failed = err // report what is wrong with the file's own footer
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

// left is the number of remaining rows.
func (s *Salvage) left() int64 {
	var n int64
	for _, r := range s.todo {
		n += r.end - r.from
	}
	return n
}

// Read gives the next intact row, and io.EOF after the last. Other errors are those of the file system.
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
