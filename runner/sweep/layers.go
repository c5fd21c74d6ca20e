package sweep

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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

// expansions are the keys whose entries each read the whole sweep once. The name of the entry becomes the label.
var expansions = []struct{ key, label, layer string }{
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
	facts  map[string]map[string]string // by path: facts about the selected ones
	chosen map[string]bool              // expansions from which the command line selects
	over   []field                      // the requested presets, and the values of --set
	from   map[*yaml.Node]string        // the layer of every node that is not of the sweep itself
	others *origins                     // the origins of nodes that are not in the file

	unclear map[*yaml.Node]string // see document.unclear
}

// readLayers returns the plain documents of a file: one for each benchmark and variant, with merged layers, or a single one.
func readLayers(file field, o Overrides, targets []target) []*document {
	l := &layered{
		file: file, names: map[string][]member{}, all: map[string][]member{}, chosen: map[string]bool{},
		from: map[*yaml.Node]string{}, others: &origins{map[*yaml.Node]origin{}}, unclear: map[*yaml.Node]string{}, facts: map[string]map[string]string{},
	}
	keys := file.known("", keyNames(Keys()))
	l.top = flattenLayer(without(without(file.Node, "presets"), "discover"))
	l.readDiscover(keys, o)
	for _, s := range expansions {
		l.readExpansion(keys, s.key, s.label, o)
		l.top = without(l.top, s.key)
		l.markExpansion(file.Node, s.key, s.layer)
	}
	l.readPresets(keys["presets"], o.Presets)
	l.readSet(o.Set)
	l.addDefaults(o.Defaults)
	return l.documents(o, targets)
}

// readExpansion reads the names under benchmarks or variants, and keeps those that the command line selects. If discover found
// benchmarks, the names must be among them, and the file may add keys to them.
func (l *layered) readExpansion(keys map[string]field, key, label string, o Overrides) {
	f, names := keys[key], l.foundNames(key)
	if f.given() {
		if other := keys[label]; other.given() {
			panic(other.errorf("cannot be combined with %s (line %d): use one of them", key, f.line))
		}
		over := readOverriding(f, names)
		if len(over) == 0 {
			panic(f.errorf("is empty"))
		}
		if names == nil {
			names = over
		} else {
			l.overrideFound(over)
		}
	}
	l.all[key], l.names[key] = names, names
	selected, given := o.Params[label]
	if !given || names == nil {
		return
	}
	l.chosen[key], l.names[key] = true, nil
	option := origin{name: "-P " + label}
	for _, item := range option.load([]byte("[" + selected + "]")).items() {
		at := slices.IndexFunc(names, func(m member) bool { return m.key == item.Value })
		if at < 0 {
			panic(item.errorf("%s is not one of the %s: %s", item.got(), key, remedy(item.Value, memberNames(names))))
		}
		l.names[key] = append(l.names[key], names[at])
	}
}

// readOverriding reads a map from names to the keys that each of them overrides. known are the allowed names; nil: any.
func readOverriding(f field, known []member) []member {
	members := f.members(f.what + ".")
	for i, m := range members {
		if known != nil && !slices.ContainsFunc(known, func(k member) bool { return k.key == m.key }) {
			panic(m.value.errorf("is not one of the %s: %s", f.what[strings.LastIndexByte(f.what, '.')+1:], remedy(m.key, memberNames(known))))
		}
		if m.value.ShortTag() == "!!null" {
			members[i].value.Node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: m.value.Line}
			continue
		}
		members[i].value.Node = flattenLayer(m.value.Node)
		members[i].value.checkOverriding()
	}
	return members
}

// checkOverriding refuses keys that apply to the whole sweep.
func (f field) checkOverriding() {
	prefix := f.what
	if prefix != "" {
		prefix += "."
	}
	for _, m := range f.members(prefix) {
		whole := slices.ContainsFunc(keys, func(k Key) bool { return k.Whole && k.Name == m.key })
		suite := m.key == "timeouts" && memberOf(m.value.Node, "suite") != nil
		if whole || suite {
			panic(m.value.errorf("applies to the whole sweep: move it to the top of the file or into a preset"))
		}
	}
	f.known(prefix, keyNames(overridingKeys()))
}

// overridingKeys returns the keys that are allowed under a name of benchmarks or variants.
func overridingKeys() []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Whole })
}

func memberNames(members []member) (names []string) {
	for _, m := range members {
		names = append(names, m.key)
	}
	return names
}

// readPresets checks all presets and keeps the requested ones, in the order of the request.
func (l *layered) readPresets(f field, names []string) {
	presets := f.members("presets.")
	for i, p := range presets {
		presets[i].value.Node = flattenLayer(p.value.Node)
		l.checkOver(presets[i].value, p.value.what+".")
	}
	for _, name := range names {
		at := slices.IndexFunc(presets, func(p member) bool { return p.key == name })
		if at < 0 {
			panic(origin{name: "--preset " + shorten(name)}.errorf(0, "there is no such preset in %s: %s", l.file.name, remedy(name, memberNames(presets))))
		}
		l.noteLayer(presets[at].value.Node, layerPreset+" "+name)
		l.over = append(l.over, presets[at].value)
	}
}

// checkOver refuses keys that are not allowed in presets and --set.
func (l *layered) checkOver(f field, prefix string) {
	known := slices.DeleteFunc(keyNames(Keys()), func(name string) bool { return name == "presets" || name == "discover" })
	keys := f.known(prefix, known)
	for _, s := range expansions {
		if in := keys[s.key]; in.given() {
			names := l.all[s.key]
			if names == nil {
				panic(in.errorf("the sweep has no %s", s.key))
			}
			readOverriding(in, names)
		}
	}
}

// readSet reads the values of --set, KEY=VALUE, in order.
func (l *layered) readSet(words []string) {
	for _, word := range words {
		path, text, found := strings.Cut(word, "=")
		from := origin{name: "--set " + shorten(path)}
		if !found || path == "" {
			panic(origin{name: "--set " + shorten(word)}.errorf(0, "want KEY=VALUE"))
		}
		value := from.load([]byte(text))
		node := value.Node
		for _, key := range slices.Backward(strings.Split(path, ".")) {
			name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
			node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{name, node}}
		}
		l.noteLayer(node, layerFlag)
		l.noteOrigin(node, from)
		over := field{flattenLayer(node), from, "", 0}
		l.checkOver(over, "")
		l.over = append(l.over, over)
	}
}

// noteOrigin notes the origin of nodes that are not from the file.
func (l *layered) noteOrigin(n *yaml.Node, to origin) {
	l.others.of[n] = to
	for _, child := range n.Content {
		l.noteOrigin(child, to)
	}
}

// noteLayer notes the layer of nodes.
func (l *layered) noteLayer(n *yaml.Node, layer string) {
	l.from[n] = layer
	for _, child := range n.Content {
		l.noteLayer(child, layer)
	}
}

func (l *layered) markExpansion(n *yaml.Node, key, layer string) {
	if spread := memberOf(n, key); spread != nil {
		for _, child := range spread.Content {
			l.noteLayer(child, layer)
		}
	}
}

// combination is a benchmark and one of its variants. Either may be missing.
type combination struct {
	of        []member // the benchmark, if it has a name, and the variant, if there are variants
	benchmark foundBenchmark
	fault     string // why its file cannot run; empty: no reason is known
}

// documents returns the plain documents of all benchmarks and variants.
func (l *layered) documents(o Overrides, targets []target) []*document {
	combinations := l.combinations()
	if len(combinations) > maxSections {
		panic(l.file.errorf("%d benchmarks x variants: want at most %d", len(combinations), maxSections))
	}
	var documents []*document
	for _, c := range combinations {
		documents = append(documents, l.documentOf(c, o))
	}
	documents[0].left, documents[0].facts = l.left, l.facts
	documents[0].alone = len(documents) == 1
	shareScales(documents, targets)
	shareAxes(documents)
	return documents
}

// documentOf returns the document of a combination. If the settings beside its file are wrong, they are left out.
func (l *layered) documentOf(c combination, o Overrides) *document {
	plain, config := l.document(c, nil, o), c.benchmark.config
	if config == nil {
		return plain
	}
	var d *document
	if err := schema.Catch(func() { d = l.document(c, config, o) }); err != nil {
		plain.fault = err.Error()
		return plain
	}
	d.withoutConfig = plain
	return d
}

// combinations returns all pairs of a benchmark and one of its variants. Either may be missing.
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

// benchmarks returns the benchmarks that the command line selects; a single one without a name if the sweep has no names.
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

// named returns the value of a name under benchmarks or variants, with the name.
func (f field) named(name string) field {
	f.what = name
	return f
}

// document merges the layers of a combination. config are the settings next to its file; nil: none.
func (l *layered) document(c combination, config *yaml.Node, o Overrides) *document {
	of, node := c.of, l.top
	over := func(f *yaml.Node) {
		if f != nil && f.Kind == yaml.MappingNode {
			node = mergeLayers(node, f)
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
		for _, s := range expansions {
			plain = without(plain, s.key)
		}
		over(plain)
		for _, m := range of {
			if in := memberOf(f.Node, expansionKey(m.key)); in != nil {
				if own := memberOf(in, m.value.what); own != nil {
					over(flattenLayer(own))
				}
			}
		}
	}
	d := &document{over: o, from: l.from, found: l.found != nil, fault: c.fault, unclear: l.unclear, expanded: map[string][]string{}, chosen: map[string]bool{}}
	for _, m := range of {
		label := m.value.what
		if l.found != nil { // names of files have no axes in them
			label = literalBraces.Replace(label)
		}
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: label, Line: m.value.line}
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m.key, Line: m.value.line}
		over(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, name}})
		d.of = append(d.of, m.key+" "+m.value.what)
		d.expanded[m.key] = memberNames(l.all[expansionKey(m.key)])
		d.chosen[m.key] = l.chosen[expansionKey(m.key)]
		d.aliases = append(d.aliases, l.aliasesOf(m)...)
	}
	d.file = l.file
	d.file.Node = node
	if len(l.others.of) > 0 {
		d.file.others = l.others
	}
	d.keys = d.file.known("", keyNames(Keys()))
	d.dropWarmupDefaults()
	return d
}

// expansionKey returns the key whose names become the label.
func expansionKey(label string) string {
	for _, s := range expansions {
		if s.label == label {
			return s.key
		}
	}
	return ""
}

// shareAxes records in each document which axes only other documents have. An entry that names such an axis does not apply to the
// document.
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
		for ; d != nil; d = d.withoutConfig {
			d.otherAxes = maps.Clone(all)
			for _, a := range axesIn(d.file.Node) {
				delete(d.otherAxes, a.column)
			}
		}
	}
}

// hasAxis reports whether an axis that the command line or an entry names belongs to the document, or to no document.
func (d *document) hasAxis(name string) bool { return !d.otherAxes[schema.CanonicalAlias(name)] }

// settingFlags are the options of the settings that are allowed in grid although they are not axes.
var settingFlags = map[string]string{"repeats": "--repeats", "tags": "--tag"}

// exclusiveKeys are alternatives: a layer that sets a key removes its alternatives from the layers below.
var exclusiveKeys = map[string][]string{
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

// mergeLayers puts a layer over another one: maps are merged, lists and single values are replaced. An axis is replaced as a whole,
// wherever it is defined.
func mergeLayers(base, over *yaml.Node) *yaml.Node {
	for pair := range slices.Chunk(over.Content, 2) {
		for _, rival := range exclusiveKeys[pair[0].Value] {
			base = without(base, rival)
		}
	}
	if runsModel(over) {
		for _, rival := range []string{"command", "wrapper", "file"} {
			base = without(base, rival)
		}
	}
	if len(referenceKinds(memberOf(over, "reference"))) > 0 { // not only tolerances
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
	for _, set := range axesIn(over) {
		for _, old := range axesIn(base) {
			if old.column == set.column && !slices.Equal(old.path, set.path) {
				base = without(base, old.path...)
			}
		}
	}
	return mergeMaps(base, over, "")
}

// mergeMaps merges maps recursively, except for axes. key is the key of the maps.
func mergeMaps(base, over *yaml.Node, key string) *yaml.Node {
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
			value = mergeMaps(old, value, name.Value)
		}
		out.Content[at], out.Content[at+1] = name, value
	}
	return &out
}

// withoutReading removes the extraction method from an entry of metrics if the layer over it has one.
func withoutReading(entry, over *yaml.Node) *yaml.Node {
	if !slices.ContainsFunc(readings, func(key string) bool { return memberOf(over, key) != nil }) {
		return entry
	}
	for _, key := range readings {
		entry = without(entry, key)
	}
	return entry
}

// withoutContent removes the content from an entry of inputs if the layer over it defines it by other keys.
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

// axisAt is an axis of a layer, by its column or name, with its path of keys.
type axisAt struct {
	column string
	path   []string
}

// axesIn returns the axes of a layer.
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

// flattenLayer moves the settings in the grid of a layer to its top level, where they take precedence.
func flattenLayer(layer *yaml.Node) *yaml.Node {
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

// indexOf returns the index of a key in the content of a map; -1: it is missing.
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

// memberOf returns the value of a key of a map; nil: it is missing.
func memberOf(n *yaml.Node, key string) *yaml.Node {
	if at := indexOf(n, key); at >= 0 {
		return n.Content[at+1]
	}
	return nil
}

// without returns a copy of a map without the value at a path of keys.
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

// referenceKinds lists the keys of a reference that define the correct output, without tolerances.
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

// layerOf returns the layer that a key comes from; empty: it is not set. For a map whose values come from several layers, it is the topmost
// one.
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

// topmost returns the highest layer of a value and of the values inside it.
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

// Defaults are default values for keys, from outside the sweep.
type Defaults struct {
	Layer string     // where a setting comes from: LayerProject, LayerEnvironment
	Name  string     // of the file or the variable, for errors
	Lines bool       // the nodes have lines of a file
	Keys  *yaml.Node // a map
}

// Load reads a YAML text by the rules of sweep files. Errors begin with name and line.
func Load(name string, text []byte) (n *yaml.Node, err error) {
	err = schema.Catch(func() { n = origin{name: name, lines: true}.load(text).Node })
	return n, err
}

// Thresholds reads thresholds in the format of sweep files: by metric, the text under which a threshold is stored.
func Thresholds(name string, n *yaml.Node) (texts map[string]string, err error) {
	err = schema.Catch(func() { texts = field{n, origin{name: name, lines: true}, "thresholds", n.Line}.thresholds() })
	return texts, err
}

// addDefaults merges the defaults below the sweep, the first of them lowest.
func (l *layered) addDefaults(all []Defaults) {
	under := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, d := range all {
		l.noteLayer(d.Keys, d.Layer)
		l.noteOrigin(d.Keys, origin{name: d.Name, lines: d.Lines, optional: true})
		under = mergeLayers(under, d.Keys)
	}
	if len(under.Content) > 0 {
		under.Line = l.top.Line
		l.top = mergeLayers(under, l.top)
	}
}

// dropWarmupDefaults removes a project's default warm-up and iterations if the sweep has a cold start: the keys of the sweep itself win.
func (d *document) dropWarmupDefaults() {
	cold := d.keys["cold_start"]
	for _, key := range []string{"warmup", "iterations"} {
		if cold.given() && cold.ShortTag() == "!!bool" && cold.boolean() && d.keys[key].optional {
			delete(d.keys, key)
		}
	}
}

// Verbatim returns a text for Defaults in which braces are literal.
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
	return schema.Catch(func() {
		switch v := keyOf(key).Value; v.Kind {
		case Integer:
			f.integer(v.Min, v.Max, "a number")
		case Word:
			f.oneOf(v.Words)
		case Number:
			f.multiplier()
		}
	})
}

// Kept returns a sweep file with the settings of the command line written into it. Read without a command line, it gives the same points
// and settings. The result has no presets.
func Kept(src []byte, o Overrides) (text []byte, err error) {
	err = schema.Catch(func() { text = kept(src, o) })
	return text, err
}

func kept(src []byte, o Overrides) []byte {
	file := origin{name: "sweep", lines: true}.load(src)
	l := &layered{file: file, from: map[*yaml.Node]string{}, others: &origins{map[*yaml.Node]origin{}}}
	l.readSet(o.Set)
	top := file.Node
	for _, f := range l.over {
		top = mergeLayers(top, f.Node)
	}
	over := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} // all options are one layer
	for _, k := range keys {
		if text, given := o.Given[k.Name]; given {
			value := k.node(text)
			if k.Name == "profile" {
				keepProfilers(value, file.with(top, ""))
			}
			over.Content = append(over.Content, mapNode(0, k.Name, value).Content...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Params)) {
		from := origin{name: "-P " + name}
		if slices.Contains(labels, name) {
			panic(from.errorf(0, "selects what is measured: remove the others from the command line instead"))
		}
		list := from.load([]byte("[" + o.Params[name] + "]"))
		if own := withAxis(top, name, list.Node); own != nil {
			top = own
			continue
		}
		over = mergeMaps(over, mapNode(0, "grid", mapNode(0, name, list.Node)), "")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Tags)) {
		over = mergeMaps(over, mapNode(0, "tags", mapNode(0, name, textNode(0, Literal(o.Tags[name])))), "")
	}
	return printable(mergeLayers(top, over))
}

// keepProfilers replaces the names of profilers in a list by what a sweep has of each.
func keepProfilers(names *yaml.Node, sweep field) {
	for _, m := range sweep.members("") {
		if m.key != "profile" {
			continue
		}
		for i, name := range names.Content {
			names.Content[i] = configured(sweep.with(name, ""), m.value).Node
		}
	}
}

// printable writes a document in characters that can be printed: others are escapes in double quotes.
func printable(document *yaml.Node) []byte {
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
		panic(err)
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if isOther(r) {
			fmt.Fprintf(&out, `\U%08x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

// withAxis returns a file with other values of an axis that some of its variants have; nil: none has it.
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
			changed.Content[i] = mergeMaps(changed.Content[i], mapNode(0, "grid", mergeMaps(grid, mapNode(0, name, values), "grid")), "")
			found = true
		}
	}
	if !found {
		return nil
	}
	return mergeMaps(without(top, "variants"), mapNode(variants.Line, "variants", changed), "")
}

// node returns the value of a key in the form of a file, from the text of its option.
func (k Key) node(text string) *yaml.Node {
	if k.Verbatim {
		return k.verbatim(text)
	}
	isMany := slices.ContainsFunc(k.Value.Among, func(v Value) bool { return v.Kind == List })
	if isMany {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for word := range strings.SplitSeq(text, ",") {
			if word != "" {
				list.Content = append(list.Content, textNode(0, word))
			}
		}
		return list
	}
	if k.Value.Kind == Text {
		return textNode(0, text)
	}
	return origin{name: "--" + k.OptionName()}.load([]byte(text)).Node
}
