package onnx

import (
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

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

// formats are the words for element types of weights. Integers of 16 bits and more are shapes, indices and biases, and an 8-bit exponent (24)
// is a scale.
var formats = map[uint64]string{
	kindFloat: "fp32", kindUint8: "int8", kindInt8: "int8", 10: "fp16", 11: "fp64", 16: "bf16",
	17: "fp8", 18: "fp8", 19: "fp8", 20: "fp8", 21: "int4", 22: "int4", 23: "fp4", 25: "int2", 26: "int2",
}

// canonical is a format that is a precision of schema, else empty.
func canonical(format string) string {
	if slices.Contains(schema.Precisions, format) {
		return format
	}
	return ""
}

// operands says which inputs of an operator are scales and zero points, and which are tensors of bytes with several weights in each. Both
// are sets: bit i is input i.
type operands struct {
	scales, packed uint16
	bits           string // the attribute with the bits of a packed weight
	usual          int64  // the bits without that attribute; 0: it is required
}

// quantised are the operators with such inputs, in the default domain and in that of ONNX Runtime.
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

// use is what an operator makes of a tensor. The zero value is a tensor that is a weight as it stands, or none.
type use struct {
	scale  bool   // a scale or a zero point
	format string // of the weights in a packed tensor
	bits   uint64 // of one of them
	count  uint64 // of them all; 0: as many as there is room for
}

// use is what a node makes of its packed input.
func (q operands) use(n *operation) use {
	width, said := n.integers[q.bits]
	if !said {
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

// of returns the format and number of the weights in a tensor, and whether it has any. A scalar is none.
func (u use) of(w weight) (format string, count uint64, is bool) {
	format, count = formats[w.kind], w.count
	if u.format != "" && (w.kind == kindUint8 || w.kind == kindInt8) {
		if format, count = u.format, u.count; count == 0 {
			count = times(w.count, 8/u.bits) // of widths that divide 8
		}
	}
	return format, count, !u.scale && format != "" && w.count > 1
}
