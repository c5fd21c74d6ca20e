package onnx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Description is what the file of a model says of itself.
type Description struct {
	// Precision is the type that most of its weights have, else that of its first input, in the canonical words of schema;
	// empty where neither has a type with such a word.
	Precision string
	External  bool // some weights are in other files
}

// precisions are the words for element types. A scale or an index is of none.
var precisions = map[uint64]string{
	1: "fp32", 2: "int8", 3: "int8", 10: "fp16", 11: "fp64", 16: "bf16",
	17: "fp8", 18: "fp8", 19: "fp8", 20: "fp8", 21: "int4", 22: "int4",
}

// Describe finds out the precision of an ONNX file. Of the weights it reads only the headers. The rule for the precision is the same as
// in model_facts of package python, which reads the file again in the worker. Other files are an error.
func Describe(r io.Reader) (Description, error) {
	d := describer{from: bufio.NewReaderSize(r, 64<<10), weights: map[string]uint64{}, constants: map[string]bool{}}
	err := d.message(math.MaxInt64, func(number, _ uint64, size int64) error {
		if number == 7 { // graph
			d.graph = true
			return d.message(size, d.graphField)
		}
		return nil
	})
	if err != nil {
		return Description{}, fmt.Errorf("reading an ONNX file: %w", err)
	}
	if !d.graph {
		return Description{}, errors.New("reading an ONNX file: it has no graph")
	}
	return Description{Precision: d.precision(), External: d.external}, nil
}

// describer reads protobuf messages from the front to the end.
type describer struct {
	from *bufio.Reader
	at   int64 // B that have been read

	graph    bool
	external bool
	order    []string // precisions of weights, as they came
	weights  map[string]uint64
	// constants are the tensors of the graph: old files list them among the inputs, too.
	constants map[string]bool
	inputs    []input
}

type input struct {
	name      string
	precision string // empty: no precision has this type
}

// precision is the answer of Describe.
func (d *describer) precision() string {
	commonest := ""
	for _, p := range d.order {
		if commonest == "" || d.weights[p] > d.weights[commonest] {
			commonest = p
		}
	}
	if commonest != "" {
		return commonest
	}
	for _, in := range d.inputs {
		if in.precision != "" && !d.constants[in.name] {
			return in.precision
		}
	}
	return ""
}

// graphField takes in a field of GraphProto.
func (d *describer) graphField(number, _ uint64, size int64) error {
	switch number {
	case 5: // initializer
		return d.tensor(size)
	case 11: // input
		in, err := d.input(size)
		d.inputs = append(d.inputs, in)
		return err
	}
	return nil
}

// tensor counts the numbers of a TensorProto, unless it is a mere scalar.
func (d *describer) tensor(size int64) error {
	count, kind, name := uint64(1), uint64(0), ""
	err := d.message(size, func(number, value uint64, size int64) (err error) {
		switch {
		case number == 1 && size == 0: // a dimension
			count *= value
		case number == 1: // dimensions, packed
			for end := d.at + size; d.at < end && err == nil; {
				var dim uint64
				dim, err = d.varint()
				count *= dim
			}
		case number == 2:
			kind = value
		case number == 8:
			name, err = d.text(size)
		case number == 14 && value == 1: // data_location
			d.external = true
		}
		return err
	})
	d.constants[name] = true
	if precision := precisions[kind]; precision != "" && count > 1 {
		if _, known := d.weights[precision]; !known {
			d.order = append(d.order, precision)
		}
		d.weights[precision] += count
	}
	return err
}

// input reads name and element type of a ValueInfoProto.
func (d *describer) input(size int64) (in input, err error) {
	err = d.message(size, func(number, _ uint64, size int64) (err error) {
		switch number {
		case 1:
			in.name, err = d.text(size)
		case 2: // TypeProto
			err = d.message(size, func(number, _ uint64, size int64) error {
				if number != 1 { // tensor_type
					return nil
				}
				return d.message(size, func(number, value uint64, _ int64) error {
					if number == 1 {
						in.precision = precisions[value]
					}
					return nil
				})
			})
		}
		return err
	})
	return in, err
}

// longestName is the most bytes that a name may have.
const longestName = 64 << 10

// text reads a name.
func (d *describer) text(size int64) (string, error) {
	if size > longestName {
		return "", fmt.Errorf("a name of %d bytes", size)
	}
	b := make([]byte, size)
	n, err := io.ReadFull(d.from, b)
	d.at += int64(n)
	return string(b), err
}

// message visits the fields of a message of so many bytes: with their value, or with their size, which the visitor may read.
// What it does not read is skipped. That of the largest size ends with the file.
func (d *describer) message(size int64, visit func(number, value uint64, size int64) error) error {
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
func (d *describer) field(end int64, visit func(number, value uint64, size int64) error) error {
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
		return d.skip(8)
	case fixed32:
		return d.skip(4)
	default:
		return fmt.Errorf("wire type %d", tag&7)
	}
	began := d.at
	if err := visit(tag>>3, value, size); err != nil {
		return err
	}
	return d.skip(began + size - d.at)
}

// Wire types of numbers of fixed size, which a model has in attributes.
const (
	fixed64 = 1
	fixed32 = 5
)

func (d *describer) varint() (uint64, error) {
	counted := byteCounter{d}
	v, err := binary.ReadUvarint(counted)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

type byteCounter struct{ *describer }

// ReadByte reads one byte.
func (c byteCounter) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

func (d *describer) skip(n int64) error {
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
