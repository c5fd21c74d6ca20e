package table

import (
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
	errorColumn  = "error"  // of runs
)

// maxLayouts limits the number of cached layouts. A sweep needs two or three: one for runs that are ok, and others for those
// that are not.
const maxLayouts = 8

// Encoder encodes live files.
type Encoder struct {
	version string // of this program
	layouts map[string]*liveLayout
	pages   livePages
	writer  liveWriter
}

// NewEncoder creates an encoder. version is the version of the program, which every file names.
func NewEncoder(version string) *Encoder {
	return &Encoder{version: version, layouts: map[string]*liveLayout{}}
}

// Encode returns the live file of a run with its digest. The bytes are valid until the next call.
func (e *Encoder) Encode(r *schema.Run, digest string) ([]byte, error) {
	content, err := e.row(liveRow(r, digest))
	if err != nil {
		return nil, fmt.Errorf("encoding as parquet: %w", err)
	}
	return content, nil
}

// row encodes a row of the columns of live files.
func (e *Encoder) row(row []any) ([]byte, error) {
	layout, err := e.layout(shapeOf(row))
	if err != nil {
		return nil, err
	}
	pages := e.empty(layout)
	for _, f := range layout.fields {
		put(&pages, f, row[f.place], level{})
	}
	content, err := e.writer.write(layout, pages, e.version)
	if err == nil {
		err = schema.PutFileHash(content)
	}
	return content, err
}

// layout returns the layout of a shape.
func (e *Encoder) layout(s shape) (*liveLayout, error) {
	if layout, known := e.layouts[s.key()]; known {
		return layout, nil
	}
	layout, err := newLiveLayout(s)
	if err != nil {
		return nil, err
	}
	if len(e.layouts) >= maxLayouts {
		clear(e.layouts)
	}
	e.layouts[s.key()] = layout
	return layout, nil
}

// empty returns the empty pages of a layout, with the memory of earlier ones.
func (e *Encoder) empty(l *liveLayout) livePages {
	if missing := len(l.leaves) - len(e.pages); missing > 0 {
		e.pages = append(e.pages, make(livePages, missing)...)
	}
	pages := e.pages[:len(l.leaves)]
	for i := range pages {
		pages[i].begin(&l.leaves[i])
	}
	return pages
}

// metadata returns the options of every written file.
func metadata(version string) []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.DataPageVersion(2),
		parquet.DataPageStatistics(false), // the statistics of the column chunk are enough
		parquet.KeyValueMetadata(formatKey, strconv.Itoa(schema.Format)),
		parquet.KeyValueMetadata(writerKey, version),
		parquet.KeyValueMetadata(schema.FileHashKey, schema.EmptyFileHash),
	}
}
