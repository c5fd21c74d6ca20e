package table

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// Bounds of what a Writer holds in memory.
const (
	groupRows   = 122_880  // of a row group: 60 vectors of DuckDB
	groupValues = 1 << 20  // of a row group: 1,000 runs of 1,000 samples
	groupBytes  = 48 << 20 // of a row group as it is encoded, where texts are large
	batchValues = 4096     // handed to the columns at once
	bufferBytes = 256 << 10
	smallPage   = 64 << 10  // of runs and ops: a reader of many files at a time holds a page of every column of each
	largePage   = 256 << 10 // of samples
	dictionary  = 1 << 20   // bytes of a dictionary, from which on a column goes without
)

// Output is what a sealed file is written to, from its beginning.
type Output interface {
	io.Writer
	io.WriterAt
}

// Writer writes a sealed file or a pack.
type Writer struct {
	table  *schema.Table
	fields []*field
	leaves leaves // of the rows of the batch
	values int    // in the batch
	out    *hashedOutput
	writer *parquet.GenericWriter[any]
	group  *parquet.ConcurrentRowGroupWriter
	rows   int   // in the row group
	weight int   // values in the row group
	total  int64 // rows in the file
	err    error // after which nothing is written any more
}

// NewWriter begins the file of a table; version is the one of the program. A pack names the sealed files whose rows it
// holds, ascending; a sealed file covers none. Nothing is written before the first row group is full.
func NewWriter(out Output, t *schema.Table, version string, covers []schema.ULID) *Writer {
	fields := newFields(t.Columns)
	hashed := &hashedOutput{out: out, hash: sha256.New()}
	encoding := sealedProfile
	if t == schema.Runs {
		encoding = runsProfile
	}
	options := append(metadata(version),
		parquet.NewSchema(t.Name, group(fields, encoding)),
		parquet.WriteBufferSize(bufferBytes),
		parquet.DictionaryMaxBytes(dictionary),
		parquet.PageBufferSize(pageBytes(t)),
	)
	if covers != nil {
		options = append(options, parquet.KeyValueMetadata(schema.PackCoversKey, schema.EncodeCovers(covers)))
	}
	w := parquet.NewGenericWriter[any](hashed, options...)
	return &Writer{table: t, fields: fields, leaves: newLeaves(fields), out: hashed, writer: w, group: w.BeginRowGroup()}
}

// pageBytes is the size of a page before it is encoded.
func pageBytes(t *schema.Table) int {
	if t == schema.Samples {
		return largePage
	}
	return smallPage
}

// Write adds a row: the values of the table's columns in order. Rows come in the order of the format. What it is given
// may be used again only after Close, or after as many rows as fit a batch.
func (w *Writer) Write(row []any) error {
	if len(row) != len(w.table.Columns) {
		return fmt.Errorf("writing a row of %s: it has %d values, want %d", w.table.Name, len(row), len(w.table.Columns))
	}
	for _, f := range w.fields {
		w.leaves.put(f, row[f.place], level{})
	}
	return w.added()
}

// added takes note of a row that was added to the batch.
func (w *Writer) added() error {
	w.rows++
	w.total++
	values := w.leaves.count()
	w.weight += values - w.values - len(w.leaves) // one a leaf is the row itself
	w.values = values
	if w.values < batchValues && !w.full() {
		return w.err
	}
	w.flush()
	if w.full() || w.group.Size() >= groupBytes {
		w.commit()
	}
	return w.err
}

// full tells whether the row group has its rows; of samples, its values: else it would be as large as they are.
func (w *Writer) full() bool {
	return w.rows >= groupRows || w.table == schema.Samples && w.weight >= groupValues
}

// flush hands the batch to the columns.
func (w *Writer) flush() {
	for i, column := range w.group.ColumnWriters() {
		if w.err == nil && len(w.leaves[i]) > 0 {
			_, w.err = column.WriteRowValues(w.leaves[i])
		}
	}
	w.leaves.reset()
	w.values = 0
}

// endGroup ends the row group before it is full: what is written next is in another one.
func (w *Writer) endGroup() error {
	w.flush()
	w.commit()
	return w.err
}

// commit ends the row group.
func (w *Writer) commit() {
	if w.err == nil {
		_, w.err = w.group.Commit()
	}
	w.rows, w.weight = 0, 0
}

// Rows is the number of rows so far.
func (w *Writer) Rows() int64 { return w.total }

// Close writes what is left and the footer, and puts the hash of the file into its place. The file is to be fsynced
// and closed by the caller. Without Close the file is not whole.
func (w *Writer) Close() error {
	err := w.endGroup()
	w.out.tail = new(bytes.Buffer)
	if err := cmp.Or(err, w.writer.Close()); err != nil {
		return fmt.Errorf("writing %s as parquet: %w", w.table.Name, err)
	}
	if err := w.out.seal(); err != nil {
		return fmt.Errorf("writing %s as parquet: %w", w.table.Name, err)
	}
	w.err = errors.New("the file is closed")
	return nil
}

// hashedOutput hashes what is written, and keeps the end of it once that is wanted.
type hashedOutput struct {
	out    Output
	hash   hash.Hash
	offset int64
	tail   *bytes.Buffer // nil: not wanted
}

// Write writes and hashes.
func (h *hashedOutput) Write(b []byte) (int, error) {
	n, err := h.out.Write(b)
	_, _ = h.hash.Write(b[:n]) // never fails
	h.offset += int64(n)
	if h.tail != nil {
		_, _ = h.tail.Write(b[:n])
	}
	return n, err
}

// seal writes the hash of the whole into its place in the footer, which is in the tail.
func (h *hashedOutput) seal() error {
	at, err := schema.FileHashPlace(h.tail.Bytes())
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(h.hash.Sum(nil))
	_, err = h.out.WriteAt([]byte(sum), h.offset-int64(h.tail.Len())+int64(at))
	return err
}
