package sweep

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
)

// configWords are the words of bench.yaml files of kernels that are no keys of a sweep, and what each of them becomes.
var configWords = map[string]func(l *layered, value field) (key string, n *yaml.Node, err error){
	"problem_size": func(_ *layered, f field) (string, *yaml.Node, error) { return "params", f.Node, nil }, // see sizeOf
	"precisions": func(_ *layered, f field) (string, *yaml.Node, error) {
		return "grid", mapNode(f.line, "precision", f.Node), nil
	},
	"backends": func(_ *layered, f field) (string, *yaml.Node, error) {
		return "grid", mapNode(f.line, "backend", f.Node), nil
	},
	"tolerances":      tolerances,
	"skip_conditions": skipConditions,
}

// readConfig reads the settings that stand beside a benchmark: keys of a sweep, or the words of configWords. It returns nil if there are none
// in the file.
func (l *layered) readConfig(b discover.Benchmark, root fs.FS) (*yaml.Node, error) {
	file := b.Config
	from := origin{name: file, lines: true}
	src, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, from.errorf(0, "reading it: %v", err)
	}
	if noSettings(src) {
		return nil, nil
	}
	f, err := from.load(src)
	if err != nil {
		return nil, err
	}
	members, err := f.members("")
	if err != nil {
		return nil, err
	}
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: f.line}
	words := append(slices.Sorted(maps.Keys(configWords)), "metadata", discover.KeyObject)
	if _, err := f.known("", append(words, keyNames(keys)...)); err != nil {
		return nil, err
	}
	for _, m := range members {
		key, value := m.key, m.value.Node
		if value.ShortTag() == "!!null" { // a word that somebody has left empty says nothing
			continue
		}
		switch translate, is := configWords[key]; {
		case key == "iterations" && m.value.Kind == yaml.MappingNode:
			out = mergedMaps(out, timedIterations(m.value), "")
			continue
		case key == "metadata": // about the kernel, and not how it is run
			continue
		case key == discover.KeyObject: // which discover has read
			if name, err := m.value.text(); err != nil || !pythonName.MatchString(name) {
				return nil, m.value.want("the name of a function or class")
			}
			continue
		case key == sizeWord:
			key, value = "params", sizeOf(m.value, b, root)
			if value.Kind == yaml.MappingNode && indexOf(value, "benchmark") >= 0 { // a function that takes it gets the name of its benchmark
				return nil, m.value.errorf("benchmark is the name of the benchmark: call the parameter something else")
			}
		case is:
			if key, value, err = translate(l, m.value); err != nil {
				return nil, err
			}
		}
		out = mergedMaps(out, mapNode(m.value.line, key, value), "")
	}
	l.belongs(out, from)
	layer := field{hoisted(out), from, "", f.line}
	return layer.Node, layer.checkOverriding()
}

// noSettings reports whether a YAML file has only blank lines and comments.
func noSettings(src []byte) bool {
	for line := range bytes.Lines(src) {
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// sizeWord is the word for the size of a problem, and the usual name of the parameter that has it.
const sizeWord = "problem_size"

// sizeOf are the parameters that a size of a problem is. A kernel that takes the parameter problem_size, and none with the name of a member, gets
// all of it: the number of {size: N}, or else the value as it is. Each member is a parameter for any other kernel.
func sizeOf(f field, b discover.Benchmark, root fs.FS) *yaml.Node {
	whole := mapNode(f.line, sizeWord, f.Node)
	if f.Kind != yaml.MappingNode {
		return whole
	}
	var takes *discover.Parameters
	if len(b.Variants) > 0 && path.Ext(b.Variants[0].File) == pythonSuffix {
		takes = discover.ParametersOf(root, b.Variants[0].File, b.Variants[0].Object)
	}
	if takes == nil || !slices.Contains(takes.Names, sizeWord) {
		return f.Node
	}
	for pair := range slices.Chunk(f.Content, 2) {
		if slices.Contains(takes.Names, pair[0].Value) {
			return f.Node
		}
	}
	if size := memberOf(f.Node, "size"); size != nil && len(f.Content) == 2 {
		return mapNode(f.line, sizeWord, size)
	}
	return whole
}

// timedIterations are the counts of {warmup: 3, timed: 30}.
func timedIterations(f field) *yaml.Node {
	out := *f.Node
	out.Content = slices.Clone(f.Content)
	if at := indexOf(&out, "timed"); at >= 0 {
		name := *out.Content[at]
		name.Value, out.Content[at] = "iterations", &name
	}
	return &out
}

// tolerances are what metrics of accuracy may be at most.
func tolerances(_ *layered, f field) (string, *yaml.Node, error) {
	members, err := f.members("tolerances.")
	if err != nil {
		return "", nil, err
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: f.line}
	for _, m := range members {
		limit, err := m.value.canonical()
		if err != nil {
			return "", nil, err
		}
		list.Content = append(list.Content, textNode(m.value.line, m.key+" <= "+limit))
	}
	return "check", list, nil
}

// skipConditions are entries of skip_if: equal axes, and a check in Python. If the meaning of the check is not known, the entry is unclear
// where the axes are equal.
func skipConditions(l *layered, f field) (string, *yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: f.line}
	for _, item := range f.items() {
		values, err := item.known("skip_conditions.", []string{"backend", "precision", "reason", "check"})
		if err != nil {
			return "", nil, err
		}
		var conditions []string
		for _, axis := range []string{"backend", "precision"} {
			if v := values[axis]; v.given() {
				text, err := v.text()
				if err != nil {
					return "", nil, err
				}
				conditions = append(conditions, axis+" == "+strconv.Quote(text))
			}
		}
		unclear := ""
		if check := values["check"]; check.given() {
			text, err := check.scalar()
			if err != nil {
				return "", nil, err
			}
			if known, is := ofPython(text); is {
				conditions = append(conditions, known)
			} else {
				unclear = check.errorf("%s is Python whose meaning is not known here: write it as skip_if with when", check.got()).Error()
			}
		} else if len(conditions) == 0 {
			return "", nil, item.errorf("want backend, precision or check")
		}
		entry := mapNode(item.line, "when", textNode(item.line, cmp.Or(strings.Join(conditions, " and "), "true")))
		if reason := values["reason"]; reason.given() {
			entry = mergedMaps(entry, mapNode(reason.line, "reason", reason.Node), "")
		}
		if unclear != "" {
			l.unclear[entry] = unclear
		}
		list.Content = append(list.Content, entry)
	}
	return "skip_if", list, nil
}

func textNode(line int, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: line}
}

// mapNode is a map of one key.
func mapNode(line int, key string, value *yaml.Node) *yaml.Node {
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line, Content: []*yaml.Node{name, value}}
}
