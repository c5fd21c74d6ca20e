package check

import (
	"encoding/binary"
	"math/bits"
)

// rowsSum is a sum of the hashes of rows. It is the same for the same rows, in whatever order and however they are spread
// over files.
type rowsSum struct {
	rows     int
	low, top uint64
}

func (s *rowsSum) add(hash [16]byte) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, binary.BigEndian.Uint64(hash[8:]), 0)
	s.top, _ = bits.Add64(s.top, binary.BigEndian.Uint64(hash[:8]), carry)
	s.rows++
}

func (s *rowsSum) addAll(o rowsSum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, o.low, 0)
	s.top, _ = bits.Add64(s.top, o.top, carry)
	s.rows += o.rows
}

func (s *rowsSum) remove(hash [16]byte) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, binary.BigEndian.Uint64(hash[8:]), 0)
	s.top, _ = bits.Sub64(s.top, binary.BigEndian.Uint64(hash[:8]), borrow)
	s.rows--
}
