package onnx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// wire reads protobuf messages from the front to the end.
type wire struct {
	from *bufio.Reader
	at   int64 // B that have been read
}

// longestName is the most bytes that a name may have.
const longestName = 64 << 10

// text reads a name.
func (d *wire) text(size int64) (string, error) {
	if size > longestName {
		return "", fmt.Errorf("a name of %d bytes", size)
	}
	b := make([]byte, size)
	n, err := io.ReadFull(d.from, b)
	d.at += int64(n)
	return string(b), err
}

// message visits the fields of a message of so many bytes: with their value, or with their size, which the visitor may read. Numbers of fixed
// size are visited like texts of as many bytes.
// What it does not read is skipped. That of the largest size ends with the file.
func (d *wire) message(size int64, visit func(number, value uint64, size int64) error) error {
	end := int64(math.MaxInt64)
	if size < end-d.at {
		end = d.at + size
	}
	for d.at < end {
		if _, err := d.from.Peek(1); errors.Is(err, io.EOF) && size == math.MaxInt64 {
			return nil
		}
		if err := d.field(end, visit); err != nil {
			return err
		}
	}
	return nil
}

// field visits one field, which has to end before end.
func (d *wire) field(end int64, visit func(number, value uint64, size int64) error) error {
	tag, err := d.varint()
	if err != nil {
		return err
	}
	var value uint64
	var size int64
	switch tag & 7 {
	case varint:
		if value, err = d.varint(); err != nil {
			return err
		}
	case delimited:
		length, err := d.varint()
		if err != nil {
			return err
		}
		if length > uint64(end-d.at) {
			return fmt.Errorf("a field of %d bytes is longer than its message", length)
		}
		size = int64(length)
	case fixed64:
		size = 8
	case fixed32:
		size = 4
	default:
		return fmt.Errorf("wire type %d", tag&7)
	}
	began := d.at
	if err := visit(tag>>3, value, size); err != nil {
		return err
	}
	return d.skip(began + size - d.at)
}

// Wire types of numbers of fixed size.
const (
	fixed64 = 1
	fixed32 = 5
)

func (d *wire) varint() (uint64, error) {
	counted := byteCounter{d}
	v, err := binary.ReadUvarint(counted)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

type byteCounter struct{ *wire }

// ReadByte reads one byte.
func (c byteCounter) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

func (d *wire) skip(n int64) error {
	if n < 0 {
		return errors.New("a field ends within another")
	}
	for n > 0 {
		step, err := d.from.Discard(int(min(n, 1<<30)))
		d.at, n = d.at+int64(step), n-int64(step)
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}
