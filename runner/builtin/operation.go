package builtin

import (
	"fmt"
	"math/rand/v2"
)

// shape is the size of the input: batch x seq tokens of dim numbers each.
type shape struct{ batch, seq, dim int64 }

// Counts are reals, because sizes that nobody can allocate have to be refused before they overflow an integer.
func (s shape) tokens() float64   { return float64(s.batch) * float64(s.seq) }
func (s shape) elements() float64 { return s.tokens() * float64(s.dim) }

// operation describes one operation. Formulas: traffic counts every input read once and every output written
// once, in numbers of the tensors' precision; flops counts additions, multiplications, divisions, comparisons
// and calls of exp and erf as one each, and leaves out what happens once a token.
type operation struct {
	name       string
	loss       string  // the value of param.loss that chooses it
	wide       bool    // intermediate values are fp64 whatever the tensors are
	perElement float64 // flops for an element of the input
	tensors    float64 // inputs and outputs of batch x seq x dim numbers
	vectors    float64 // inputs of dim numbers
	matrix     bool    // there is an input of dim x dim numbers, and every output is a dot product over dim
	labels     bool    // there is an input of one class index, 4 bytes, for each token
}

var operations = []operation{
	{name: "tiny_linear", tensors: 2, vectors: 1, matrix: true},
	{name: "LayerNorm", wide: true, perElement: 8, tensors: 2, vectors: 2},
	{name: "GELU", wide: true, perElement: 5, tensors: 2},
	{name: "Swish", wide: true, perElement: 4, tensors: 2},
	{name: "MSE", loss: "mse", wide: true, perElement: 3, tensors: 2},
	{name: "CrossEntropy", loss: "cross_entropy", wide: true, perElement: 4, tensors: 1, labels: true},
}

// flops are the arithmetic operations of one iteration.
func (o operation) flops(s shape) float64 {
	if o.matrix {
		return s.elements() * float64(2*s.dim+1)
	}
	return s.elements() * o.perElement
}

// traffic is the memory in bytes that one iteration cannot avoid to touch, at size bytes a number. It is also
// all the memory that the tensors take.
func (o operation) traffic(s shape, size int64) float64 {
	numbers := o.tensors*s.elements() + o.vectors*float64(s.dim)
	if o.matrix {
		numbers += float64(s.dim) * float64(s.dim)
	}
	bytes := numbers * float64(size)
	if o.labels {
		bytes += 4 * s.tokens()
	}
	return bytes
}

// fits refuses sizes whose tensors take more than maxBytes.
func (o operation) fits(s shape, size int64) error {
	if o.traffic(s, size) <= maxBytes {
		return nil
	}
	return &UnsupportedError{kindMemory, fmt.Sprintf(
		"%s with batch_size %d, seq_len %d, dim %d needs more than %d MiB", o.name, s.batch, s.seq, s.dim, maxBytes>>20)}
}

// precision is a number format that the kernels exist in.
type precision struct {
	name  string
	size  int64 // bytes a number
	build func(operation, shape) kernel
}

var precisions = []precision{
	{name: "fp32", size: 4, build: build[float32]},
	{name: "fp64", size: 8, build: build[float64]},
}

// kernel is an operation over its tensors.
type kernel struct {
	iterate func()
	result  func() []float64 // what the last iterate left behind; tests read it
}

// build makes the tensors of op and the function that works on them. The result lives behind a pointer that the
// kernel holds, so the compiler cannot drop the work.
func build[T number](op operation, s shape) kernel {
	g := newGenerator()
	x := fill(make([]T, s.batch*s.seq*s.dim), g)
	dim := int(s.dim)
	switch op.name {
	case "MSE":
		target := fill(make([]T, len(x)), g)
		return scalar(func() float64 { return mse(x, target) })
	case "CrossEntropy":
		labels := make([]int32, s.batch*s.seq)
		for i := range labels {
			labels[i] = int32(g.Int64N(s.dim))
		}
		return scalar(func() float64 { return crossEntropy(x, labels, dim) })
	}
	y := make([]T, len(x))
	k := kernel{result: func() []float64 { return widen(y) }}
	switch op.name {
	case "tiny_linear":
		w, b := fill(make([]T, s.dim*s.dim), g), fill(make([]T, dim), g)
		k.iterate = func() { linear(y, x, w, b) }
	case "LayerNorm":
		gamma, beta := fill(make([]T, dim), g), fill(make([]T, dim), g)
		k.iterate = func() { layerNorm(y, x, gamma, beta) }
	case "GELU":
		k.iterate = func() { gelu(y, x) }
	case "Swish":
		k.iterate = func() { swish(y, x) }
	}
	return k
}

// scalar is a kernel with a single number as its result.
func scalar(f func() float64) kernel {
	out := new(float64)
	return kernel{iterate: func() { *out = f() }, result: func() []float64 { return []float64{*out} }}
}

// newGenerator returns the one sequence that all input is made of.
func newGenerator() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// fill sets tensor to numbers in [-1, 1) that are the same in every precision but for rounding.
func fill[T number](tensor []T, g *rand.Rand) []T {
	for i := range tensor {
		tensor[i] = T(2*g.Float64() - 1)
	}
	return tensor
}

func widen[T number](tensor []T) []float64 {
	out := make([]float64, len(tensor))
	for i, v := range tensor {
		out[i] = float64(v)
	}
	return out
}
