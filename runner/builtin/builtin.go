// Package builtin is the backend that needs no installation: a matrix product and the usual operations of a neural network,
// written in Go, over batch, sequence and dimension, in fp32 and fp64. It also has kernels of fixed work that make sessions
// comparable.
//
// Its results describe one core of a machine, and the harness itself. It is not a reference for a real backend: it has no vector
// code and uses one goroutine.
//
// A combination that it does not support, or an axis that the operation would not use, is an UnsupportedError. It never measures
// something other than what was requested.
package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// maxBytes bounds the memory that the tensors of one operation may take.
const maxBytes = 1 << 30

// Operation is an operation that is ready to be measured.
type Operation struct {
	// Iterate does the work once. It allocates nothing, uses one goroutine and reads the same input each time.
	Iterate func()
	// Applied is what is really measured, under the keys of the configuration, defaults filled in; operation
	// and compute (the precision that intermediate values have) come on top.
	Applied map[string]string
	// Work is what one iteration processes; its formulas stand with the operations.
	Work schema.Work
	// Validate says after the iterations that a result was wrong; nil where results are not known beforehand.
	Validate func() error
}

// The kinds of an UnsupportedError.
const (
	kindOperation  = "operation"   // there is no such operation
	kindPrecision  = "precision"   // there is no such number format
	kindMemory     = "memory"      // it would take more than maxBytes
	kindNotApplied = "not_applied" // the operation has no such parameter
)

// UnsupportedError says that a combination does not exist here. It is not a failure.
type UnsupportedError struct {
	Kind   string
	Reason string
}

// Error returns the reason.
func (e *UnsupportedError) Error() string { return e.Reason }

// modelPrefix marks a model that is one of these operations.
const modelPrefix = "builtin:"

// New prepares the operation that config names. The keys are model (builtin:NAME; it takes precedence over benchmark), benchmark
// (NAME), precision (fp32), batch_size (1), seq_len (1), param.dim or param.tensor_dimension (64) and, for Loss, param.loss (mse); or
// only CalibrationKey. The error is an *UnsupportedError, or names the invalid value.
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

// operation finds what is to be measured.
func (r *reader) operation() (operation, error) {
	name := r.config["benchmark"]
	if model := r.config["model"]; model != "" {
		var ok bool
		if name, ok = strings.CutPrefix(model, modelPrefix); !ok {
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
