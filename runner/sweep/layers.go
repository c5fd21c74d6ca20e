package sweep

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/schema"
)

// The layers of a sweep. Each overrides those before it. The first two are outside of the sweep: see Defaults. get_config of a
// Python benchmark is between layerBenchmark and layerVariant. The name of a preset follows its layer: "preset quick".
const (
	LayerProject     = "project"
	LayerEnvironment = "environment"

	layerSweep     = "sweep"
	layerBenchmark = "benchmark"
	layerVariant   = "variant"
	layerPreset    = "preset"
	layerFlag      = "flag"
)

// maxSections bounds benchmarks times variants, because each combination is read separately.
const maxSections = 10_000

// spreads are the keys for whose names the whole sweep is read once each. The name becomes the label.
var spreads = []struct{ key, label, layer string }{
	{"benchmarks", "benchmark", layerBenchmark}, {"variants", "variant", layerVariant},
}

// layered is a sweep file with its layers.
type layered struct {
	file   field
	top    *yaml.Node                   // the file without its layers
	names  map[string][]member          // by spread, in the order of the file: the names that the command line selects
	all    map[string][]member          // by spread, all names
	found  []foundBenchmark             // the benchmarks that discover found; nil: there is no discover
	left   []discover.Left              // the files that discover did not take
	facts  map[string]map[string]string // about those that it took, by path
	chosen map[string]bool              // spreads from which the command line selects
	over   []field                      // the requested presets, and the values of --set
	from   map[*yaml.Node]string        // the layer of every node that is not of the sweep itself
	others *origins                     // the origins of nodes that are not in the file

	unclear map[*yaml.Node]string // see document.unclear
}

// readLayers returns the plain documents of a file: one for each benchmark and variant, with merged layers, or a single one.
func readLayers(file field, o Overrides, targets []target) ([]*document, error) {
	l := &layered{
		file: file, names: map[string][]member{}, all: map[string][]member{}, chosen: map[string]bool{},
		from: map[*yaml.Node]string{}, others: &origins{map[*yaml.Node]origin{}}, unclear: map[*yaml.Node]string{}, facts: map[string]map[string]string{},
	}
	keys, err := file.known("", keyNames(Keys()))
	if err != nil {
		return nil, err
	}
	l.top = hoisted(without(without(file.Node, "presets"), "discover"))
	if err := l.readDiscover(keys, o); err != nil {
		return nil, err
	}
	for _, s := range spreads {
		if err := l.readSpread(keys, s.key, s.label, o); err != nil {
			return nil, err
		}
		l.top = without(l.top, s.key)
		l.markSpread(file.Node, s.key, s.layer)
	}
	if err := l.readPresets(keys["presets"], o.Presets); err != nil {
		return nil, err
	}
	if err := l.readSet(o.Set); err != nil {
		return nil, err
	}
	l.putUnder(o.Defaults)
	return l.documents(o, targets)
}

// readSpread reads the names under benchmarks or variants, and keeps those that the command line selects. If discover found
// benchmarks, the names must be among them, and the file may add keys to them.
func (l *layered) readSpread(keys map[string]field, key, label string, o Overrides) error {
	f, names := keys[key], l.foundNames(key)
	if f.given() {
		if other := keys[label]; other.given() {
			return other.errorf("cannot be combined with %s (line %d): use one of them", key, f.line)
		}
		over, err := readOverriding(f, names)
		if err != nil {
			return err
		}
		if len(over) == 0 {
			return f.errorf("is empty")
		}
		if names == nil {
			names = over
		} else {
			l.putOver(over)
		}
	}
	l.all[key], l.names[key] = names, names
	selected, given := o.Params[label]
	if !given || names == nil {
		return nil
	}
	l.chosen[key], l.names[key] = true, nil
	option := origin{name: "-P " + label}
	list, err := option.load([]byte("[" + selected + "]"))
	if err != nil {
		return err
	}
	for _, item := range list.items() {
		at := slices.IndexFunc(names, func(m member) bool { return m.key == item.Value })
		if at < 0 {
			return item.errorf("%s is not one of the %s: %s", item.got(), key, remedy(item.Value, memberNames(names)))
		}
		l.names[key] = append(l.names[key], names[at])
	}
	return nil
}

// readOverriding reads a map from names to the keys that each of them overrides. known are the allowed names; nil: any.
func readOverriding(f field, known []member) ([]member, error) {
	members, err := f.members(f.what + ".")
	if err != nil {
		return nil, err
	}
	for i, m := range members {
		if known != nil && !slices.ContainsFunc(known, func(k member) bool { return k.key == m.key }) {
			return nil, m.value.errorf("is not one of the %s: %s", lastWord(f.what), remedy(m.key, memberNames(known)))
		}
		if m.value.ShortTag() == "!!null" {
			members[i].value.Node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: m.value.Line}
			continue
		}
		members[i].value.Node = hoisted(m.value.Node)
		if err := members[i].value.checkOverriding(); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// checkOverriding refuses keys that apply to the whole sweep.
func (f field) checkOverriding() error {
	prefix := f.what
	if prefix != "" {
		prefix += "."
	}
	members, err := f.members(prefix)
	if err != nil {
		return err
	}
	for _, m := range members {
		whole := slices.ContainsFunc(keys, func(k Key) bool { return k.Whole && k.Name == m.key })
		suite := m.key == "timeouts" && memberOf(m.value.Node, "suite") != nil
		if whole || suite {
			return m.value.errorf("applies to the whole sweep: move it to the top of the file or into a preset")
		}
	}
	_, err = f.known(prefix, overridingKeys())
	return err
}

// overridingKeys are the keys that may stand under a name of benchmarks or variants.
func overridingKeys() (names []string) {
	for _, k := range keys {
		if !k.Whole {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return names
}

func memberNames(members []member) (names []string) {
	for _, m := range members {
		names = append(names, m.key)
	}
	return names
}

func lastWord(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// readPresets checks all presets and keeps the requested ones, in the order of the request.
func (l *layered) readPresets(f field, names []string) error {
	var presets []member
	if f.given() {
		var err error
		if presets, err = f.members("presets."); err != nil {
			return err
		}
	}
	for i, p := range presets {
		presets[i].value.Node = hoisted(p.value.Node)
		if err := l.checkOver(presets[i].value, p.value.what+"."); err != nil {
			return err
		}
	}
	for _, name := range names {
		at := slices.IndexFunc(presets, func(p member) bool { return p.key == name })
		if at < 0 {
			return origin{name: "--preset " + shorten(name)}.errorf(0, "there is no such preset in %s: %s", l.file.name, remedy(name, memberNames(presets)))
		}
		l.mark(presets[at].value.Node, layerPreset+" "+name)
		l.over = append(l.over, presets[at].value)
	}
	return nil
}

// checkOver refuses keys that are not allowed in presets and --set.
func (l *layered) checkOver(f field, prefix string) error {
	known := slices.DeleteFunc(keyNames(Keys()), func(name string) bool { return name == "presets" || name == "discover" })
	keys, err := f.known(prefix, known)
	if err != nil {
		return err
	}
	for _, s := range spreads {
		if in := keys[s.key]; in.given() {
			names := l.all[s.key]
			if names == nil {
				return in.errorf("the sweep has no %s", s.key)
			}
			if _, err := readOverriding(in, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSet reads the values of --set, KEY=VALUE, in order.
func (l *layered) readSet(words []string) error {
	for _, word := range words {
		path, text, found := strings.Cut(word, "=")
		from := origin{name: "--set " + shorten(path)}
		if !found || path == "" {
			return origin{name: "--set " + shorten(word)}.errorf(0, "want KEY=VALUE")
		}
		value, err := from.load([]byte(text))
		if err != nil {
			return err
		}
		node := value.Node
		for _, key := range slices.Backward(strings.Split(path, ".")) {
			name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
			node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{name, node}}
		}
		l.mark(node, layerFlag)
		l.belongs(node, from)
		over := field{hoisted(node), from, "", 0}
		if err := l.checkOver(over, ""); err != nil {
			return err
		}
		l.over = append(l.over, over)
	}
	return nil
}

// belongs notes the origin of nodes that are not from the file.
func (l *layered) belongs(n *yaml.Node, to origin) {
	l.others.of[n] = to
	for _, child := range n.Content {
		l.belongs(child, to)
	}
}

// mark notes the layer of nodes.
func (l *layered) mark(n *yaml.Node, layer string) {
	l.from[n] = layer
	for _, child := range n.Content {
		l.mark(child, layer)
	}
}

func (l *layered) markSpread(n *yaml.Node, key, layer string) {
	if spread := memberOf(n, key); spread != nil {
		for _, child := range spread.Content {
			l.mark(child, layer)
		}
	}
}

// combination is a benchmark and one of its variants. Either may be missing.
type combination struct {
	of        []member // the benchmark, if it has a name, and the variant, if there are variants
	benchmark foundBenchmark
	fault     string // why its file cannot run; empty: nothing is known
}

// documents are the plain documents of all benchmarks and variants.
func (l *layered) documents(o Overrides, targets []target) ([]*document, error) {
	combinations := l.combinations()
	if len(combinations) > maxSections {
		return nil, l.file.errorf("%d benchmarks x variants: want at most %d", len(combinations), maxSections)
	}
	var documents []*document
	for _, c := range combinations {
		d, err := l.documentOf(c, o)
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	documents[0].left, documents[0].facts = l.left, l.facts
	documents[0].alone = len(documents) == 1
	shareScales(documents, targets)
	shareAxes(documents)
	return documents, nil
}

// documentOf is the document of a combination. If the settings beside its file are wrong, they are left out.
func (l *layered) documentOf(c combination, o Overrides) (*document, error) {
	config := c.benchmark.config
	plain, err := l.document(c, nil, o)
	if err != nil || config == nil {
		return plain, err
	}
	d, err := l.document(c, config, o)
	if err != nil {
		plain.fault = err.Error()
		return plain, nil
	}
	d.instead = plain
	return d, nil
}

// combinations are all pairs of a benchmark and one of its variants. Either may be missing.
func (l *layered) combinations() (all []combination) {
	shared := l.names["variants"]
	if len(l.foundVariants()) > 0 { // those belong to their benchmarks
		shared = nil
	}
	for _, b := range l.benchmarks() {
		var of []member
		if b.key != "" {
			of = append(of, member{"benchmark", b.value.named(b.key)})
		}
		variants := b.variants
		if len(variants) == 0 {
			variants = shared
		}
		if len(variants) == 0 {
			all = append(all, combination{of, b, cmp.Or(b.fault, b.faults[""])})
		}
		for _, v := range variants {
			if len(b.variants) == 0 || slices.ContainsFunc(l.names["variants"], func(m member) bool { return m.key == v.key }) {
				of := append(slices.Clip(of), member{"variant", v.value.named(v.key)})
				all = append(all, combination{of, b, cmp.Or(b.fault, b.faults[v.key])})
			}
		}
	}
	return all
}

// benchmarks are those that the command line selects; a single one without a name if the sweep has no names.
func (l *layered) benchmarks() (all []foundBenchmark) {
	for _, b := range l.found {
		if slices.ContainsFunc(l.names["benchmarks"], func(m member) bool { return m.key == b.key }) {
			all = append(all, b)
		}
	}
	if l.found != nil {
		return all
	}
	for _, m := range l.names["benchmarks"] {
		all = append(all, foundBenchmark{member: m})
	}
	if all == nil {
		all = []foundBenchmark{{}}
	}
	return all
}

// named is the value of a name under benchmarks or variants, with the name.
func (f field) named(name string) field {
	f.what = name
	return f
}

// document merges the layers of a combination. config are the settings that stand beside its file; nil: none do.
func (l *layered) document(c combination, config *yaml.Node, o Overrides) (*document, error) {
	of, node := c.of, l.top
	over := func(f *yaml.Node) {
		if f != nil && f.Kind == yaml.MappingNode {
			node = merged(node, f)
		}
	}
	for _, m := range of {
		over(m.value.Node)
		if m.key == "benchmark" {
			over(config)
			over(c.benchmark.over)
		}
	}
	for _, f := range l.over {
		plain := f.Node
		for _, s := range spreads {
			plain = without(plain, s.key)
		}
		over(plain)
		for _, m := range of {
			if in := memberOf(f.Node, spreadKey(m.key)); in != nil {
				if own := memberOf(in, m.value.what); own != nil {
					over(hoisted(own))
				}
			}
		}
	}
	d := &document{over: o, from: l.from, found: l.found != nil, fault: c.fault, unclear: l.unclear, spread: map[string][]string{}, chosen: map[string]bool{}}
	for _, m := range of {
		label := m.value.what
		if l.found != nil { // names of files have no axes in them
			label = literalBraces.Replace(label)
		}
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: label, Line: m.value.line}
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m.key, Line: m.value.line}
		over(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, name}})
		d.of = append(d.of, m.key+" "+m.value.what)
		d.spread[m.key] = memberNames(l.all[spreadKey(m.key)])
		d.chosen[m.key] = l.chosen[spreadKey(m.key)]
		d.also = append(d.also, l.alsoCalled(m)...)
	}
	d.file = l.file
	d.file.Node = node
	if len(l.others.of) > 0 {
		d.file.others = l.others
	}
	var err error
	if d.keys, err = d.file.known("", keyNames(Keys())); err == nil {
		d.startCold()
	}
	return d, err
}

// spreadKey is the key whose names become the label.
func spreadKey(label string) string {
	for _, s := range spreads {
		if s.label == label {
			return s.key
		}
	}
	return ""
}

// shareAxes records in each document which axes only other documents have. What names such an axis does not apply to it.
func shareAxes(documents []*document) {
	all := map[string]bool{}
	for _, d := range documents {
		for _, a := range axesIn(d.file.Node) {
			all[a.column] = true
		}
		for column := range d.unscaled {
			all[column] = true
		}
	}
	for _, d := range documents {
		for ; d != nil; d = d.instead {
			d.elsewhere = maps.Clone(all)
			for _, a := range axesIn(d.file.Node) {
				delete(d.elsewhere, a.column)
			}
		}
	}
}

// concerns reports whether an axis that the command line or an entry names belongs to the document, or to no document.
func (d *document) concerns(name string) bool { return !d.elsewhere[schema.CanonicalAlias(name)] }
