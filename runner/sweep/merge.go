package sweep

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// settingFlags are the options for what may stand in grid and is no axis.
var settingFlags = map[string]string{"repeats": "--repeats", "tags": "--tag"}

// rivals are keys that say the same in another way: what a layer says of one takes the place of what those below it say
// of the others.
var rivals = map[string][]string{
	"command":    {"file"},
	"file":       {"command", "wrapper"},
	"iterations": {"rel_error", "max_repeats"},
	"rel_error":  {"iterations"},
	"budget":     {"iterations"},
}

// modelBackends are the backends that run a model themselves; others are labels of a command or a file.
var modelBackends = []string{
	string(schema.ExecutorBuiltin), string(schema.ExecutorONNXRT), string(schema.ExecutorTorch), string(schema.ExecutorTensorRT),
}

// axisKeys are the maps whose keys are axes.
var axisKeys = []string{"params", "grid", "scale"}

// merged is a layer with another one on top: maps are merged, lists and single values are replaced. An axis is replaced as a whole, however
// and wherever it is written.
func merged(base, over *yaml.Node) *yaml.Node {
	for pair := range slices.Chunk(over.Content, 2) {
		for _, rival := range rivals[pair[0].Value] {
			base = without(base, rival)
		}
	}
	if runsModel(over) {
		for _, rival := range []string{"command", "wrapper", "file"} {
			base = without(base, rival)
		}
	}
	if ofAnotherKind(memberOf(over, "reference")) {
		for _, key := range referenceKinds(memberOf(base, "reference")) {
			base = without(base, "reference", key)
		}
	}
	if over := memberOf(over, "timeouts"); over != nil && memberOf(over, "measure") != nil {
		base = without(base, "timeout")
	}
	if memberOf(over, "timeout") != nil {
		base = without(base, "timeouts", "measure")
	}
	for _, said := range axesIn(over) {
		for _, old := range axesIn(base) {
			if old.column == said.column && !slices.Equal(old.path, said.path) {
				base = without(base, old.path...)
			}
		}
	}
	return mergedMaps(base, over, "")
}

// mergedMaps merges maps, and those in them but for axes. key is the one that they are the values of.
func mergedMaps(base, over *yaml.Node, key string) *yaml.Node {
	out := *base
	out.Content = slices.Clone(base.Content)
	for pair := range slices.Chunk(over.Content, 2) {
		name, value := pair[0], pair[1]
		at := indexOf(&out, name.Value)
		if at < 0 {
			out.Content = append(out.Content, name, value)
			continue
		}
		old := out.Content[at+1]
		if old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode && !slices.Contains(axisKeys, key) {
			if key == "metrics" {
				old = withoutReading(old, value)
			}
			if key == "inputs" {
				old = withoutContent(old, value)
			}
			value = mergedMaps(old, value, name.Value)
		}
		out.Content[at], out.Content[at+1] = name, value
	}
	return &out
}

// withoutReading is an entry of metrics without how it is read, if another one says that over it.
func withoutReading(entry, over *yaml.Node) *yaml.Node {
	if !slices.ContainsFunc(readings, func(key string) bool { return memberOf(over, key) != nil }) {
		return entry
	}
	for _, key := range readings {
		entry = without(entry, key)
	}
	return entry
}

// withoutContent is an entry of inputs without what the input holds, as far as another one says that in another way over it.
func withoutContent(entry, over *yaml.Node) *yaml.Node {
	says := func(keys []string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return memberOf(over, key) != nil })
	}
	if !slices.ContainsFunc(contents, says) {
		return entry
	}
	for _, keys := range contents {
		if says(keys) {
			continue
		}
		for _, key := range keys {
			entry = without(entry, key)
		}
	}
	return entry
}

// axisAt is an axis of a layer, by its column or name, and where it stands.
type axisAt struct {
	column string
	path   []string
}

// axesIn are the axes of a layer.
func axesIn(layer *yaml.Node) (axes []axisAt) {
	for _, label := range labels {
		if memberOf(layer, label) != nil {
			axes = append(axes, axisAt{label, []string{label}})
		}
	}
	for _, key := range axisKeys {
		in := memberOf(layer, key)
		if in == nil || in.Kind != yaml.MappingNode {
			continue
		}
		for pair := range slices.Chunk(in.Content, 2) {
			axes = append(axes, axisAt{schema.CanonicalAlias(pair[0].Value), []string{key, pair[0].Value}})
		}
	}
	return axes
}

// hoisted is a layer with the settings that stand in its grid at its top, where they win over those that it has there.
func hoisted(layer *yaml.Node) *yaml.Node {
	for setting := range settingFlags {
		grid := memberOf(layer, "grid")
		if grid == nil || grid.Kind != yaml.MappingNode {
			return layer
		}
		at := indexOf(grid, setting)
		if at < 0 {
			continue
		}
		layer = without(without(layer, "grid", setting), setting)
		layer.Content = append(layer.Content, grid.Content[at], grid.Content[at+1])
	}
	return layer
}

// indexOf is the place of a key in the content of a map, -1 where it is not there.
func indexOf(n *yaml.Node, key string) int {
	if n.Kind == yaml.MappingNode {
		for at := 0; at < len(n.Content); at += 2 {
			if n.Content[at].Value == key {
				return at
			}
		}
	}
	return -1
}

// memberOf is the value of a key of a map, nil where it is not there.
func memberOf(n *yaml.Node, key string) *yaml.Node {
	if at := indexOf(n, key); at >= 0 {
		return n.Content[at+1]
	}
	return nil
}

// without is a map without what stands at a path of keys; the map itself stays as it is.
func without(n *yaml.Node, path ...string) *yaml.Node {
	out := *n
	out.Content = slices.Clone(n.Content)
	at := indexOf(&out, path[0])
	switch {
	case at < 0:
	case len(path) == 1:
		out.Content = slices.Delete(out.Content, at, at+2)
	default:
		out.Content[at+1] = without(out.Content[at+1], path[1:]...)
	}
	return &out
}

// runsModel reports whether a layer makes a backend run a model.
func runsModel(layer *yaml.Node) bool {
	backend := memberOf(layer, "backend")
	return backend != nil && backend.Kind == yaml.ScalarNode && slices.Contains(modelBackends, backend.Value) &&
		memberOf(layer, "model") != nil && memberOf(layer, "command") == nil && memberOf(layer, "file") == nil
}

// ofAnotherKind reports whether a layer sets the reference itself, and not only tolerances.
func ofAnotherKind(reference *yaml.Node) bool { return len(referenceKinds(reference)) > 0 }

// referenceKinds are the keys of reference that say what is compared with.
func referenceKinds(reference *yaml.Node) (keys []string) {
	if reference == nil || reference.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(reference.Content, 2) {
		if key := pair[0].Value; key != "rtol" && key != "atol" {
			keys = append(keys, key)
		}
	}
	return keys
}
