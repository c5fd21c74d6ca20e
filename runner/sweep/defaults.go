package sweep

import "go.yaml.in/yaml/v4"

// Defaults are default values for keys, from outside the sweep.
type Defaults struct {
	Layer string     // where a setting comes from: LayerProject, LayerEnvironment
	Name  string     // of the file or the variable, for errors
	Lines bool       // the nodes have lines of a file
	Keys  *yaml.Node // a map
}

// Load reads a YAML text by the rules of sweep files. Errors begin with name and line.
func Load(name string, text []byte) (*yaml.Node, error) {
	f, err := origin{name: name, lines: true}.load(text)
	return f.Node, err
}

// Thresholds reads thresholds in the format of sweep files: by metric, the text under which a threshold is stored.
func Thresholds(name string, n *yaml.Node) (map[string]string, error) {
	return field{n, origin{name: name, lines: true}, "thresholds", n.Line}.thresholds()
}

// putUnder puts defaults under the sweep, the first of them lowest.
func (l *layered) putUnder(all []Defaults) {
	under := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, d := range all {
		l.mark(d.Keys, d.Layer)
		l.belongs(d.Keys, origin{name: d.Name, lines: d.Lines, optional: true})
		under = merged(under, d.Keys)
	}
	if len(under.Content) > 0 {
		under.Line = l.top.Line
		l.top = merged(under, l.top)
	}
}

// startCold takes out the default warm-up and iterations of a project where the sweep has a cold start: the keys of the sweep itself win.
func (d *document) startCold() {
	cold := d.keys["cold_start"]
	if !cold.given() {
		return
	}
	is, err := cold.boolean()
	for _, key := range []string{"warmup", "iterations"} {
		if err == nil && is && d.keys[key].optional {
			delete(d.keys, key)
		}
	}
}

// Verbatim is a text for Defaults in which braces are literal.
func Verbatim(text string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: literalBraces.Replace(text), Line: line}
}

// DefaultKeys lists the keys that may have a default outside a sweep, in alphabetical order, in addition to thresholds. They do not
// conflict with other keys, and do not define what runs.
func DefaultKeys() []string {
	return []string{"iterations", "order", "python", "repeats", "timeout_multiplier", "timing", "warmup"}
}

// CheckDefault refuses an invalid value of one of DefaultKeys. what is the name in its error.
func CheckDefault(file, what, key string, n *yaml.Node) error {
	f := field{n, origin{name: file, lines: true}, what, n.Line}
	for _, k := range keys {
		if k.Name != key {
			continue
		}
		var err error
		switch v := k.Value; v.Kind {
		case Integer:
			_, err = f.integer(v.Min, v.Max, "a number")
		case Word:
			_, err = f.oneOf(v.Words)
		case Number:
			_, err = f.multiplier()
		}
		return err
	}
	return nil
}
