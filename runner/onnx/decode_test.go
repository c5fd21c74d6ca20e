package onnx

import (
	"encoding/binary"
	"testing"
)

// message is a protobuf message by field number: integers and byte strings in their order.
type message map[uint64][]field

type field struct {
	integer uint64
	bytes   []byte
}

func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		var f field
		key := take(t, &b)
		switch number := key >> 3; key & 7 {
		case varint:
			f.integer = take(t, &b)
			m[number] = append(m[number], f)
		case delimited:
			size := take(t, &b)
			if size > uint64(len(b)) {
				t.Fatalf("field %d has %d bytes of %d", number, len(b), size)
			}
			f.bytes, b = b[:size], b[size:]
			m[number] = append(m[number], f)
		default:
			t.Fatalf("field %d has wire type %d", number, key&7)
		}
	}
	return m
}

// take takes a varint from the front.
func take(t *testing.T, b *[]byte) uint64 {
	t.Helper()
	v, n := binary.Uvarint(*b)
	if n <= 0 {
		t.Fatalf("no varint in % x", *b)
	}
	*b = (*b)[n:]
	return v
}

// sub decodes every message in a field.
func (m message) sub(t *testing.T, number uint64) []message {
	t.Helper()
	var all []message
	for _, f := range m[number] {
		all = append(all, decode(t, f.bytes))
	}
	return all
}

func (m message) text(number uint64) string {
	if len(m[number]) == 0 {
		return ""
	}
	return string(m[number][0].bytes)
}

func (m message) texts(number uint64) []string {
	var all []string
	for _, f := range m[number] {
		all = append(all, string(f.bytes))
	}
	return all
}

func (m message) integer(number uint64) uint64 {
	if len(m[number]) == 0 {
		return 0
	}
	return m[number][0].integer
}

// packed returns the integers of a packed field.
func (m message) packed(t *testing.T, number uint64) []uint64 {
	t.Helper()
	var all []uint64
	for _, f := range m[number] {
		for b := f.bytes; len(b) > 0; {
			all = append(all, take(t, &b))
		}
	}
	return all
}
