package onnx

import (
	"encoding/binary"
	"math"
)

// elementType is TensorProto.DataType of onnx.proto.
type elementType int

const (
	typeFloat    elementType = 1
	typeInt8     elementType = 3
	typeFloat16  elementType = 10
	typeDouble   elementType = 11
	typeBfloat16 elementType = 16
)

// encode returns numbers as raw_data has them, little endian. They must be exact in the type.
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

// float16 gives the IEEE 754 binary16 of a number that it has exactly, zero or normal.
func float16(v float64) uint16 {
	bits := math.Float32bits(float32(v))
	sign, exponent, fraction := bits>>31, bits>>23&0xff, bits&(1<<23-1)
	if exponent == 0 {
		return uint16(sign << 15)
	}
	return uint16(sign<<15 | (exponent-127+15)<<10 | fraction>>13)
}
