package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
)

// Point has the fields that identify a point, and the machine. Unknown values are empty or nil.
type Point struct {
	Benchmark, Variant, Backend, Model, Precision string
	BatchSize, SeqLen                             *int64
	Machine                                       string
	Params                                        map[string]string // values as canonical text
}

// field returns a pointer to the field of a column of Identity, or of params; nil for any other column.
func (p *Point) field(column string) any {
	switch column {
	case "benchmark":
		return &p.Benchmark
	case "variant":
		return &p.Variant
	case "backend":
		return &p.Backend
	case "model":
		return &p.Model
	case "precision":
		return &p.Precision
	case "batch_size":
		return &p.BatchSize
	case "seq_len":
		return &p.SeqLen
	case "machine":
		return &p.Machine
	case "params":
		return &p.Params
	}
	return nil
}

// PointOf makes a point from the values of Identity in a row of runs and from its parameters.
func PointOf(values []any, params map[string]any) Point {
	var p Point
	for i, column := range Identity {
		switch f := p.field(column).(type) {
		case *string:
			*f, _ = values[i].(string)
		case **int64:
			*f = known[int64](values[i])
		}
	}
	if params != nil {
		p.Params = make(map[string]string, len(params))
		for name, value := range params {
			if text, ok := value.(string); ok { // without a value it is no parameter
				p.Params[name] = text
			}
		}
	}
	return p
}

// Value returns the value of a column of Identity, or of params, as a cell.
func (p *Point) Value(column string) any {
	switch f := p.field(column).(type) {
	case *string:
		return answer.Text(*f)
	case **int64:
		return answer.Integer(*f)
	case *map[string]string:
		return answer.Texts(*f)
	}
	return nil
}

// Parameter returns the value of a parameter, as a cell.
func (p *Point) Parameter(name string) any {
	if value, ok := p.Params[name]; ok {
		return value
	}
	return nil
}

// With returns the point with the value of another point for a column of Identity or a parameter (param.NAME). A parameter that the other
// point lacks is removed.
func (p *Point) With(field string, of *Point) Point {
	changed := *p
	if name, ok := strings.CutPrefix(field, filter.ParamPrefix); ok {
		changed.Params = map[string]string{}
		maps.Copy(changed.Params, p.Params)
		delete(changed.Params, name)
		if value, ok := of.Params[name]; ok {
			changed.Params[name] = value
		}
		return changed
	}
	switch to := changed.field(field).(type) {
	case *string:
		*to = *of.field(field).(*string)
	case **int64:
		*to = *of.field(field).(**int64)
	}
	return changed
}

// InStep reports whether an axis determines a field, as the variant does the backend if each variant has its own: of n points or groups, each
// value of the axis has exactly one value of the field, and these values differ. text returns a field as a text, which is empty if it is NULL.
// Benchmarks are in step with a parameter only if each has one value of it: those with several, or with none, do different work.
func InStep(n int, axis, field string, text func(i int, field string) string) bool {
	of, differ := map[string]string{}, false // by value of the axis
	for i := range n {
		at, value := text(i, axis), text(i, field)
		first, known := of[at]
		if known && first != value {
			return false
		}
		of[at] = value
		differ = differ || value != text(0, field)
	}
	if _, without := of[""]; field == "benchmark" && strings.HasPrefix(axis, filter.ParamPrefix) {
		return differ && !without && len(slices.Compact(slices.Sorted(maps.Values(of)))) == len(of)
	}
	return differ
}

// WithoutAxis returns points without an axis, and without the fields that are in step with it, but for the machine. Of two points that differ
// in nothing else it returns equal ones.
func WithoutAxis(points []Point, axis string) []Point {
	text := func(i int, field string) string {
		value := points[i].Value(field)
		if name, ok := strings.CutPrefix(field, filter.ParamPrefix); ok {
			value = points[i].Parameter(name)
		}
		if value == nil {
			return ""
		}
		return "=" + fmt.Sprint(value)
	}
	fields := slices.DeleteFunc(slices.Clone(Identity), func(field string) bool { return field == "machine" && field != axis })
	names := map[string]bool{}
	for i := range points {
		for name := range points[i].Params {
			names[filter.ParamPrefix+name] = true
		}
	}
	fields = append(fields, slices.Sorted(maps.Keys(names))...)
	fields = slices.DeleteFunc(fields, func(field string) bool {
		return field != axis && !InStep(len(points), axis, field, text)
	})
	rest := slices.Clone(points)
	for _, field := range fields {
		for i := range rest {
			rest[i] = rest[i].With(field, &Point{})
		}
	}
	return rest
}

// Key returns a text that two points share if and only if they are equal.
func (p *Point) Key() string {
	var values []any
	for _, name := range Identity {
		values = append(values, p.Value(name))
	}
	return fmt.Sprintf("%#v %#v", values, p.Params) // of a map the keys are in order
}

// PointMeanings describe the columns of a point.
var PointMeanings = map[string]string{
	"benchmark": "name of the benchmark", "variant": "variant of the benchmark", "backend": "software that does the work, such as torch or onnxrt", "model": "name of the model",
	"precision": "number type, such as fp32 or fp16", "batch_size": "inputs per batch", "seq_len": "sequence length",
	"machine": "machine that ran it", "params": "all other parameters, as canonical text",
}

// PointFields returns columns of the point of a row.
func PointFields[Row any](of func(*Row) *Point, columns ...string) []answer.Field[Row] {
	fields := make([]answer.Field[Row], len(columns))
	for i, column := range answer.ColumnsNamed(columns...) {
		fields[i] = answer.Field[Row]{Column: column, Meaning: PointMeanings[column.Name], Of: func(row *Row) any { return of(row).Value(column.Name) }}
	}
	return fields
}
