package foreign

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// headBytes is how much of a file formats can use to recognise it.
const headBytes = 256 << 10

// maxRecord limits the part of a file that is in memory at once, in bytes: a line, or a JSON value that a reader requests. maxValues limits its
// values, of which each takes up to about 100 bytes until it is stored, and with that the time for which reading does not look at its context.
const (
	maxRecord = 128 << 20
	maxValues = 8 << 20
)

// recordError means that a record is larger than one may be.
type recordError string

func (e recordError) Error() string { return "a record of more than " + string(e) }

// errBytes and errValues mean that a record has more than maxRecord or maxValues.
var (
	errBytes  = recordError(fmt.Sprintf("%d MiB", maxRecord>>20))
	errValues = recordError(fmt.Sprintf("%d values", maxValues))
)

var (
	gzipMagic = []byte{0x1f, 0x8b, 0x08} // deflate, the only method
	utf8BOM   = []byte{0xef, 0xbb, 0xbf}
	utf16LE   = []byte{0xff, 0xfe}
	utf16BE   = []byte{0xfe, 0xff}
)

// plain is the content of a file, decoded from gzip, UTF-16 and CI logs, without byte order mark.
func plain(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, headBytes)
	start, _ := b.Peek(len(utf8BOM)) // fewer bytes in a short file, which is none of these
	if bytes.HasPrefix(start, gzipMagic) {
		unzipped, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("reading gzip: %w", err)
		}
		b = bufio.NewReaderSize(unzipped, headBytes)
		start, _ = b.Peek(len(utf8BOM))
	}
	switch {
	case bytes.HasPrefix(start, utf8BOM):
		if _, err := b.Discard(len(utf8BOM)); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(start, utf16LE), bytes.HasPrefix(start, utf16BE):
		decoder := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()
		b = bufio.NewReaderSize(decoder.Reader(b), headBytes)
	}
	return withoutCI(b), nil
}

// bounded reads at most maxRecord bytes and maxValues separators between two records, so that a file cannot use more memory than that.
type bounded struct {
	r         io.Reader
	separator []byte // of values
	left      int    // bytes
	values    int    // that are left
}

func newBounded(r io.Reader) *bounded {
	b := &bounded{r: r, separator: []byte(",")}
	b.renew()
	return b
}

// renew marks the end of a record.
func (b *bounded) renew() { b.left, b.values = maxRecord, maxValues }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBytes
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if b.values -= bytes.Count(p[:n], b.separator); b.values < 0 {
		return 0, errValues
	}
	return n, err
}
