package onnx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// The metadata of a model.
const (
	irVersion  = 8
	opset      = 13
	modelMajor = 1
	producer   = "neurolens"
)

// graph is a model's graph; nodes are in an order in which they can be computed.
type graph struct {
	inputs, outputs []value
	constants       []tensor
	nodes           []node
}

// value is an input or output. A dimension is an int, or a string, which the user of the model chooses.
type value struct {
	name  string
	kind  elementType
	shape []any
}

// tensor is a constant, with its numbers in row-major order; without dims it is a scalar.
type tensor struct {
	name    string
	kind    elementType
	dims    []int64
	numbers []float64
}

// node is one operation; to is the attribute of that name of a Cast. It is named after its operation and its first output.
type node struct {
	op      string
	in, out []string
	to      elementType
}

// The field numbers below are those of onnx.proto.

// file encodes a ModelProto.
func file(name string, g graph) []byte {
	var m []byte
	m = integer(m, 1, irVersion)
	m = text(m, 2, producer)
	m = integer(m, 5, modelMajor)
	m = bytes(m, 7, g.encode(name))
	return bytes(m, 8, integer(text(nil, 1, ""), 2, opset)) // OperatorSetIdProto of the default domain
}

// encode returns a GraphProto.
func (g graph) encode(name string) []byte {
	var b []byte
	for _, n := range g.nodes {
		b = bytes(b, 1, n.encode())
	}
	b = text(b, 2, name)
	for _, t := range g.constants {
		b = bytes(b, 5, t.encode())
	}
	for _, v := range g.inputs {
		b = bytes(b, 11, v.encode())
	}
	for _, v := range g.outputs {
		b = bytes(b, 12, v.encode())
	}
	return b
}

// encode returns a NodeProto.
func (n node) encode() []byte {
	var b []byte
	for _, name := range n.in {
		b = text(b, 1, name)
	}
	for _, name := range n.out {
		b = text(b, 2, name)
	}
	b = text(b, 3, n.op+"/"+n.out[0])
	b = text(b, 4, n.op)
	if n.to != 0 {
		const kindInt = 2
		b = bytes(b, 5, integer(integer(text(nil, 1, "to"), 3, uint64(n.to)), 20, kindInt)) // AttributeProto
	}
	return b
}

// encode returns a TensorProto.
func (t tensor) encode() []byte {
	var b []byte
	if len(t.dims) > 0 {
		var packed []byte
		for _, d := range t.dims {
			packed = binary.AppendUvarint(packed, uint64(d))
		}
		b = bytes(b, 1, packed)
	}
	b = integer(b, 2, uint64(t.kind))
	b = text(b, 8, t.name)
	return bytes(b, 9, t.kind.encode(t.numbers))
}

// encode returns a ValueInfoProto.
func (v value) encode() []byte {
	var shape []byte
	for _, d := range v.shape {
		var dimension []byte
		switch d := d.(type) {
		case int:
			dimension = integer(nil, 1, uint64(d))
		case string:
			dimension = text(nil, 2, d)
		}
		shape = bytes(shape, 1, dimension)
	}
	tensorType := bytes(integer(nil, 1, uint64(v.kind)), 2, shape)
	return bytes(text(nil, 1, v.name), 2, bytes(nil, 1, tensorType))
}

// The wire types of protobuf that a model uses. They follow the number of a field.
const (
	varint    = 0
	delimited = 2 // a length and as many bytes
)

func integer(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(tag(b, field, varint), v)
}

func text(b []byte, field int, v string) []byte {
	return append(binary.AppendUvarint(tag(b, field, delimited), uint64(len(v))), v...)
}

func bytes(b []byte, field int, v []byte) []byte { return text(b, field, string(v)) }

func tag(b []byte, field, wireType int) []byte {
	return binary.AppendUvarint(b, uint64(field<<3|wireType))
}

// wire reads protobuf messages from the front to the end.
type wire struct {
	from *bufio.Reader
	at   int64 // B that have been read
}

// longestName is the most bytes that a name may have.
const longestName = 64 << 10

// text reads a name.
func (d *wire) text(size int64) string {
	if size > longestName {
		panic(fmt.Errorf("a name of %d bytes", size))
	}
	b := make([]byte, size)
	n, err := io.ReadFull(d.from, b)
	if d.at += int64(n); err != nil {
		panic(err)
	}
	return string(b)
}

// message visits the fields of a message of size B: with their value, or with their size, which the visitor may read. Numbers of fixed
// size are visited like texts of as many bytes. Unread bytes are skipped. A message of the largest size ends with the file.
func (d *wire) message(size int64, visit func(number, value uint64, size int64)) {
	end := int64(math.MaxInt64)
	if size < end-d.at {
		end = d.at + size
	}
	for d.at < end {
		if _, err := d.from.Peek(1); errors.Is(err, io.EOF) && size == math.MaxInt64 {
			return
		}
		d.field(end, visit)
	}
}

// field visits one field, which must end before end.
func (d *wire) field(end int64, visit func(number, value uint64, size int64)) {
	tag := d.varint()
	var value uint64
	var size int64
	switch tag & 7 {
	case varint:
		value = d.varint()
	case delimited:
		length := d.varint()
		if length > uint64(end-d.at) {
			panic(fmt.Errorf("a field of %d bytes is longer than its message", length))
		}
		size = int64(length)
	case fixed64:
		size = 8
	case fixed32:
		size = 4
	default:
		panic(fmt.Errorf("wire type %d", tag&7))
	}
	began := d.at
	visit(tag>>3, value, size)
	d.skip(began + size - d.at)
}

// Wire types of numbers of fixed size.
const (
	fixed64 = 1
	fixed32 = 5
)

func (d *wire) varint() uint64 {
	v, err := binary.ReadUvarint(byteCounter{d})
	if err != nil {
		panic(noEnd(err))
	}
	return v
}

// noEnd returns an error within a message, where a file may not end.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
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

func (d *wire) skip(n int64) {
	if n < 0 {
		panic(errors.New("a field ends within another"))
	}
	for n > 0 {
		step, err := d.from.Discard(int(min(n, 1<<30)))
		if d.at, n = d.at+int64(step), n-int64(step); err != nil {
			panic(noEnd(err))
		}
	}
}

// elementType is TensorProto.DataType of onnx.proto.
type elementType int

const (
	typeFloat    elementType = 1
	typeInt8     elementType = 3
	typeFloat16  elementType = 10
	typeDouble   elementType = 11
	typeBfloat16 elementType = 16
)

// encode returns numbers in the format of raw_data, little endian. They must be exact in the type.
func (t elementType) encode(numbers []float64) []byte {
	var b []byte
	for _, v := range numbers {
		switch t {
		case typeFloat:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case typeDouble:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case typeFloat16:
			b = binary.LittleEndian.AppendUint16(b, float16(v))
		case typeBfloat16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(v))>>16))
		case typeInt8:
			b = append(b, byte(int8(v)))
		}
	}
	return b
}

// float16 returns the IEEE 754 binary16 of a number that it has exactly, zero or normal.
func float16(v float64) uint16 {
	bits := math.Float32bits(float32(v))
	sign, exponent, fraction := bits>>31, bits>>23&0xff, bits&(1<<23-1)
	if exponent == 0 {
		return uint16(sign << 15)
	}
	return uint16(sign<<15 | (exponent-127+15)<<10 | fraction>>13)
}

// The domains of the operators that are known: two spellings of the default one, and the one of ONNX Runtime.
const (
	defaultDomain = "ai.onnx"
	microsoft     = "com.microsoft"
)

// Element types, as in TensorProto.
const (
	kindFloat = 1
	kindUint8 = 2
	kindInt8  = 3
)

// formats are the words for element types of weights. Integers of 16 bits and more are shapes, indices and biases, and an 8-bit exponent
// (24) is a scale.
var formats = map[uint64]string{
	kindFloat: "fp32", kindUint8: "int8", kindInt8: "int8", 10: "fp16", 11: "fp64", 16: "bf16",
	17: "fp8", 18: "fp8", 19: "fp8", 20: "fp8", 21: "int4", 22: "int4", 23: "fp4", 25: "int2", 26: "int2",
}

// canonical returns a format that is a precision of schema, else empty.
func canonical(format string) string {
	if slices.Contains(schema.Precisions, format) {
		return format
	}
	return ""
}

// operands identifies the inputs of an operator that are scales and zero points, and the tensors of bytes with several weights in each.
// Both are sets: bit i is input i.
type operands struct {
	scales, packed uint16
	bits           string // the attribute with the bits of a packed weight
	usual          int64  // the bits without that attribute; 0: it is required
}

// quantised are the operators with such inputs, in the default domain and in the domain of ONNX Runtime.
var quantised = map[string]operands{
	"QuantizeLinear":        {scales: places(1, 2)},
	"DequantizeLinear":      {scales: places(1, 2)},
	"MatMulInteger":         {scales: places(2, 3)},
	"ConvInteger":           {scales: places(2, 3)},
	"MatMulIntegerToFloat":  {scales: places(2, 3, 4, 5)},
	"DynamicQuantizeMatMul": {scales: places(2, 3)},
	"QLinearMatMul":         {scales: places(1, 2, 4, 5, 6, 7)},
	"QLinearConv":           {scales: places(1, 2, 4, 5, 6, 7)},
	"QLinearAdd":            {scales: places(1, 2, 4, 5, 6, 7)},
	"QLinearMul":            {scales: places(1, 2, 4, 5, 6, 7)},
	"QGemm":                 {scales: places(1, 2, 4, 5, 7, 8)},
	"QAttention":            {scales: places(3, 4, 6, 7)},
	"MatMulNBits":           {scales: places(2, 3), packed: places(1), bits: "bits", usual: 4},
	"MatMulBnb4":            {scales: places(2), packed: places(1), usual: 4},
	"GatherBlockQuantized":  {scales: places(2, 3), packed: places(0), bits: "bits", usual: 4},
	"QMoE":                  {scales: places(3, 6, 9, 11, 12, 13), packed: places(2, 5, 8), bits: "expert_weight_bits", usual: 4},
}

func places(inputs ...int) (set uint16) {
	for _, i := range inputs {
		set |= 1 << i
	}
	return set
}

// use describes how an operator uses a tensor. The zero value is a tensor whose elements are weights, or no tensor.
type use struct {
	scale  bool   // a scale or a zero point
	format string // of the weights in a packed tensor
	bits   uint64 // of one weight
	count  uint64 // number of weights; 0: as many as fit
}

// use returns how a node uses its packed input.
func (q operands) use(n *operation) use {
	width, known := n.integers[q.bits]
	if !known {
		width = q.usual
	}
	if width < 1 || width > 8 {
		return use{}
	}
	u := use{format: fmt.Sprintf("int%d", width), bits: uint64(width)}
	if n.op == "MatMulBnb4" {
		u.format = map[int64]string{0: "fp4", 1: "nf4"}[n.integers["quant_type"]]
	}
	if k, columns := n.integers["K"], n.integers["N"]; k > 0 && columns > 0 { // rows end with padding
		u.count = times(uint64(k), uint64(columns))
	}
	return u
}

// of returns the format and number of the weights in a tensor, and whether it has any. A scalar has none.
func (u use) of(w weight) (format string, count uint64, is bool) {
	format, count = formats[w.kind], w.count
	if u.format != "" && (w.kind == kindUint8 || w.kind == kindInt8) {
		if format, count = u.format, u.count; count == 0 {
			count = times(w.count, 8/u.bits) // of widths that divide 8
		}
	}
	return format, count, !u.scale && format != "" && w.count > 1
}
