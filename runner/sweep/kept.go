package sweep

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Kept is a sweep file with the settings of the command line written into it. Read without a command line, it gives the same points
// and settings. The result has no presets.
func Kept(src []byte, o Overrides) ([]byte, error) {
	file, err := origin{name: "sweep", lines: true}.load(src)
	if err != nil {
		return nil, err
	}
	l := &layered{file: file, from: map[*yaml.Node]string{}, others: &origins{map[*yaml.Node]origin{}}}
	if err := l.readSet(o.Set); err != nil {
		return nil, err
	}
	top := file.Node
	for _, f := range l.over {
		top = merged(top, f.Node)
	}
	over := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} // all options are one layer
	for _, k := range keys {
		if text, given := o.Given[k.Name]; given {
			n, err := k.node(text)
			if err != nil {
				return nil, err
			}
			over.Content = append(over.Content, mapNode(0, k.Name, n).Content...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Params)) {
		from := origin{name: "-P " + name}
		if slices.Contains(labels, name) {
			return nil, from.errorf(0, "selects what is measured: remove the others from the command line instead")
		}
		list, err := from.load([]byte("[" + o.Params[name] + "]"))
		if err != nil {
			return nil, err
		}
		if own := withAxis(top, name, list.Node); own != nil {
			top = own
			continue
		}
		over = mergedMaps(over, mapNode(0, "grid", mapNode(0, name, list.Node)), "")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Tags)) {
		over = mergedMaps(over, mapNode(0, "tags", mapNode(0, name, textNode(0, Literal(o.Tags[name])))), "")
	}
	return printable(merged(top, over))
}

// printable writes a document in characters that can be printed: others are escapes in double quotes.
func printable(document *yaml.Node) ([]byte, error) {
	isOther := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	var quote func(*yaml.Node)
	quote = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, isOther) {
			n.Style = yaml.DoubleQuotedStyle
		}
		for _, child := range n.Content {
			quote(child)
		}
	}
	quote(document)
	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if isOther(r) {
			fmt.Fprintf(&out, `\U%08x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes(), nil
}

// withAxis is a file with other values of an axis that some of its variants have; nil: none has it.
func withAxis(top *yaml.Node, name string, values *yaml.Node) *yaml.Node {
	variants := memberOf(top, "variants")
	if variants == nil || variants.Kind != yaml.MappingNode {
		return nil
	}
	found := false
	changed := mapNode(variants.Line, "", nil)
	changed.Content = slices.Clone(variants.Content)
	for i := 1; i < len(changed.Content); i += 2 {
		if grid := memberOf(changed.Content[i], "grid"); grid != nil && memberOf(grid, name) != nil {
			changed.Content[i] = mergedMaps(changed.Content[i], mapNode(0, "grid", mergedMaps(grid, mapNode(0, name, values), "grid")), "")
			found = true
		}
	}
	if !found {
		return nil
	}
	return mergedMaps(without(top, "variants"), mapNode(variants.Line, "variants", changed), "")
}

// node is the value of a key as a file has it, of the text of its option.
func (k Key) node(text string) (*yaml.Node, error) {
	if k.Verbatim {
		return k.verbatim(text), nil
	}
	isMany := slices.ContainsFunc(k.Value.Among, func(v Value) bool { return v.Kind == List })
	if isMany {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for word := range strings.SplitSeq(text, ",") {
			if word != "" {
				list.Content = append(list.Content, textNode(0, word))
			}
		}
		return list, nil
	}
	if k.Value.Kind == Text {
		return textNode(0, text), nil
	}
	f, err := origin{name: "--" + k.OptionName()}.load([]byte(text))
	return f.Node, err
}
