// Package builtin is the backend that needs no installation: a matrix product and the usual operations of a neural network, written in
// Go, over batch, sequence and dimension, in fp32 and fp64. It also has kernels of fixed work that make sessions comparable.
//
// Its results describe one core of a machine, and the harness itself. It is not a reference for a real backend: it has no vector code
// and uses one goroutine.
//
// A combination that it does not support, or an axis that the operation would not use, is an UnsupportedError. It never measures
// something other than the requested point.
package builtin

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// maxBytes is the maximum memory of the tensors of one operation.
const maxBytes = 1 << 30

// Operation is an operation that is ready to be measured.
type Operation struct {
	// Iterate performs one iteration. It allocates nothing, uses one goroutine and reads the same input each time.
	Iterate func()
	// Applied is the configuration that is really measured, under the keys of the configuration, defaults filled in; operation
	// and compute (the precision that intermediate values have) come on top.
	Applied map[string]string
	// Work is the work of one iteration; its formulas are defined with the operations.
	Work schema.Work
	// Validate returns an error if a result was wrong; nil if results are not known beforehand.
	Validate func() error
}

// The kinds of an UnsupportedError.
const (
	kindOperation  = "operation"   // there is no such operation
	kindPrecision  = "precision"   // there is no such number format
	kindMemory     = "memory"      // it would take more than maxBytes
	kindNotApplied = "not_applied" // the operation has no such parameter
)

// UnsupportedError means that a combination does not exist here. It is not a failure.
type UnsupportedError struct {
	Kind   string
	Reason string
}

// Error returns the reason.
func (e *UnsupportedError) Error() string { return e.Reason }

// ModelPrefix marks a model that is one of these operations.
const ModelPrefix = "builtin:"

// New prepares the operation in config. The keys are model (builtin:NAME; it takes precedence over benchmark), benchmark (NAME),
// precision (fp32), batch_size (1), seq_len (1), param.dim or param.tensor_dimension (64) and, for Loss, param.loss (mse); or only
// CalibrationKey. The error is an *UnsupportedError, or names the invalid value.
func New(config map[string]string) (*Operation, error) {
	if _, ok := config[CalibrationKey]; ok {
		c, err := findCalibration(config)
		if err != nil {
			return nil, err
		}
		return c.operation(), nil
	}
	r := reader{config: config, applied: map[string]string{}}
	op, err := r.operation()
	if err != nil {
		return nil, err
	}
	dimKey, err := dimensionKey(config)
	if err != nil {
		return nil, err
	}
	s := shape{batch: r.size("batch_size", 1), seq: r.size("seq_len", 1), dim: r.size(dimKey, 64)}
	if r.err != nil {
		return nil, r.err
	}
	precision, err := r.precision()
	if err != nil {
		return nil, err
	}
	if err := r.allApplied(op); err != nil {
		return nil, err
	}
	if err := op.fits(s, precision.size); err != nil {
		return nil, err
	}
	r.applied["compute"] = precision.name
	if op.wide {
		r.applied["compute"] = "fp64"
	}
	return &Operation{
		Iterate: precision.build(op, s).iterate,
		Applied: r.applied,
		Work: schema.Work{
			Bytes: new(int64(op.traffic(s, precision.size))),
			Flops: new(op.flops(s)),
			Items: new(float64(s.batch)),
		},
	}, nil
}

// Check returns an *UnsupportedError if there is no operation with the name in config.
func Check(config map[string]string) error {
	if _, ok := config[CalibrationKey]; ok {
		_, err := findCalibration(config)
		return err
	}
	r := reader{config: config, applied: map[string]string{}}
	_, err := r.operation()
	return err
}

func names() string {
	all := []string{"Loss"}
	for _, op := range operations {
		all = append(all, op.name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// dimensionKey returns the spelling of the dimension that config uses.
func dimensionKey(config map[string]string) (string, error) {
	const short, long = "param.dim", "param.tensor_dimension"
	if _, ok := config[long]; !ok {
		return short, nil
	}
	if _, ok := config[short]; ok {
		return "", fmt.Errorf("reading the configuration: dim and tensor_dimension are the same parameter: set only one")
	}
	return long, nil
}

// reader reads values from a configuration and records which ones it used. It keeps the first error.
type reader struct {
	config, applied map[string]string
	err             error
}

// operation finds the operation to measure.
func (r *reader) operation() (operation, error) {
	name := r.config["benchmark"]
	if model := r.config["model"]; model != "" {
		var ok bool
		if name, ok = strings.CutPrefix(model, ModelPrefix); !ok {
			return operation{}, &UnsupportedError{kindOperation, fmt.Sprintf("builtin has no model %q", model)}
		}
	}
	if strings.EqualFold(name, "Loss") {
		return r.loss()
	}
	for _, op := range operations {
		if strings.EqualFold(name, op.name) {
			r.applied["operation"] = op.name
			return op, nil
		}
	}
	return operation{}, &UnsupportedError{
		kindOperation, fmt.Sprintf("builtin has no operation %q; it has %s", name, names()),
	}
}

// loss finds the operation that param.loss chooses.
func (r *reader) loss() (operation, error) {
	loss, ok := r.config["param.loss"]
	if !ok {
		loss = "mse"
	}
	for _, op := range operations {
		if loss != "" && op.loss == loss {
			r.applied["operation"], r.applied["param.loss"] = op.name, loss
			return op, nil
		}
	}
	return operation{}, &UnsupportedError{
		kindOperation, fmt.Sprintf("builtin has no loss %q; it has mse and cross_entropy", loss),
	}
}

// size reads a positive integer in canonical text.
func (r *reader) size(key string, missing int64) int64 {
	text, ok := r.config[key]
	if !ok {
		text = strconv.FormatInt(missing, 10)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if r.err == nil && (err != nil || n < 1 || strconv.FormatInt(n, 10) != text) {
		r.err = fmt.Errorf("reading %s: %q is not a positive integer", strings.TrimPrefix(key, "param."), text)
	}
	r.applied[key] = text
	return n
}

// precision reads the number format of the tensors.
func (r *reader) precision() (precision, error) {
	name := r.config["precision"]
	if name == "" {
		name = "fp32"
	}
	canonical, err := schema.CanonicalPrecision(name)
	if err != nil {
		return precision{}, err
	}
	r.applied["precision"] = canonical
	for _, p := range precisions {
		if p.name == canonical {
			return p, nil
		}
	}
	return precision{}, &UnsupportedError{kindPrecision, fmt.Sprintf("builtin has fp32 and fp64, not %s", canonical)}
}

// allApplied refuses a configuration with keys that op makes no use of.
func (r *reader) allApplied(op operation) error {
	var unused []string
	for _, key := range slices.Sorted(maps.Keys(r.config)) {
		if _, ok := r.applied[key]; !ok && key != "benchmark" && key != "model" {
			unused = append(unused, strings.TrimPrefix(key, "param."))
		}
	}
	if len(unused) == 0 {
		return nil
	}
	return &UnsupportedError{
		kindNotApplied, fmt.Sprintf("%s has no parameter %s", op.name, strings.Join(unused, ", ")),
	}
}

// shape is the size of the input: batch x seq tokens of dim numbers each.
type shape struct{ batch, seq, dim int64 }

// Counts are float64, so that sizes which are too large to allocate are refused before an integer overflows.
func (s shape) tokens() float64   { return float64(s.batch) * float64(s.seq) }
func (s shape) elements() float64 { return s.tokens() * float64(s.dim) }

// operation describes one operation. Formulas: traffic counts every input read once and every output written once, in numbers of the
// tensors' precision; flops counts additions, multiplications, divisions, comparisons and calls of exp and erf as one each, and leaves
// out operations that occur once per token.
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

// flops returns the arithmetic operations of one iteration.
func (o operation) flops(s shape) float64 {
	if o.matrix {
		return s.elements() * float64(2*s.dim+1)
	}
	return s.elements() * o.perElement
}

// traffic returns the minimum memory traffic of one iteration in bytes, at size bytes per number. It is also the memory that the tensors
// take.
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

// precision is a number format for which kernels exist.
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
	result  func() []float64 // output of the last iterate; for tests
}

// build makes the tensors of op and the function that processes them. The result is reachable through a pointer in the kernel, so the
// compiler cannot eliminate the work.
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

// scalar returns a kernel with a single number as its result.
func scalar(f func() float64) kernel {
	out := new(float64)
	return kernel{iterate: func() { *out = f() }, result: func() []float64 { return []float64{*out} }}
}

// newGenerator returns the random number generator of all input, with a fixed seed.
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

type number interface{ float32 | float64 }

// epsilon keeps layerNorm from dividing by zero; the value of torch.nn.LayerNorm.
const epsilon = 1e-5

// linear sets y = x W + b for every token; w is row-major, one row an input dimension.
func linear[T number](y, x, w, b []T) {
	dim := len(b)
	for start := 0; start < len(x); start += dim {
		in, out := x[start:start+dim], y[start:start+dim]
		copy(out, b)
		// Row by row of w, so that memory is read in order.
		for i, v := range in {
			row := w[i*dim : (i+1)*dim]
			sums := out[:len(row)] // one length for both: no bounds check in the loop
			for j, weight := range row {
				sums[j] += v * weight
			}
		}
	}
}

// layerNorm sets y = (x - mean) / sqrt(var + epsilon) * gamma + beta for every token, var being the biased
// variance (Ba, Kiros, Hinton 2016, as in torch.nn.LayerNorm).
func layerNorm[T number](y, x, gamma, beta []T) {
	dim := len(gamma)
	for start := 0; start < len(x); start += dim {
		in, out := x[start:start+dim], y[start:start+dim]
		var sum, squares float64
		for _, v := range in {
			sum += float64(v)
		}
		mean := sum / float64(dim)
		for _, v := range in {
			d := float64(v) - mean
			squares += d * d
		}
		scale := 1 / math.Sqrt(squares/float64(dim)+epsilon)
		for i, v := range in {
			out[i] = T((float64(v)-mean)*scale*float64(gamma[i]) + float64(beta[i]))
		}
	}
}

// gelu sets y = x/2 (1 + erf(x/sqrt 2)), the exact form (Hendrycks, Gimpel 2016).
func gelu[T number](y, x []T) {
	for i, v := range x {
		f := float64(v)
		y[i] = T(0.5 * f * (1 + math.Erf(f*(1/math.Sqrt2))))
	}
}

// swish sets y = x / (1 + exp(-x)) (Ramachandran, Zoph, Le 2017; SiLU).
func swish[T number](y, x []T) {
	for i, v := range x {
		f := float64(v)
		y[i] = T(f / (1 + math.Exp(-f)))
	}
}

// mse returns the mean of (x - target)^2.
func mse[T number](x, target []T) float64 {
	var sum float64
	for i, v := range x {
		d := float64(v) - float64(target[i])
		sum += d * d
	}
	return sum / float64(len(x))
}

// crossEntropy returns the mean over tokens of log(sum exp x) - x[label], with the largest x taken out first, as in
// torch.nn.CrossEntropyLoss.
func crossEntropy[T number](x []T, labels []int32, dim int) float64 {
	var total float64
	for token, label := range labels {
		in := x[token*dim : (token+1)*dim]
		largest := in[0]
		for _, v := range in {
			largest = max(largest, v)
		}
		var sum float64
		for _, v := range in {
			sum += math.Exp(float64(v) - float64(largest))
		}
		total += math.Log(sum) + float64(largest) - float64(in[label])
	}
	return total / float64(len(labels))
}
