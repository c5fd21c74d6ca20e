package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// Limits of the memory of a Writer.
const (
	groupRows   = 122_880  // rows of a row group: 60 vectors of DuckDB
	groupValues = 1 << 20  // values of a row group: 1,000 runs of 1,000 samples
	groupBytes  = 48 << 20 // encoded bytes of a row group, for large texts
	batchValues = 4096     // values that are passed to the columns at once
	fewValues   = 12_288   // values of a file without dictionaries: about 90 runs; of more, dictionaries are smaller
	bufferBytes = 256 << 10
	smallPage   = 64 << 10  // for runs and ops: a reader of many files has a page of every column of each in memory
	largePage   = 256 << 10 // for samples
	dictionary  = 1 << 20   // bytes of a dictionary; a column with a larger one has none
)

// Writer writes a sealed file or a pack.
type Writer struct {
	table   *schema.Table
	fields  []*field
	leaves  leaves // of the rows of the batch
	values  int    // number of values in the batch
	out     *hashedOutput
	options []parquet.WriterOption
	writer  *parquet.GenericWriter[any] // nil until the first batch is complete
	group   *parquet.ConcurrentRowGroupWriter
	rows    int   // in the row group
	weight  int   // values in the row group
	total   int64 // rows in the file
	err     error // the first error; nothing is written after it
}

// NewWriter begins the file of a table. version is the version of the program. A pack names the sealed files whose rows
// it has, ascending; a sealed file covers none. Nothing is written before the first row group is full.
func NewWriter(out io.Writer, t *schema.Table, version string, covers []schema.ULID) *Writer {
	fields := newFields(t.Columns)
	options := fileOptions(t, version, fields)
	if covers != nil {
		options = append(options, parquet.KeyValueMetadata(schema.PackCoversKey, schema.EncodeCovers(covers)))
	}
	leaves := newLeaves(fields)
	return &Writer{
		table: t, fields: fields, leaves: leaves, out: &hashedOutput{out: out, hash: sha256.New()}, options: options,
	}
}

// fileOptions returns the options of every file of a table, without its schema.
func fileOptions(t *schema.Table, version string, fields []*field) []parquet.WriterOption {
	options := append(metadata(version),
		parquet.WriteBufferSize(bufferBytes),
		parquet.DictionaryMaxBytes(dictionary),
		parquet.PageBufferSize(pageBytes(t)),
	)
	return append(options, boundless(fields)...)
}

// schemaOf returns the schema of a file, of few values or of more.
func schemaOf(t *schema.Table, fields []*field, few bool) *parquet.Schema {
	return parquet.NewSchema(t.Name, group(fields, profileOf(t, few)))
}

// begin begins the file, when it is known whether all its rows are in the first batch: then dictionaries would take more
// room than they save.
func (w *Writer) begin(few bool) {
	w.writer = parquet.NewGenericWriter[any](w.out, append(w.options, schemaOf(w.table, w.fields, few))...)
	w.group = w.writer.BeginRowGroup()
}

// pageBytes returns the size of a page before it is encoded.
func pageBytes(t *schema.Table) int {
	if t == schema.Samples {
		return largePage
	}
	return smallPage
}

// Write adds a row: the values of the table's columns, in order. Rows come in the order of the format. The values may be
// reused only after Close, or after as many rows as fit into a batch.
func (w *Writer) Write(row []any) error {
	if len(row) != len(w.table.Columns) {
		return fmt.Errorf("writing a row of %s: it has %d values, want %d", w.table.Name, len(row), len(w.table.Columns))
	}
	return w.write(w.fields, slices.Values(row))
}

// WriteRun adds the row of a run to a file of runs.
func (w *Writer) WriteRun(r *schema.Run, digest string) error {
	return w.write(w.fields, schema.RunValues(r, digest))
}

// WriteMetric adds the row of a metric of a run to a file of samples.
func (w *Writer) WriteMetric(runID string, m *schema.Metric) error {
	put(&w.leaves, w.fields[0], &runID, level{})
	return w.write(w.fields[1:], schema.MetricValues(m))
}

// WriteOp adds the row of an op of a run to a file of ops.
func (w *Writer) WriteOp(runID string, o *schema.Op) error {
	put(&w.leaves, w.fields[0], &runID, level{})
	return w.write(w.fields[1:], schema.OpValues(o))
}

// write adds the values of fields, which are the last ones of a row.
func (w *Writer) write(fields []*field, values iter.Seq[any]) error {
	i := 0
	for value := range values {
		put(&w.leaves, fields[i], value, level{})
		i++
	}
	return w.added()
}

// added counts a row that was added to the batch.
func (w *Writer) added() error {
	w.rows++
	w.total++
	values := w.leaves.count()
	w.weight += values - w.values - len(w.leaves) // one value per leaf is the row itself
	w.values = values
	if w.values < w.batch() && !w.full() {
		return w.err
	}
	w.flush()
	if w.full() || w.group.Size() >= groupBytes {
		w.commit()
	}
	return w.err
}

// batch returns the number of values that are passed to the columns at once. The first values are buffered until the file has more than
// a few.
func (w *Writer) batch() int {
	if w.writer == nil {
		return fewValues
	}
	return batchValues
}

// full reports whether the row group is full: by its rows, or for samples by its values, because a run may have very many.
func (w *Writer) full() bool {
	return w.rows >= groupRows || w.table == schema.Samples && w.weight >= groupValues
}

// flush passes the batch to the columns.
func (w *Writer) flush() {
	if w.writer == nil {
		w.begin(false)
	}
	for i, column := range w.group.ColumnWriters() {
		if w.err == nil && len(w.leaves[i]) > 0 {
			_, w.err = column.WriteRowValues(w.leaves[i])
		}
	}
	w.leaves.reset()
	w.values = 0
}

// endGroup ends the row group before it is full. Following rows are in another one.
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

// Rows returns the number of rows so far.
func (w *Writer) Rows() int64 { return w.total }

// Close writes the rest and the footer, and puts the hash of the file into its place. The caller has to fsync and close
// the file. Without Close the file is incomplete.
func (w *Writer) Close() error {
	if w.writer == nil {
		w.begin(true)
	}
	err := w.endGroup()
	if err == nil {
		err = w.end()
	}
	if err != nil {
		return fmt.Errorf("writing %s as parquet: %w", w.table.Name, err)
	}
	w.err = errors.New("the file is closed")
	return nil
}

// end writes the part of the file after its pages.
func (w *Writer) end() error {
	var tail bytes.Buffer
	w.out.kept = &tail
	err := w.writer.Close()
	w.out.kept = nil
	if err != nil {
		return err
	}
	lean, err := leanTail(*w.writer.File().Metadata(), tail.Bytes(), w.out.offset)
	if err != nil {
		return err
	}
	return w.out.seal(lean)
}

// hashedOutput hashes the written bytes.
type hashedOutput struct {
	out    io.Writer
	hash   hash.Hash
	offset int64
	kept   *bytes.Buffer // if not nil, it buffers all writes, and the file gets none of them
}

// Write writes and hashes.
func (h *hashedOutput) Write(b []byte) (int, error) {
	if h.kept != nil {
		return h.kept.Write(b)
	}
	n, err := h.out.Write(b)
	_, _ = h.hash.Write(b[:n]) // never fails
	h.offset += int64(n)
	return n, err
}

// seal writes the end of the file, with the hash of the whole file in its place in the footer.
func (h *hashedOutput) seal(tail []byte) error {
	at, err := schema.FileHashPlace(tail)
	if err != nil {
		return err
	}
	_, _ = h.hash.Write(tail)
	copy(tail[at:], hex.EncodeToString(h.hash.Sum(nil)))
	_, err = h.out.Write(tail)
	return err
}
