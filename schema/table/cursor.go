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

// The number of values of a leaf that are read at once: few at first, because many files with few values may be open at
// the same time, and more later. A row with more values gets a larger buffer.
const (
	minValuesRead = 32
	maxValuesRead = 512
)

// cursor reads the values of one leaf, row by row, through all row groups of a file.
type cursor struct {
	chunks []parquet.ColumnChunk // the remaining ones
	pages  parquet.Pages         // of the current chunk; nil between chunks
	page   parquet.Page          // the current page; nil between pages
	unread parquet.ValueReader   // the unread rest of the page
	values []parquet.Value       // the buffer
	at     int                   // index of the next value in values
}

// row returns the values of the next row, valid until the next call, and none at the end of the file. The bytes that they point to stay
// valid, because they are left to the garbage collector.
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
			end -= c.at // more moves the remaining values to the beginning
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

// more moves the remaining values to the beginning of the buffer and reads some after them; it reads none at the end of
// the file.
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
		n, err := c.unread.ReadValues(c.values[left:cap(c.values)])
		c.values = c.values[:left+n]
		if err != nil {
			c.endPage()
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
			c.page, c.unread = page, page.Values()
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

// endPage lets the next page reuse the memory of the current one. Text values are detached first, because a row may still refer to them.
func (c *cursor) endPage() {
	if page, ok := c.page.(interface{ ReleaseAndDetachValues() }); ok {
		page.ReleaseAndDetachValues()
	}
	c.page, c.unread = nil, nil
}

func (c *cursor) close() error {
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages, c.page, c.unread = nil, nil, nil
	return err
}

// damaged marks an error of the Parquet reader as damage, unless it is an error of the file system.
func damaged(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		if _, ok := errors.AsType[syscall.Errno](at); ok || errors.Is(at, errors.ErrUnsupported) {
			return err
		} // otherwise it is an impossible offset
	}
	return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
}
