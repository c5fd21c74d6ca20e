// Package onnx makes the tiny ONNX models that a backend can be tried and compared with where there is no model at
// hand. It needs no Python. The bytes of a model are always the same, on every machine.
//
// A model is ONNX IR version 8, operator set 13, which every runtime of the last years reads. Its first two dimensions
// are free and called batch_size and seq_len, so that a sweep over both measures what it says:
//
//	add          y = a + b       a, b and y are [batch_size, seq_len]
//	tiny_linear  y = x W + bias  x and y are [batch_size, seq_len, 64], W is [64, 64], bias is [64]
//
// W[i][j] is ((37 i + 11 j) mod 31 - 15) / 64 and bias[j] is ((5 j) mod 17 - 8) / 16. These are exact in every
// precision, so that models of two precisions have the same weights. The shapes of tiny_linear are those of package
// builtin with its dimension of 64.
//
// The precision is that of all tensors, with these exceptions. tf32 is a way to compute with fp32 numbers, so that model
// is the one of fp32. In int8, add takes and gives numbers that stand for a multiple of 1/128 (a, b) and of 1/64 (y),
// between DequantizeLinear and QuantizeLinear. In int8, tiny_linear takes and gives fp32 and has int8 weights: its input
// is quantised to uint8 by DynamicQuantizeLinear and multiplied by MatMulInteger.
//
// What is not among Names and Precisions is refused. Of the files of others the package reads which precision they have
// (Describe), and which of them it could have made itself (Generated).
package onnx
