package onnx

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message by field number: integers and byte strings in their order.
type message map[protowire.Number][]field

type field struct {
	integer uint64
	bytes   []byte
}

func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("a tag: %v", protowire.ParseError(n))
		}
		b = b[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.integer, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has wire type %d", number, kind)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", number, protowire.ParseError(n))
		}
		b = b[n:]
		m[number] = append(m[number], f)
	}
	return m
}

// sub decodes every message in a field.
func (m message) sub(t *testing.T, number protowire.Number) []message {
	t.Helper()
	var all []message
	for _, f := range m[number] {
		all = append(all, decode(t, f.bytes))
	}
	return all
}

func (m message) text(number protowire.Number) string {
	if len(m[number]) == 0 {
		return ""
	}
	return string(m[number][0].bytes)
}

func (m message) texts(number protowire.Number) []string {
	var all []string
	for _, f := range m[number] {
		all = append(all, string(f.bytes))
	}
	return all
}

func (m message) integer(number protowire.Number) uint64 {
	if len(m[number]) == 0 {
		return 0
	}
	return m[number][0].integer
}

// packed are the integers of a packed field.
func (m message) packed(t *testing.T, number protowire.Number) []uint64 {
	t.Helper()
	var all []uint64
	for _, f := range m[number] {
		for b := f.bytes; len(b) > 0; {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				t.Fatalf("field %d: %v", number, protowire.ParseError(n))
			}
			all, b = append(all, v), b[n:]
		}
	}
	return all
}
