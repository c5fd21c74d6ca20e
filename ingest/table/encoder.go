package table

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// Keys of the metadata in the footer of every file, besides schema.FileHashKey.
const (
	formatKey = "neurolens.format" // schema.Format
	writerKey = "neurolens.writer" // version of the program that wrote the file
)

// Columns that this package knows by name.
const (
	runIDColumn  = "run_id" // of every table
	digestColumn = "digest" // of runs
)

// maxWriters limits the number of cached writers. A sweep needs two or three: one for runs that are ok, and others for
// those that are not.
const maxWriters = 8

// Encoder encodes live files. It keeps a parquet.Writer for each shape, because creating one costs more than using it.
type Encoder struct {
	version string // of this program
	writers map[string]*liveWriter
	out     bytes.Buffer
}

// NewEncoder creates an encoder. version is the version of the program, which every file names.
func NewEncoder(version string) *Encoder {
	return &Encoder{version: version, writers: map[string]*liveWriter{}}
}

type liveWriter struct {
	fields []*field
	leaves leaves
	writer *parquet.GenericWriter[any]
}

// Encode gives the live file of a run with its digest. The bytes are valid until the next call.
func (e *Encoder) Encode(r *schema.Run, digest string) ([]byte, error) {
	row := liveRow(r, digest)
	shape := shapeOf(row)
	w, known := e.writers[shape.key()]
	if !known {
		if len(e.writers) >= maxWriters {
			clear(e.writers)
		}
		w = newLiveWriter(shape, e.version)
		e.writers[shape.key()] = w
	}
	e.out.Reset()
	if err := w.write(row, &e.out); err != nil {
		delete(e.writers, shape.key()) // its state is unknown now
		return nil, fmt.Errorf("encoding as parquet: %w", err)
	}
	if err := schema.PutFileHash(e.out.Bytes()); err != nil {
		return nil, fmt.Errorf("encoding as parquet: %w", err)
	}
	return e.out.Bytes(), nil
}

func newLiveWriter(s shape, version string) *liveWriter {
	fields := s.fields()
	return &liveWriter{fields, newLeaves(fields), parquet.NewGenericWriter[any](nil, append(
		metadata(version),
		parquet.NewSchema("run", group(fields, liveProfile)),
		parquet.WriteBufferSize(0), // it is written to memory
	)...)}
}

// metadata are the options of every written file.
func metadata(version string) []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.DataPageVersion(2),
		parquet.DataPageStatistics(false), // those of the column chunk are enough
		parquet.KeyValueMetadata(formatKey, strconv.Itoa(schema.Format)),
		parquet.KeyValueMetadata(writerKey, version),
		parquet.KeyValueMetadata(schema.FileHashKey, schema.EmptyFileHash),
	}
}

func (w *liveWriter) write(row []any, out *bytes.Buffer) error {
	w.leaves.reset()
	for _, f := range w.fields {
		w.leaves.put(f, row[f.place], level{})
	}
	w.reset(out)
	for i, column := range w.writer.ColumnWriters() {
		if _, err := column.WriteRowValues(w.leaves[i]); err != nil {
			return err
		}
	}
	return w.writer.Close()
}

// reset prepares the writer for the next file. The row groups of the last file share the paths of the columns with the
// writer, and its Reset clears them (parquet-go v0.32.0, issue 602): every file except the first would have columns
// without a name, which DuckDB reads and Spark does not. So the paths are removed from the row groups first.
func (w *liveWriter) reset(out *bytes.Buffer) {
	for _, group := range w.writer.File().Metadata().RowGroups {
		for i := range group.Columns {
			group.Columns[i].MetaData.PathInSchema = nil
		}
	}
	w.writer.Reset(out)
}
