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

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/neurolens/neurolens/schema"
)

// The dimensions that the user of a model chooses.
const (
	batchSize = "batch_size"
	seqLen    = "seq_len"
)

// dim is the number of inputs, and of outputs, of tiny_linear.
const dim = 64

// Weights of tiny_linear are integers, which fit int8, over these.
const (
	weightDivisor = 64
	biasDivisor   = 16
)

// models are the models by name, each with one way to make it for floating-point numbers and one for int8.
var models = []struct {
	name      string
	floating  func(elementType) graph
	quantised func() graph
}{
	{"add", add, addInt8},
	{"tiny_linear", tinyLinear, tinyLinearInt8},
}

// Names lists the models that can be generated.
func Names() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.name
	}
	return names
}

// Precisions lists the precisions of every model, in the canonical words of schema.
func Precisions() []string { return []string{"fp64", "fp32", "tf32", "fp16", "bf16", "int8"} }

// Generate returns the content of the ONNX file for a model in a precision, or in one of its aliases (half, float32). An error lists the
// available names or precisions.
func Generate(name, precision string) ([]byte, error) {
	canonical, err := schema.CanonicalPrecision(precision)
	if err != nil {
		return nil, unknown("precision", precision, Precisions())
	}
	for _, m := range models {
		if m.name != name {
			continue
		}
		switch canonical {
		case "fp64":
			return file(name, m.floating(typeDouble)), nil
		case "fp32", "tf32":
			return file(name, m.floating(typeFloat)), nil
		case "fp16":
			return file(name, m.floating(typeFloat16)), nil
		case "bf16":
			return file(name, m.floating(typeBfloat16)), nil
		case "int8":
			return file(name, m.quantised()), nil
		}
		return nil, fmt.Errorf("precision %q: %s has %s", precision, name, strings.Join(Precisions(), " "))
	}
	return nil, unknown("model", name, Names())
}

// unknown returns the error about a word that is not among known.
func unknown(what, word string, known []string) error {
	if near := schema.Nearest(word, known); near != "" {
		return fmt.Errorf("%s %q: did you mean %s?", what, word, near)
	}
	return fmt.Errorf("%s %q: want one of %s", what, word, strings.Join(known, " "))
}

func add(t elementType) graph {
	shape := []any{batchSize, seqLen}
	return graph{
		inputs:  []value{{"a", t, shape}, {"b", t, shape}},
		outputs: []value{{"y", t, shape}},
		nodes:   []node{{op: "Add", in: []string{"a", "b"}, out: []string{"y"}}},
	}
}

// addInt8 adds the represented values of int8 numbers. The result is in multiples of twice the size, so that it always fits.
func addInt8() graph {
	shape := []any{batchSize, seqLen}
	return graph{
		inputs:  []value{{"a", typeInt8, shape}, {"b", typeInt8, shape}},
		outputs: []value{{"y", typeInt8, shape}},
		constants: []tensor{
			{"scale", typeFloat, nil, []float64{1. / 128}},
			{"sum_scale", typeFloat, nil, []float64{1. / 64}},
			{"zero", typeInt8, nil, []float64{0}},
		},
		nodes: []node{
			{op: "DequantizeLinear", in: []string{"a", "scale", "zero"}, out: []string{"a_real"}},
			{op: "DequantizeLinear", in: []string{"b", "scale", "zero"}, out: []string{"b_real"}},
			{op: "Add", in: []string{"a_real", "b_real"}, out: []string{"sum"}},
			{op: "QuantizeLinear", in: []string{"sum", "sum_scale", "zero"}, out: []string{"y"}},
		},
	}
}

func tinyLinear(t elementType) graph {
	shape := []any{batchSize, seqLen, dim}
	return graph{
		inputs:  []value{{"x", t, shape}},
		outputs: []value{{"y", t, shape}},
		constants: []tensor{
			{"W", t, []int64{dim, dim}, weights(weightDivisor)}, {"bias", t, []int64{dim}, biases()},
		},
		nodes: []node{
			{op: "MatMul", in: []string{"x", "W"}, out: []string{"product"}},
			{op: "Add", in: []string{"product", "bias"}, out: []string{"y"}},
		},
	}
}

func tinyLinearInt8() graph {
	shape := []any{batchSize, seqLen, dim}
	return graph{
		inputs:  []value{{"x", typeFloat, shape}},
		outputs: []value{{"y", typeFloat, shape}},
		constants: []tensor{
			{"W", typeInt8, []int64{dim, dim}, weights(1)},
			{"W_scale", typeFloat, nil, []float64{1. / weightDivisor}},
			{"bias", typeFloat, []int64{dim}, biases()},
		},
		nodes: []node{
			{op: "DynamicQuantizeLinear", in: []string{"x"}, out: []string{"x_quantised", "x_scale", "x_zero"}},
			{op: "MatMulInteger", in: []string{"x_quantised", "W", "x_zero"}, out: []string{"product_integer"}},
			{op: "Cast", in: []string{"product_integer"}, out: []string{"product_steps"}, to: typeFloat},
			{op: "Mul", in: []string{"x_scale", "W_scale"}, out: []string{"step"}},
			{op: "Mul", in: []string{"product_steps", "step"}, out: []string{"product"}},
			{op: "Add", in: []string{"product", "bias"}, out: []string{"y"}},
		},
	}
}

// weights returns the weights of tiny_linear, row by row, times weightDivisor, over divisor.
func weights(divisor float64) []float64 {
	w := make([]float64, 0, dim*dim)
	for i := range dim {
		for j := range dim {
			w = append(w, float64((37*i+11*j)%31-15)/divisor)
		}
	}
	return w
}

func biases() []float64 {
	b := make([]float64, dim)
	for j := range b {
		b[j] = float64(5*j%17-8) / biasDivisor
	}
	return b
}

// Generated returns the arguments of Generate that produce a file, which is identified by its SHA-256 in hex.
func Generated(hash string) (name, precision string, ok bool) {
	made, ok := generated()[hash]
	return made.name, made.precision, ok
}

type asked struct{ name, precision string }

// generated are all models by the hashes of their contents. The model of tf32 equals the one of fp32 and is found as fp32.
var generated = sync.OnceValue(func() map[string]asked {
	all := map[string]asked{}
	for _, name := range Names() {
		for _, precision := range Precisions() {
			content, err := Generate(name, precision)
			if err != nil || precision == "tf32" {
				continue
			}
			sum := sha256.Sum256(content)
			all[hex.EncodeToString(sum[:])] = asked{name, precision}
		}
	}
	return all
})
