package onnx

import "encoding/binary"

// What a model says about itself.
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

// What follows a field's number: the wire types of protobuf that a model is made of.
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
