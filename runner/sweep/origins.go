package sweep

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// layerOf is the layer that a key comes from; empty: nothing says it. Of a map whose values come from several it is the
// topmost one.
func (d *document) layerOf(key string) string {
	_, replaced := d.over.Params[key]
	if replaced || d.option(key).given() || d.optionItems(key) != nil {
		return layerFlag
	}
	f := d.keys[key]
	if !f.given() {
		return ""
	}
	return topmost(d.from, f.Node)
}

// topmost is the highest of the layers of a value and of what is in it.
func topmost(from map[*yaml.Node]string, n *yaml.Node) string {
	highest := from[n]
	if highest == "" {
		highest = layerSweep
	}
	for _, child := range n.Content {
		if layer := topmost(from, child); rank(layer) > rank(highest) {
			highest = layer
		}
	}
	return highest
}

// rank orders layers: the higher wins.
func rank(layer string) int {
	kind, _, _ := strings.Cut(layer, " ")
	return slices.Index([]string{LayerProject, LayerEnvironment, layerSweep, layerBenchmark, layerVariant, layerPreset, layerFlag}, kind)
}

// decided reports whether a key comes from a layer that overrides get_config of a Python benchmark.
func (d *document) decided(key string) bool { return rank(d.layerOf(key)) > rank(layerBenchmark) }

// readOrigins notes where the settings come from that are stored with every run.
func (s *settings) readOrigins(d *document) error {
	for _, k := range keys {
		if k.Stored {
			note(&s.point.Origins, k.Name, d.layerOf(k.Name))
		}
	}
	return nil
}
