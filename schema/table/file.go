package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/schema"
)

// File is a file of a store, open for reading.
type File struct {
	table  *schema.Table
	file   *parquet.File
	fields []*field
	leaves int   // of all columns
	newer  error // names a column that this version does not know
}

// Open opens the file of a table. It reads only the footer and checks no hash; schema.CheckFileHashAt does that. The caller has to close
// the underlying file. The error wraps schema.ErrDamaged, or ErrNewer if the file has another format, or comes from reading.
func Open(file io.ReaderAt, size int64, t *schema.Table) (f *File, err error) {
	defer recovered(&err)
	f, err = open(file, size, t)
	if err != nil {
		return nil, err
	}
	if name := f.file.Schema().Name(); name != t.Name {
		return nil, fmt.Errorf("%w: it contains %s, not %s", schema.ErrDamaged, name, t.Name)
	}
	return f, nil
}

// OpenLive is Open for the run of a live file. Rows also have its samples and ops. The digest is not checked.
func OpenLive(file io.ReaderAt, size int64) (f *File, err error) {
	defer recovered(&err)
	return open(file, size, liveTable())
}

// liveTable describes live files.
var liveTable = sync.OnceValue(func() *schema.Table { return &schema.Table{Name: liveRoot, Columns: schema.LiveColumns()} })

// open opens a file with the columns of a table.
func open(file io.ReaderAt, size int64, t *schema.Table) (*File, error) {
	opened, err := parquet.OpenFile(file, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return nil, damaged(err)
	}
	if version, _ := opened.Lookup(formatKey); version != strconv.Itoa(schema.Format) {
		return nil, fmt.Errorf("%w: it has format %q, and this version reads format %d", ErrNewer, version, schema.Format)
	}
	if err := cmp.Or(checkCodecs(opened), checkSizes(opened, t)); err != nil {
		return nil, err
	}
	b, fields, err := bind(opened.Root(), t.Columns)
	if err == nil && (len(fields) == 0 || fields[0].Name != runIDColumn) {
		err = fmt.Errorf("%w: its first column is not %s", schema.ErrDamaged, runIDColumn)
	}
	return &File{t, opened, fields, b.leaf, b.newer}, err
}

// checkCodecs checks that columns are uncompressed or compressed by the codec of the format. For damaged data of some other codecs, the
// Parquet library takes memory without end.
func checkCodecs(file *parquet.File) error {
	for _, group := range file.Metadata().RowGroups {
		for _, chunk := range group.Columns {
			if codec := chunk.MetaData.Codec; codec != format.Uncompressed && codec != format.Zstd {
				return fmt.Errorf("%w: a column is compressed with %v", schema.ErrDamaged, codec)
			}
		}
	}
	return nil
}

// checkSizes checks the memory that the row groups of a file of runs take.
func checkSizes(file *parquet.File, t *schema.Table) error {
	for _, group := range file.Metadata().RowGroups {
		var err error
		switch t.Name {
		case liveRoot:
			err = schema.CheckLiveGroup(group.TotalByteSize, file.Size())
		case schema.Runs.Name:
			err = schema.CheckRunsGroup(group.TotalByteSize, group.NumRows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readBuffer is the size of the buffer of each column, which is filled once per page.
const readBuffer = 1024

// recovered turns a panic into an error. The Parquet reader trusts the content of a file, so a damaged one can make it
// panic.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w: reading it fails with %v", schema.ErrDamaged, cause)
	}
}

// Newer returns an error that wraps ErrNewer if the file has columns that this version does not know. The known columns
// can be read anyway, but rewriting the rows would lose the others.
func (f *File) Newer() error { return f.newer }

// Columns returns the number of values of a row.
func (f *File) Columns() int { return len(f.table.Columns) }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.file.NumRows() }

// Lookup returns the value of a key in the metadata of the file.
func (f *File) Lookup(key string) (string, bool) { return f.file.Lookup(key) }

// Reader reads the rows of a File from the first to the last.
type Reader struct {
	table   *schema.Table
	fields  []*field // wanted
	cursors []cursor // by leaf of the file; without chunks if the leaf is not wanted
	decoder decoder
	rows    int64 // remaining
}

// Reader reads the columns of these names, or all if no names are given. Several readers can be used at the same time.
func (f *File) Reader(columns ...string) *Reader {
	r := &Reader{table: f.table, rows: f.file.NumRows(), cursors: make([]cursor, f.leaves)}
	for _, field := range f.fields {
		if len(columns) > 0 && !slices.Contains(columns, field.Name) {
			continue
		}
		r.fields = append(r.fields, field)
		for leaf := field.leaf; leaf < field.leaf+field.leaves; leaf++ {
			for _, group := range f.file.RowGroups() {
				r.cursors[leaf].chunks = append(r.cursors[leaf].chunks, group.ColumnChunks()[leaf])
			}
		}
	}
	r.decoder.leaves = make([][]parquet.Value, len(r.cursors))
	return r
}

// Read returns the next row: a value for each column of the table, and nil for columns that are NULL, that the file lacks, or that were
// not requested. It returns io.EOF after the last row; other errors wrap schema.ErrDamaged.
func (r *Reader) Read() (row []any, err error) {
	row = make([]any, len(r.table.Columns))
	if err := r.ReadInto(row); err != nil {
		return nil, err
	}
	return row, nil
}

// ReadInto reads the next row, as Read does, into a row that an earlier call may have set. It leaves values unchanged that the file
// lacks or that were not requested.
func (r *Reader) ReadInto(row []any) (err error) {
	defer recovered(&err)
	if err := r.next(); err != nil {
		return err
	}
	return r.decoder.into(row, r.fields)
}

// Skip skips the next row. It returns the errors of Read.
func (r *Reader) Skip() (err error) {
	defer recovered(&err)
	return r.next()
}

// next reads the values of the next row, leaf by leaf.
func (r *Reader) next() error {
	if r.rows == 0 {
		return io.EOF
	}
	r.rows--
	for _, f := range r.fields {
		for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
			values, err := r.cursors[leaf].row()
			if err != nil {
				return err
			}
			if len(values) == 0 {
				return fmt.Errorf("%w: column %q ends %d rows too early", schema.ErrDamaged, f.Name, r.rows+1)
			}
			r.decoder.leaves[leaf] = values
		}
	}
	return nil
}

// Close ends reading before the last row.
func (r *Reader) Close() error {
	var first error
	for i := range r.cursors {
		if err := r.cursors[i].close(); first == nil {
			first = err
		}
	}
	return first
}
