package table

import "encoding/binary"

// Kinds of values in the compact protocol of Thrift, in which the headers of pages and the footer are written.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thriftWriter writes structs in the compact protocol. The fields of a struct are written by ascending id, no more than 15
// apart, which holds for all structs of Parquet.
type thriftWriter struct {
	out   []byte
	last  [8]byte // ids of the last fields of the open structs; none in Parquet is deeper
	depth int
}

// open begins a struct that is no field: the outermost one, or an element of a list.
func (w *thriftWriter) open() {
	w.depth++
	w.last[w.depth] = 0
}

// close ends a struct.
func (w *thriftWriter) close() {
	w.out = append(w.out, 0)
	w.depth--
}

// header begins a field.
func (w *thriftWriter) header(id, kind byte) {
	w.out = append(w.out, (id-w.last[w.depth])<<4|kind)
	w.last[w.depth] = id
}

// known adds fields that were written before; last is the id of the last one.
func (w *thriftWriter) known(fields []byte, last byte) {
	w.out = append(w.out, fields...)
	w.last[w.depth] = last
}

// structure begins a field that is a struct.
func (w *thriftWriter) structure(id byte) {
	w.header(id, thriftStruct)
	w.open()
}

// empty writes a field that is a struct without fields. Its presence is the information.
func (w *thriftWriter) empty(id byte) {
	w.structure(id)
	w.close()
}

// list begins a field that is a list of n elements, which follow.
func (w *thriftWriter) list(id, kind byte, n int) {
	w.header(id, thriftList)
	if n < 15 {
		w.out = append(w.out, byte(n)<<4|kind)
		return
	}
	w.out = binary.AppendUvarint(append(w.out, 0xf0|kind), uint64(n))
}

// number writes an integer of any size without a header; all sizes have the same encoding (zigzag varint).
func (w *thriftWriter) number(v int64) {
	if -64 <= v && v < 64 { // most are, and take one byte
		w.out = append(w.out, byte(v<<1^v>>63))
		return
	}
	w.out = binary.AppendVarint(w.out, v)
}

// bytes are a text without a header.
func (w *thriftWriter) bytes(s string) {
	w.out = append(binary.AppendUvarint(w.out, uint64(len(s))), s...)
}

func (w *thriftWriter) int16(id byte, v int64) {
	w.header(id, thriftInt16)
	w.number(v)
}

func (w *thriftWriter) int32(id byte, v int) {
	w.header(id, thriftInt32)
	w.number(int64(v))
}

func (w *thriftWriter) int64(id byte, v int) {
	w.header(id, thriftInt64)
	w.number(int64(v))
}

func (w *thriftWriter) bool(id byte, v bool) {
	if v {
		w.header(id, thriftTrue)
	} else {
		w.header(id, thriftFalse)
	}
}

func (w *thriftWriter) text(id byte, s string) {
	w.header(id, thriftBinary)
	w.bytes(s)
}

func (w *thriftWriter) binary(id byte, b []byte) {
	w.header(id, thriftBinary)
	w.out = append(binary.AppendUvarint(w.out, uint64(len(b))), b...)
}
