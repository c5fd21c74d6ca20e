package sweep

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Outline lists the names in a sweep file. Nothing is expanded, discovered or checked.
type Outline struct {
	Suite   string
	Axes    []OutlinedAxis // in the order of the file
	Presets []string
}

// OutlinedAxis is an axis with its values as written in the file.
type OutlinedAxis struct {
	Name   string
	Values []string
}

// OutlineOf reads the outline of a sweep file. For an incomplete file, it returns what can be read.
func OutlineOf(name string, src []byte) (Outline, error) {
	file, err := origin{name: name, lines: true}.load(src)
	if err != nil {
		return Outline{}, err
	}
	var o Outline
	for key, value := range pairs(file.Node) {
		switch key {
		case "suite":
			o.Suite = value.Value
		case "presets":
			o.Presets = keysOf(value)
		case "benchmarks", "variants":
			o.add(strings.TrimSuffix(key, "s"), keysOf(value)...)
		case "benchmark", "variant", "backend", "model":
			o.add(key, valuesOf(value)...)
		case "grid", "params", "scale":
			o.addAll(value)
		case "include":
			for _, entry := range value.Content {
				o.addAll(entry)
			}
		}
	}
	return o, nil
}

// addAll adds the axes of a map from names to values. repeats and tags are none.
func (o *Outline) addAll(axes *yaml.Node) {
	for name, value := range pairs(axes) {
		if name != "repeats" && name != "tags" {
			o.add(name, valuesOf(value)...)
		}
	}
}

// add adds values to an axis, each once.
func (o *Outline) add(name string, values ...string) {
	at := slices.IndexFunc(o.Axes, func(a OutlinedAxis) bool { return a.Name == name })
	if at < 0 {
		at = len(o.Axes)
		o.Axes = append(o.Axes, OutlinedAxis{Name: name})
	}
	axis := &o.Axes[at]
	for _, value := range values {
		if !slices.Contains(axis.Values, value) {
			axis.Values = append(axis.Values, value)
		}
	}
}

// pairs are the keys of a map with their values; of anything else none.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

func keysOf(n *yaml.Node) (names []string) {
	for name := range pairs(n) {
		names = append(names, name)
	}
	return names
}

// valuesOf are the values of an axis that one word can name: scalars, the keys of a map, and the name or path of a model.
func valuesOf(n *yaml.Node) []string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() != "!!null" {
			return []string{n.Value}
		}
	case yaml.SequenceNode:
		var values []string
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode {
				values = append(values, item.Value)
			}
		}
		return values
	case yaml.MappingNode:
		return keysOf(n)
	}
	return nil
}
