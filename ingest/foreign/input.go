package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"
	"sync/atomic"
	"time"
)

// Input is one file that is read.
type Input struct {
	Name     string // as the user knows it
	Path     string // in Folder, with slashes
	Given    string // its path in the file or folder that the user named; empty if it has none
	Folder   fs.FS  // folder for side files; nil for standard input
	Location *time.Location
	Head     *Head

	text    *bufio.Reader
	closers []io.Closer
	kept    func() io.Reader // reads content that can be read only once; nil until it is read ahead
	raw     *counted

	json       *JSON
	passedOver int // number of skipped lines of text around JSON
}

// counted counts the bytes that were read, until ctx ends.
type counted struct {
	ctx context.Context
	r   io.Reader
	n   atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Consumed returns the number of bytes of the file that were read, as stored on disk. It may be called during the reading.
func (in *Input) Consumed() int64 { return in.raw.n.Load() }

// Open opens a file of a folder. Reading ends with the context. location is the zone of times without one; nil means UTC,
// and marks the times.
func Open(ctx context.Context, folder fs.FS, name string, location *time.Location) (*Input, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	in, err := newInput(&counted{ctx: ctx, r: f}, name, location)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.Path, in.Folder, in.closers = name, folder, []io.Closer{f}
	return in, nil
}

// FromReader reads a stream that is not a file, such as standard input.
func FromReader(r io.Reader, name string, location *time.Location) (*Input, error) {
	return newInput(&counted{ctx: context.Background(), r: r}, name, location)
}

func newInput(raw *counted, name string, location *time.Location) (*Input, error) {
	text, err := plain(raw)
	if err != nil {
		return nil, err
	}
	start, err := text.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(start) == 0 {
		return nil, err
	}
	return &Input{
		Name: name, Location: location, text: text, raw: raw,
		Head: newHead(path.Base(name), start, errors.Is(err, io.EOF)),
	}, nil
}

// Close closes the file.
func (in *Input) Close() error {
	var all error
	for _, c := range in.closers {
		all = errors.Join(all, c.Close())
	}
	return all
}

// Text returns the content, decoded from gzip and UTF-16 and without byte order mark. An input can be read only once, in one
// way.
func (in *Input) Text() io.Reader { return in.text }

// JSON reads the content as JSON, from where the JSON begins.
func (in *Input) JSON() *JSON {
	var text io.Reader = in.text
	if _, err := in.text.Discard(max(in.Head.JSONAt, 0)); err != nil {
		text = failing{err}
	}
	j := newJSON(text)
	j.in, in.json = in, j
	return j
}

// further skips the JSON documents after the last one that was read, and gives their number.
func (in *Input) further() (n int) {
	if in.json == nil || in.json.decoder.StackDepth() > 0 || in.json.decoder.InputOffset() == 0 && !in.json.values {
		return 0
	}
	for in.json.More() {
		if in.json.Skip() != nil {
			break
		}
		n++
	}
	return n
}

// Lines returns the lines of the content, without line breaks, with their numbers from 1. Invalid UTF-8 is replaced. A line
// of more than 128 MiB, or of more than 8,388,608 values, is an error.
func (in *Input) Lines() iter.Seq2[int, Line] {
	return func(yield func(int, Line) bool) {
		for n := 1; ; n++ {
			line, err := in.line()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(n, Line{Err: fmt.Errorf("line %d: %w", n, err)})
				return
			}
			if err != nil && line == "" || !yield(n, Line{Text: line}) || err != nil {
				return
			}
		}
	}
}

// EachLine calls read with each of the Lines and its number, until the first error.
func (in *Input) EachLine(read func(n int, text string) error) error {
	for n, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if err := read(n, line.Text); err != nil {
			return err
		}
	}
	return nil
}

// line reads a line. io.EOF comes together with a last line without a line break.
func (in *Input) line() (string, error) {
	var long []byte // a line that does not fit into the buffer
	part, err := in.text.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long)+len(part) > maxRecord {
			return "", fmt.Errorf("it is longer than %d MiB", maxRecord>>20)
		}
		long = append(long, part...)
		part, err = in.text.ReadSlice('\n')
	}
	if long != nil {
		part = append(long, part...)
	}
	if len(part) > maxValues && bytes.Count(part, []byte(","))+bytes.Count(part, []byte(" ")) > maxValues {
		return "", errValues
	}
	part = bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
	return strings.ToValidUTF8(string(part), "�"), err
}

// Line is a line of text, or an error.
type Line struct {
	Text string
	Err  error
}

// CSV reads the content as comma-separated values. A record of more than 128 MiB, or of more than 8,388,608 values, is an error.
func (in *Input) CSV() *CSV {
	b := newBounded(in.text)
	r := csv.NewReader(b)
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	return &CSV{r, b}
}

// CSV reads records of comma-separated values.
type CSV struct {
	reader  *csv.Reader
	bounded *bounded
}

// Record returns the next record, and io.EOF after the last one. It is valid until the next call.
func (c *CSV) Record() ([]string, error) {
	c.bounded.renew()
	record, err := c.reader.Read()
	for i := range record {
		record[i] = strings.ToValidUTF8(record[i], "�")
	}
	return record, err
}

// Records returns the remaining records, up to the first error. Each is valid until the next one.
func (c *CSV) Records() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for {
			record, err := c.Record()
			if errors.Is(err, io.EOF) || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Comment sets the sign that begins lines to skip. There is none by default.
func (c *CSV) Comment(sign rune) { c.reader.Comment = sign }

// Line returns the number of the line at which the last record begins, from 1.
func (c *CSV) Line() int {
	line, _ := c.reader.FieldPos(0)
	return line
}

// Ahead returns the same content once more, to read something after the records that need it. This input can still be read.
// The caller has to close the new one. If the content can be read only once, up to 128 MiB are kept in memory, and more
// is an error, after which this input cannot be read, either.
func (in *Input) Ahead() (*Input, error) {
	if in.Head.Whole {
		return FromReader(bytes.NewReader(in.Head.Bytes), in.Name, in.Location)
	}
	if in.Folder != nil {
		again, err := Open(in.raw.ctx, in.Folder, in.Path, in.Location)
		if err != nil {
			return nil, fmt.Errorf("opening it again: %w", cause(err))
		}
		return again, nil
	}
	if in.kept == nil {
		content, err := io.ReadAll(io.LimitReader(in.text, maxRecord+1))
		if len(content) > maxRecord {
			return nil, fmt.Errorf("it must be read twice, but is a stream of more than %d MiB: save it as a file", maxRecord>>20)
		}
		in.kept = func() io.Reader { return io.MultiReader(bytes.NewReader(content), failing{cmp.Or(err, io.EOF)}) }
		in.text = bufio.NewReaderSize(in.kept(), headBytes)
	}
	return FromReader(in.kept(), in.Name, in.Location)
}

// failing follows content that could not be read to its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Beside reports whether a file exists, by its path from the folder of this one. The path may come from a file: files
// outside of Folder do not exist.
func (in *Input) Beside(name string) bool {
	full := path.Join(path.Dir(in.Path), name)
	if in.Folder == nil || name == "" || !fs.ValidPath(full) {
		return false
	}
	info, err := fs.Stat(in.Folder, full)
	return err == nil && info.Mode().IsRegular()
}

// sideBytes limits the size of a side file.
const sideBytes = 64 << 20

// Side reads a file that belongs to this one, by its path from this one's folder, which may go up: "../machine.json". It
// never leaves Folder. The path must be fixed in the reader; check one from a file with Below first. The error is
// fs.ErrNotExist if there is no such file.
func (in *Input) Side(name string) ([]byte, error) {
	full := path.Join(path.Dir(in.Path), name)
	if in.Folder == nil || !fs.ValidPath(full) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	f, err := in.Folder.Open(full)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := plain(f)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(text, sideBytes+1))
	if len(content) > sideBytes {
		return nil, fmt.Errorf("%s: more than %d MiB", name, sideBytes>>20)
	}
	if bytes.Count(content, []byte(",")) > maxValues {
		return nil, fmt.Errorf("%s: %w", name, errValues)
	}
	return content, err
}

// Below checks the path of a side file that comes from a file. A path outside of the file's folder is an error.
func Below(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !fs.ValidPath(clean) {
		return "", fmt.Errorf("%q is outside the folder", Brief(name))
	}
	return clean, nil
}

// Separator sets the separator between the values of a record, which is a comma by default.
func (c *CSV) Separator(separator rune) {
	c.reader.Comma, c.bounded.separator = separator, []byte(string(separator))
}
