package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// How many values of a leaf are read at once: few at first, since many files are open at a time that hold few; more
// where there are more to come. A row that has more makes room for them.
const (
	minValuesRead = 32
	maxValuesRead = 512
)

// cursor reads the values of one leaf, row by row, through all row groups of a file.
type cursor struct {
	chunks []parquet.ColumnChunk // those to come
	pages  parquet.Pages         // of the chunk being read; nil between chunks
	page   parquet.ValueReader   // being read; nil between pages
	values []parquet.Value       // read and not yet used up
	at     int                   // of the next one in values
}

// row gives the values of the next row, good until the next call; none at the end of the file. The bytes that they
// point to stay: pages are left to the garbage collector.
func (c *cursor) row() ([]parquet.Value, error) {
	if c.at == len(c.values) {
		if err := c.more(); err != nil {
			return nil, err
		}
		if c.at == len(c.values) {
			return nil, nil
		}
	}
	for end := c.at + 1; ; end++ {
		if end == len(c.values) {
			end -= c.at // more moves what is left to the beginning
			if err := c.more(); err != nil {
				return nil, err
			}
		}
		if end == len(c.values) || c.values[end].RepetitionLevel() == 0 {
			row := c.values[c.at:end]
			c.at = end
			return row, nil
		}
	}
}

// more reads some values after those that are left, which it moves to the beginning; none at the end of the file.
func (c *cursor) more() error {
	left := copy(c.values, c.values[c.at:])
	c.values, c.at = c.values[:left], 0
	if room := cap(c.values); room-left < room/2 || room < maxValuesRead {
		grown := make([]parquet.Value, left, max(2*room, minValuesRead))
		copy(grown, c.values)
		c.values = grown
	}
	for {
		if c.page == nil {
			if more, err := c.nextPage(); err != nil || !more {
				return err
			}
		}
		n, err := c.page.ReadValues(c.values[left:cap(c.values)])
		c.values = c.values[:left+n]
		if err != nil {
			c.page = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged(err)
		}
		if n > 0 {
			return nil
		}
	}
}

// nextPage goes to the next page, if there is one.
func (c *cursor) nextPage() (bool, error) {
	for {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return false, nil
			}
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		}
		page, err := c.pages.ReadPage()
		if err == nil {
			c.page = page.Values()
			return true, nil
		}
		if !errors.Is(err, io.EOF) {
			return false, damaged(err)
		}
		if err := c.close(); err != nil {
			return false, err
		}
	}
}

func (c *cursor) close() error {
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages, c.page = nil, nil
	return err
}

// damaged marks what a Parquet reader stumbles over, unless it is an error of the file system.
func damaged(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		if _, ok := errors.AsType[syscall.Errno](at); ok || errors.Is(at, errors.ErrUnsupported) {
			return err
		} // else it is an offset that no file has
	}
	return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
}
