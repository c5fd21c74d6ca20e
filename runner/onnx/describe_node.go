package onnx

import (
	"math"
	"math/bits"
	"path"
)

// operation is a NodeProto, as far as it says what the weights of a model are.
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

// node reads a NodeProto with the graphs in it, and keeps what it says.
func (d *describer) node(size int64, at place) error {
	n := operation{integers: map[string]int64{}}
	outputs := 0
	err := d.message(size, func(number, _ uint64, size int64) (err error) {
		var text string
		switch {
		case number == 1 && len(n.inputs) < maxInputs:
			text, err = d.text(size)
			n.inputs = append(n.inputs, text)
		case number == 2 && outputs == 0:
			n.output, err = d.text(size)
			outputs++
		case number == 4:
			n.op, err = d.text(size)
		case number == 5:
			err = d.attribute(size, at, &n)
		case number == 7:
			n.domain, err = d.text(size)
		}
		return err
	})
	d.keep(&n, at.scope)
	return err
}

// attribute reads an AttributeProto. Its name comes before its value in every file that is written in the order of its fields.
func (d *describer) attribute(size int64, at place, n *operation) error {
	title := ""
	floats := weight{kind: kindFloat}
	err := d.message(size, func(number, value uint64, size int64) (err error) {
		var w weight
		switch number {
		case 1:
			title, err = d.text(size)
		case 3:
			n.integers[title] = int64(value)
		case 4: // a text, which may be long
			if title == "ep_cache_context" && size <= longestName {
				n.context, err = d.text(size)
			}
		case 5:
			w, err = d.tensor(size, at.scope)
			n.values = append(n.values, w)
		case 6, 11:
			err = d.graph(size, place{scope: at.scope, depth: at.depth})
		case 7: // floats, packed or one by one
			floats.count += uint64(size) / 4
		case 22:
			w, err = d.sparse(size, at.scope)
			n.values = append(n.values, w)
		}
		return err
	})
	if floats.count > 0 {
		n.values = append(n.values, floats)
	}
	return err
}

// keep keeps what a node says.
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
		if embedded, said := n.integers["embed_mode"]; said && embedded == 0 && n.context != "" {
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

// plus and times are those of counts, which a file may state at will: what does not fit is the largest count.
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
