// Package onnx generates tiny ONNX models, to try and compare backends when no model is at hand. It needs no Python. The bytes of
// a model are the same on every machine.
//
// A model is ONNX IR version 8, operator set 13, which all recent runtimes can read. Its first two dimensions are free and called
// batch_size and seq_len, so a sweep over both measures exactly these:
//
//	add          y = a + b       a, b and y are [batch_size, seq_len]
//	tiny_linear  y = x W + bias  x and y are [batch_size, seq_len, 64], W is [64, 64], bias is [64]
//
// W[i][j] is ((37 i + 11 j) mod 31 - 15) / 64 and bias[j] is ((5 j) mod 17 - 8) / 16. These numbers are exact in every precision,
// so models of different precisions have the same weights. The shapes of tiny_linear are those of package builtin with a
// dimension of 64.
//
// All tensors have the precision of the model, with these exceptions. tf32 is a way to compute with fp32 numbers, so its model is
// that of fp32. In int8, the inputs and outputs of add are integers that count multiples of 1/128 (a, b) and of 1/64 (y), between
// DequantizeLinear and QuantizeLinear. In int8, tiny_linear has fp32 inputs and outputs and int8 weights: DynamicQuantizeLinear
// quantises its input to uint8, and MatMulInteger multiplies.
//
// Names and precisions that are not in Names and Precisions are refused. For other model files, the package finds out what
// their weights are (Describe) and whether it could have generated them itself (Generated).
package onnx
