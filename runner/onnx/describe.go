package onnx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"path"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Description describes the model in a file.
type Description struct {
	// Precision is the format of most of the model's weights or, if it has none, of its first input, as a canonical name of schema;
	// empty if it has no such name.
	Precision string
	// Weights is the number of weights in each format: of the tensors in the file that have more than one element, without integers of
	// 16 bits and more, and without the scales and zero points of quantised weights. Packed weights are counted in their own format. The
	// formats are words such as fp16, int4 and, beyond the canonical ones, int2 or nf4.
	Weights map[string]uint64
	// Opset is the version of the default operators; 0 if the file has none.
	Opset uint64
	// External are the files with the model's external data, by their names in the file: relative to its own folder, with slashes,
	// without duplicates, in ascending order. They need not exist, or be below that folder.
	External []string
	// AccuracyLevels is the number of MatMulNBits nodes by their accuracy_level, which chooses the format in which they compute.
	AccuracyLevels map[int64]int
}

// Parameters returns the number of weights in all formats.
func (d Description) Parameters() (n uint64) {
	for _, count := range d.Weights {
		n = plus(n, count)
	}
	return n
}

// deepest is the maximum nesting of graphs that is read. ONNX Runtime reads a third of it.
const deepest = 100

// Describe reads an ONNX file: the whole graph with the bodies of its loops, branches and functions, but no weights. Other files are an
// error.
func Describe(r io.Reader) (Description, error) {
	d := describer{
		wire: wire{from: bufio.NewReaderSize(r, 64<<10)}, uses: map[name]use{}, constants: map[string]bool{},
		external: map[string]bool{}, levels: map[int64]int{},
	}
	err := schema.Catch(func() {
		d.message(math.MaxInt64, func(number, _ uint64, size int64) {
			switch number {
			case 7:
				d.graphs = true
				d.graph(size, place{main: true})
			case 8: // opset_import
				d.operators(size)
			case 25: // a function, which has its own names
				d.functions++
				d.function(size, place{scope: d.functions})
			}
		})
	})
	if err != nil {
		return Description{}, fmt.Errorf("reading an ONNX file: %w", err)
	}
	if !d.graphs {
		return Description{}, errors.New("reading an ONNX file: it has no graph")
	}
	return d.description(), nil
}

// describer collects what Describe returns.
type describer struct {
	wire

	graphs    bool
	functions int
	opset     uint64
	weights   []weight // as they came
	uses      map[name]use
	external  map[string]bool
	levels    map[int64]int
	// constants are the tensors of the main graph: old files list them among the inputs, too.
	constants map[string]bool
	inputs    []input
}

// place is the position of a node.
type place struct {
	scope int  // 0: the main graph and the graphs within it; else a function
	depth int  // of graphs
	main  bool // the main graph itself
}

// name is the name of a tensor in its scope.
type name struct {
	scope int
	text  string
}

// weight is a tensor of the file.
type weight struct {
	name  name
	kind  uint64 // as in TensorProto
	count uint64
}

// input is an input of the model.
type input struct {
	name string
	kind uint64
}

// description returns the answer of Describe.
func (d *describer) description() Description {
	weights, order := map[string]uint64{}, []string{}
	for _, w := range d.weights {
		format, count, is := d.uses[w.name].of(w)
		if !is {
			continue
		}
		if _, known := weights[format]; !known {
			order = append(order, format)
		}
		weights[format] = plus(weights[format], count)
	}
	commonest := ""
	for _, format := range order {
		if commonest == "" || weights[format] > weights[commonest] {
			commonest = format
		}
	}
	if commonest == "" {
		commonest = d.inputFormat()
	}
	return Description{
		Precision: canonical(commonest), Weights: weights, Opset: d.opset,
		External: slices.Sorted(maps.Keys(d.external)), AccuracyLevels: d.levels,
	}
}

// inputFormat returns the format of the first input that has one.
func (d *describer) inputFormat() string {
	for _, in := range d.inputs {
		if format := formats[in.kind]; format != "" && !d.constants[in.name] {
			return format
		}
	}
	return ""
}

// operators reads an OperatorSetIdProto.
func (d *describer) operators(size int64) {
	domain, version := "", uint64(0)
	d.message(size, func(number, value uint64, size int64) {
		switch number {
		case 1:
			domain = d.text(size)
		case 2:
			version = value
		}
	})
	if domain == "" || domain == defaultDomain {
		d.opset = version
	}
}

// function reads a FunctionProto.
func (d *describer) function(size int64, at place) {
	d.message(size, func(number, _ uint64, size int64) {
		if number == 7 {
			d.node(size, at)
			return
		}
	})
}

// graph reads a GraphProto.
func (d *describer) graph(size int64, at place) {
	if at.depth++; at.depth > deepest {
		panic(fmt.Errorf("graphs in graphs, more than %d deep", deepest))
	}
	d.message(size, func(number, _ uint64, size int64) {
		switch {
		case number == 1:
			d.node(size, place{scope: at.scope, depth: at.depth})
			return
		case number == 5 || number == 15: // initializer, sparse_initializer
			read := d.tensor
			if number == 15 {
				read = d.sparse
			}
			w := read(size, at.scope)
			d.weights = append(d.weights, w)
			if at.main {
				d.constants[w.name.text] = true
			}
			return
		case number == 11 && at.main:
			d.inputs = append(d.inputs, d.input(size))
			return
		}
	})
}

// sparse reads a SparseTensorProto. Its weights are the non-zero ones.
func (d *describer) sparse(size int64, scope int) (w weight) {
	d.message(size, func(number, _ uint64, size int64) {
		if number == 1 {
			w = d.tensor(size, scope)
		}
	})
	return w
}

// tensor reads a TensorProto without its numbers.
func (d *describer) tensor(size int64, scope int) (w weight) {
	w = weight{name: name{scope: scope}, count: 1}
	external, location := false, ""
	d.message(size, func(number, value uint64, size int64) {
		switch {
		case number == 1 && size == 0: // a dimension
			w.count = times(w.count, value)
		case number == 1: // dimensions, packed
			for end := d.at + size; d.at < end; {
				w.count = times(w.count, d.varint())
			}
		case number == 2:
			w.kind = value
		case number == 8:
			w.name.text = d.text(size)
		case number == 13: // an entry of external_data
			d.location(size, &location)
		case number == 14: // data_location
			external = value == 1
		}
	})
	if external && location != "" {
		d.external[path.Clean(location)] = true
	}
	return w
}

// location reads a StringStringEntryProto, which may be the location of external data.
func (d *describer) location(size int64, to *string) {
	key, value := "", ""
	d.message(size, func(number, _ uint64, size int64) {
		switch number {
		case 1:
			key = d.text(size)
		case 2:
			value = d.text(size)
		}
	})
	if key == "location" {
		*to = value
	}
}

// input reads name and element type of a ValueInfoProto.
func (d *describer) input(size int64) (in input) {
	d.message(size, func(number, _ uint64, size int64) {
		switch number {
		case 1:
			in.name = d.text(size)
		case 2: // TypeProto
			d.message(size, func(number, _ uint64, size int64) {
				if number != 1 { // tensor_type
					return
				}
				d.message(size, func(number, value uint64, _ int64) {
					if number == 1 {
						in.kind = value
					}
				})
			})
		}
	})
	return in
}

// operation is the part of a NodeProto that determines the format of weights.
type operation struct {
	domain, op string
	inputs     []string // the first ones
	output     string   // the first one
	integers   map[string]int64
	context    string   // the text of the attribute ep_cache_context
	values     []weight // of a Constant
}

// maxInputs bounds the inputs of a node that are kept: no operator has weights or scales further back.
const maxInputs = 16

// node reads a NodeProto with the graphs in it, and records its effect on weights.
func (d *describer) node(size int64, at place) {
	n := operation{integers: map[string]int64{}}
	outputs := 0
	d.message(size, func(number, _ uint64, size int64) {
		var text string
		switch {
		case number == 1 && len(n.inputs) < maxInputs:
			text = d.text(size)
			n.inputs = append(n.inputs, text)
		case number == 2 && outputs == 0:
			n.output = d.text(size)
			outputs++
		case number == 4:
			n.op = d.text(size)
		case number == 5:
			d.attribute(size, at, &n)
		case number == 7:
			n.domain = d.text(size)
		}
	})
	d.keep(&n, at.scope)
}

// attribute reads an AttributeProto. Its name comes before its value in every file that is written in the order of its fields.
func (d *describer) attribute(size int64, at place, n *operation) {
	title := ""
	floats := weight{kind: kindFloat}
	d.message(size, func(number, value uint64, size int64) {
		var w weight
		switch number {
		case 1:
			title = d.text(size)
		case 3:
			n.integers[title] = int64(value)
		case 4: // a text, which may be long
			if title == "ep_cache_context" && size <= longestName {
				n.context = d.text(size)
			}
		case 5:
			w = d.tensor(size, at.scope)
			n.values = append(n.values, w)
		case 6, 11:
			d.graph(size, place{scope: at.scope, depth: at.depth})
		case 7: // floats, packed or one by one
			floats.count += uint64(size) / 4
		case 22:
			w = d.sparse(size, at.scope)
			n.values = append(n.values, w)
		}
	})
	if floats.count > 0 {
		n.values = append(n.values, floats)
	}
}

// keep records the effect of a node on weights.
func (d *describer) keep(n *operation, scope int) {
	if n.domain != "" && n.domain != defaultDomain && n.domain != microsoft {
		return
	}
	switch n.op {
	case "Constant":
		for _, w := range n.values {
			w.name = name{scope, n.output}
			d.weights = append(d.weights, w)
		}
	case "EPContext":
		if embedded, known := n.integers["embed_mode"]; known && embedded == 0 && n.context != "" {
			d.external[path.Clean(n.context)] = true
		}
	case "MatMulNBits":
		d.levels[n.integers["accuracy_level"]]++
	}
	q := quantised[n.op]
	for i, input := range n.inputs {
		switch at := (name{scope, input}); {
		case input == "":
		case q.scales&(1<<i) != 0:
			d.uses[at] = use{scale: true}
		case q.packed&(1<<i) != 0:
			d.uses[at] = q.use(n)
		}
	}
}

// plus and times add and multiply counts with saturation, because a file may state any count.
func plus(a, b uint64) uint64 {
	if sum, carry := bits.Add64(a, b, 0); carry == 0 {
		return sum
	}
	return math.MaxUint64
}

func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}
