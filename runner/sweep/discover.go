package sweep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// discovery is an entry of discover: where to search, by which rule, and what to do with files that are not Python.
type discovery struct {
	at      field
	rule    discover.Rule
	folders []string
	build   *yaml.Node // nil: not given
	command *yaml.Node // for other files
}

// foundBenchmark is a benchmark that discover found: its keys, like those under benchmarks, and its variants.
type foundBenchmark struct {
	member
	variants []member
	config   *yaml.Node        // the settings next to its file; nil: there are none, or they cannot be read
	over     *yaml.Node        // its entry under benchmarks in the sweep; nil: none
	also     []string          // its other names in targets
	fault    string            // the error in the settings; empty: none is known
	faults   map[string]string // by variant, why its file cannot run
}

// discoverValue is a folder to search, or several.
var discoverValue = oneOrMany(1, Value{Kind: Object, Keys: []Key{
	{Name: "rule", Value: eitherOf(oneOf(ruleNames()...), Value{Kind: Object, Keys: []Key{
		{Name: "files", Value: oneOrMany(1, textValue), Doc: "Globs of the files that contain benchmarks."},
		{Name: "except", Value: oneOrMany(1, textValue), Doc: "Globs of files to leave out."},
		{Name: "name", Value: textValue, Doc: "A regular expression that finds the name of the benchmark in a path."},
		{Name: "variant", Value: textValue, Doc: "A regular expression that finds the variant in a path."},
		{Name: "baseline", Value: textValue, Doc: "The variant whose files define which benchmarks exist."},
		{Name: "objects", Value: oneOrMany(1, textValue), Doc: "Functions and classes to look for in a Python file. The first one that it has is run."},
		{Name: "config", Value: textValue, Doc: "The name of a file with settings for the benchmarks in its folder."},
	}}), Doc: "pairs, kernels, or a rule of your own."},
	{Name: "in", Value: oneOrMany(1, textValue), Doc: "Folders to search."},
	{Name: "build", Value: listOf(1, listOf(1, textValue)), Doc: "Commands that build a file that is not Python. {file}, {dir} and {stem} stand for its path, its folder and its name without the extension."},
	{Name: "command", Value: listOf(1, textValue), Doc: "The command that runs such a file."},
}})

// ruleKeys are the keys of a custom rule.
var ruleKeys = []string{"files", "except", "name", "variant", "baseline", "objects", "config"}

// insteadOfDiscover are the keys whose values discover determines.
var insteadOfDiscover = []string{"benchmark", "variant", "file", "command"}

func ruleNames() (names []string) {
	for _, r := range discover.Rules() {
		names = append(names, r.Name)
	}
	return names
}

// readDiscover finds the benchmarks of a sweep.
func (l *layered) readDiscover(keys map[string]field, o Overrides) {
	f := keys["discover"]
	if !f.given() {
		return
	}
	for _, key := range insteadOfDiscover {
		if other := keys[key]; other.given() {
			panic(other.errorf("cannot be combined with discover (line %d): use one of them", f.line))
		}
	}
	entries := f.someItems()
	root := o.Files
	if root == nil {
		root = noFiles{}
	}
	for _, entry := range entries {
		d := readDiscovery(entry)
		benchmarks := l.find(d, root)
		var deleted []discover.Benchmark
		if o.Base != nil {
			benchmarks, deleted = l.findDeleted(d, benchmarks, o.Base)
		}
		maps.Copy(l.facts, factsOf(root, benchmarks))
		for i, b := range slices.Concat(benchmarks, deleted) {
			files := root
			if i >= len(benchmarks) {
				files = o.Base
			}
			l.found = append(l.found, l.foundBenchmark(d, b, files))
		}
	}
	l.addShortNames()
	if other := keys["variants"]; other.given() && len(l.foundVariants()) > 0 {
		panic(other.errorf("cannot be combined with discover (line %d), which finds variants itself", f.line))
	}
}

// readDiscovery reads an entry.
func readDiscovery(f field) *discovery {
	values := f.known("discover.", []string{"rule", "in", "build", "command"})
	d := &discovery{at: f, rule: readRule(f, values["rule"]), folders: values["in"].texts(), build: values["build"].Node, command: values["command"].Node}
	if d.folders == nil {
		d.folders = d.rule.In
	}
	if d.folders == nil {
		d.folders = []string{"."}
	}
	return d
}

// readRule reads a rule: the name of a predefined one, or the parts of a custom one.
func readRule(entry, f field) (rule discover.Rule) {
	if !f.given() {
		panic(entry.errorf("want a rule: one of %s, or one of your own", strings.Join(ruleNames(), " ")))
	}
	if f.Kind == yaml.ScalarNode {
		rule, _ = discover.RuleNamed(f.oneOf(ruleNames()))
		return rule
	}
	values := f.known("discover.rule.", ruleKeys)
	rule.Files, rule.Except, rule.Objects = values["files"].texts(), values["except"].texts(), values["objects"].texts()
	for key, to := range map[string]*string{"name": &rule.Benchmark, "variant": &rule.Variant, "baseline": &rule.Baseline, "config": &rule.Config} {
		if values[key].given() {
			*to = values[key].text()
		}
	}
	return rule
}

// texts returns the texts of a list, or of one text; none if the key is not set.
func (f field) texts() (texts []string) {
	for _, item := range f.items() {
		texts = append(texts, item.text())
	}
	return texts
}

// find searches all folders. It is enough if one of several exists and has a benchmark.
func (l *layered) find(d *discovery, root fs.FS) []discover.Benchmark {
	var there []string
	for _, folder := range d.folders {
		if !fs.ValidPath(folder) {
			panic(d.at.errorf("want folders below the working directory, got %q", shorten(folder)))
		}
		if info, err := fs.Stat(root, folder); err == nil && info.IsDir() {
			there = append(there, folder)
		}
	}
	found := &discover.Found{}
	if len(there) > 0 {
		var err error
		if found, err = discover.All(root, []discover.Rule{d.rule}, there); err != nil {
			panic(d.at.errorf("%v", err))
		}
	}
	if len(found.Benchmarks) == 0 {
		panic(d.at.errorf("no benchmark found in %s: neurolens discover -v shows why", strings.Join(d.folders, ", ")))
	}
	l.left = append(l.left, found.Left...)
	return found.Benchmarks
}

// findDeleted adds to the benchmarks of the working directory the benchmarks of the base that it no longer has: deleted variants, and
// whole benchmarks. A deleted file that could not run is ignored.
func (l *layered) findDeleted(d *discovery, here []discover.Benchmark, base fs.FS) (more, deleted []discover.Benchmark) {
	left := l.left
	before := l.find(d, base)
	l.left = left
	for _, b := range before {
		at := slices.IndexFunc(here, func(other discover.Benchmark) bool { return other.Name == b.Name })
		b.Variants = slices.DeleteFunc(slices.Clone(b.Variants), func(v discover.Variant) bool {
			same := func(other discover.Variant) bool { return other.Name == v.Name }
			return v.Problem != "" || at >= 0 && slices.ContainsFunc(here[at].Variants, same)
		})
		switch {
		case len(b.Variants) == 0:
		case at >= 0:
			here[at].Variants = append(here[at].Variants, b.Variants...)
		default:
			deleted = append(deleted, b)
		}
	}
	return here, deleted
}

// foundLayer has the properties that discover found for a benchmark or a variant, as keys of a sweep.
type foundLayer struct {
	Suite    string     `yaml:"suite,omitempty"`
	Backend  string     `yaml:"backend,omitempty"`
	File     string     `yaml:"file,omitempty"`
	Build    [][]string `yaml:"build,omitempty"`
	Command  []string   `yaml:"command,omitempty"`
	Optional bool       `yaml:"optional,omitempty"`
}

// foundBenchmark makes the layers of a benchmark that was found.
func (l *layered) foundBenchmark(d *discovery, b discover.Benchmark, root fs.FS) foundBenchmark {
	own := d.layer(foundLayer{Suite: b.Suite})
	found := foundBenchmark{member: member{b.Name, d.at.with(own, "")}, faults: map[string]string{}}
	if b.Config != "" {
		if err := schema.Catch(func() { found.config = l.readConfig(b, root) }); err != nil {
			found.fault = err.Error()
		} else if found.config != nil {
			l.noteLayer(found.config, layerBenchmark)
		}
	}
	for _, v := range b.Variants {
		file := path.Base(v.File)
		found.also = append(found.also, file, strings.TrimSuffix(file, path.Ext(file)))
		layer := l.variantLayer(d, v)
		if v.NoObject { // for other files with a problem, Python reports whether they run
			found.faults[v.Name] = v.File + ": " + v.Problem
		}
		if v.Name == "" {
			found.value.Node = mergeLayers(layer, own)
			continue
		}
		found.variants = append(found.variants, member{v.Name, d.at.with(layer, "")})
	}
	l.noteLayer(found.value.Node, layerBenchmark)
	for _, v := range found.variants {
		l.noteLayer(v.value.Node, layerVariant)
	}
	return found
}

// addShortNames makes the first word of a name an alias, unless a benchmark of the suite has that name: in the chapter ch1,
// ch1:moe means ch1/moe_dense. A name may have the ending of its files: ch1:moe.py.
func (l *layered) addShortNames() {
	names := map[string]bool{}
	for _, b := range l.found {
		names[b.key] = true
	}
	for i, b := range l.found {
		base := path.Base(b.key)
		short := []string{base}
		if word, _, more := strings.Cut(base, "_"); more && !names[path.Join(path.Dir(b.key), word)] {
			b.also, short = append(b.also, word), append(short, word)
		}
		for _, name := range short {
			b.also = append(b.also, name+path.Ext(b.also[0])) // also begins with a file
		}
		l.found[i].also = b.also
	}
}

// variantLayer returns the keys that define how a file runs, and its backend if the sweep does not set one.
func (l *layered) variantLayer(d *discovery, v discover.Variant) *yaml.Node {
	var says foundLayer
	if !slices.ContainsFunc(axesIn(l.top), func(a axisAt) bool { return a.column == "backend" }) {
		says.Backend = v.Backend
	}
	extension := path.Ext(v.File)
	switch {
	case extension == pythonSuffix:
		if says.File = literalBraces.Replace(v.File); v.Object != "" {
			says.File += ":" + v.Object
		}
	case extension == ".cu" && d.command == nil && d.build == nil:
		says.Build = [][]string{{"nvcc", "-O3", "-o", "{dir}/{stem}", "{file}"}}
		says.Command, says.Optional = []string{"./{dir}/{stem}"}, true
	case d.command == nil:
		says.Command = []string{"./{file}"}
	}
	layer := d.layer(says)
	if extension == pythonSuffix {
		return layer
	}
	if d.build != nil {
		layer = mergeMaps(layer, mapNode(d.build.Line, "build", d.build), "")
	}
	if d.command != nil {
		layer = mergeMaps(layer, mapNode(d.command.Line, "command", d.command), "")
	}
	return ofFile(layer, v.File)
}

// ofFile fills in the placeholders of a file in texts: a layer has no other axes for them.
func ofFile(n *yaml.Node, file string) *yaml.Node {
	base := path.Base(file)
	text := literalBraces.Replace
	places := strings.NewReplacer("{file}", text(file), "{dir}", text(path.Dir(file)), "{stem}", text(strings.TrimSuffix(base, path.Ext(base))))
	out := *n
	if n.Kind == yaml.ScalarNode {
		out.Value = places.Replace(n.Value)
	}
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = ofFile(child, file)
	}
	return &out
}

// layer makes the keys of a found benchmark. They have the line of the entry that found it.
func (d *discovery) layer(says foundLayer) *yaml.Node {
	var n yaml.Node
	if err := n.Encode(says); err != nil {
		panic(fmt.Errorf("writing what was found as keys: %w", err))
	}
	setLine(&n, d.at.line)
	return &n
}

func setLine(n *yaml.Node, line int) {
	n.Line = line
	for _, child := range n.Content {
		setLine(child, line)
	}
}

// foundVariants returns the variants that were found, each name once.
func (l *layered) foundVariants() (all []member) {
	for _, b := range l.found {
		for _, v := range b.variants {
			if !slices.ContainsFunc(all, func(m member) bool { return m.key == v.key }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// foundNames returns the found names for an expansion key; nil: none.
func (l *layered) foundNames(key string) (names []member) {
	if key == "variants" {
		return l.foundVariants()
	}
	for _, b := range l.found {
		names = append(names, b.member)
	}
	return names
}

// overrideFound merges the benchmarks of the file over the found ones.
func (l *layered) overrideFound(over []member) {
	for i, b := range l.found {
		for _, m := range over {
			if m.key == b.key {
				l.found[i].over = m.value.Node
			}
		}
	}
}

// aliasesOf returns the other names of a found benchmark in targets.
func (l *layered) aliasesOf(m member) (names []string) {
	for _, b := range l.found {
		if m.key == "benchmark" && b.key == m.value.what {
			names = append(names, b.also...)
		}
	}
	return names
}

// noFiles is an empty working directory.
type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// configWords are the words of bench.yaml files of kernels that are no keys of a sweep, with the keys that replace them.
var configWords = map[string]func(l *layered, value field) (key string, n *yaml.Node){
	"problem_size": func(_ *layered, f field) (string, *yaml.Node) { return "params", f.Node }, // see sizeOf
	"precisions": func(_ *layered, f field) (string, *yaml.Node) {
		return "grid", mapNode(f.line, "precision", f.Node)
	},
	"backends": func(_ *layered, f field) (string, *yaml.Node) {
		return "grid", mapNode(f.line, "backend", f.Node)
	},
	"tolerances":      tolerances,
	"skip_conditions": skipConditions,
}

// readConfig reads the settings next to a benchmark: keys of a sweep, or the words of configWords. It returns nil if the file has none.
func (l *layered) readConfig(b discover.Benchmark, root fs.FS) *yaml.Node {
	file := b.Config
	from := origin{name: file, lines: true}
	src, err := fs.ReadFile(root, file)
	if err != nil {
		panic(from.errorf(0, "reading it: %v", err))
	}
	if noSettings(src) {
		return nil
	}
	f := from.load(src)
	members := f.members("")
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: f.line}
	f.known("", append(append(slices.Sorted(maps.Keys(configWords)), "metadata", discover.KeyObject), keyNames(keys)...))
	for _, m := range members {
		key, value := m.key, m.value.Node
		if value.ShortTag() == "!!null" { // an empty word is not set
			continue
		}
		switch translate, is := configWords[key]; {
		case key == "iterations" && m.value.Kind == yaml.MappingNode:
			out = mergeMaps(out, timedIterations(m.value), "")
			continue
		case key == "metadata": // about the kernel, and not how it is run
			continue
		case key == discover.KeyObject: // discover has read it
			if !m.value.isText() || !pythonName.MatchString(m.value.Value) {
				panic(m.value.want("the name of a function or class"))
			}
			continue
		case key == sizeWord:
			key, value = "params", sizeOf(m.value, b, root)
			if value.Kind == yaml.MappingNode && indexOf(value, "benchmark") >= 0 { // a function that takes it gets the name of its benchmark
				panic(m.value.errorf("benchmark is the name of the benchmark: call the parameter something else"))
			}
		case is:
			key, value = translate(l, m.value)
		}
		out = mergeMaps(out, mapNode(m.value.line, key, value), "")
	}
	l.noteOrigin(out, from)
	layer := field{flattenLayer(out), from, "", f.line}
	layer.checkOverriding()
	return layer.Node
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

// sizeWord is the word for the size of a problem, and the usual name of its parameter.
const sizeWord = "problem_size"

// sizeOf returns the parameters for a size of a problem. A kernel that takes the parameter problem_size, and none with the name of a
// member, gets the whole size: the number of {size: N}, or else the value unchanged. For any other kernel each member is a parameter.
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

// timedIterations returns the counts of {warmup: 3, timed: 30}.
func timedIterations(f field) *yaml.Node {
	out := *f.Node
	out.Content = slices.Clone(f.Content)
	if at := indexOf(&out, "timed"); at >= 0 {
		name := *out.Content[at]
		name.Value, out.Content[at] = "iterations", &name
	}
	return &out
}

// tolerances returns conditions with the upper limits of metrics of accuracy.
func tolerances(_ *layered, f field) (string, *yaml.Node) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: f.line}
	for _, m := range f.members("tolerances.") {
		list.Content = append(list.Content, textNode(m.value.line, m.key+" <= "+m.value.canonical()))
	}
	return "check", list
}

// skipConditions returns entries of skip_if: equal axes, and a check in Python. If the meaning of the check is not known, the entry is
// unclear where the axes are equal.
func skipConditions(l *layered, f field) (string, *yaml.Node) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: f.line}
	for _, item := range f.items() {
		values := item.known("skip_conditions.", []string{"backend", "precision", "reason", "check"})
		var conditions []string
		for _, axis := range []string{"backend", "precision"} {
			if v := values[axis]; v.given() {
				conditions = append(conditions, axis+" == "+strconv.Quote(v.text()))
			}
		}
		unclear := ""
		if check := values["check"]; check.given() {
			text := check.scalar()
			if known, is := ofPython(text); is {
				conditions = append(conditions, known)
			} else {
				unclear = check.errorf("%s is Python whose meaning is not known here: write it as skip_if with when", check.got()).Error()
			}
		} else if len(conditions) == 0 {
			panic(item.errorf("want backend, precision or check"))
		}
		entry := mapNode(item.line, "when", textNode(item.line, cmp.Or(strings.Join(conditions, " and "), "true")))
		if reason := values["reason"]; reason.given() {
			entry = mergeMaps(entry, mapNode(reason.line, "reason", reason.Node), "")
		}
		if unclear != "" {
			l.unclear[entry] = unclear
		}
		list.Content = append(list.Content, entry)
	}
	return "skip_if", list
}

func textNode(line int, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: line}
}

// mapNode returns a map of one key.
func mapNode(line int, key string, value *yaml.Node) *yaml.Node {
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line, Content: []*yaml.Node{name, value}}
}

// factsOf describes each Python file that discover found as `neurolens discover` does, for readers of a run without the project.
func factsOf(root fs.FS, benchmarks []discover.Benchmark) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, b := range benchmarks {
		config, err := discover.Settings(root, &b)
		if err != nil {
			config = nil // bench reports the error in it
		}
		for _, v := range b.Variants {
			facts := map[string]string{}
			if v.Backend != "" {
				facts[schema.FactFoundBackend] = v.Backend
			}
			if text, err := json.Marshal(v.Imports); err == nil && len(v.Imports) > 0 {
				facts[schema.FactFoundImports] = string(text)
			}
			if text, err := json.Marshal(config); err == nil && len(config) > 0 {
				facts[schema.FactFoundConfig] = string(text)
			}
			all[v.File] = facts
		}
	}
	return all
}

// maxPython bounds a Python expression that is translated.
const maxPython = 1000

// pythonTerms are the terms of Python that have an equal in an expression of a sweep, each with that. $1 and $2 are its groups.
var pythonTerms = []struct {
	*regexp.Regexp
	equal string
}{
	{regexp.MustCompile(`^torch\.cuda\.is_available\(\)`), "(gpu.count > 0)"},
	{regexp.MustCompile(`^torch\.cuda\.device_count\(\)\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,6})\b`), "(gpu.count $1 $2)"},
	{regexp.MustCompile(`^os\.cpu_count\(\)\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,6})\b`), "(cpu.count $1 $2)"},
	{regexp.MustCompile(`^torch\.backends\.mps\.is_available\(\)`), `(os == "darwin" and arch == "arm64")`},
	{regexp.MustCompile(`^sys\.platform\s*(==|!=)\s*["'](linux|darwin|win32|cygwin)["']`), `(os $1 "$2")`},
	{regexp.MustCompile(`^sys\.platform\.startswith\(\s*["'](linux|darwin|win)["']\s*\)`), `(os == "$1")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Linux["']`), `(os $1 "linux")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Darwin["']`), `(os $1 "darwin")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Windows["']`), `(os $1 "windows")`},
	{regexp.MustCompile(`^platform\.machine\(\)\s*(==|!=)\s*["']x86_64["']`), `(arch $1 "amd64")`},
	{regexp.MustCompile(`^True\b`), "true"},
	{regexp.MustCompile(`^False\b`), "false"},
	{regexp.MustCompile(`^(and|or|not)\b`), "$1"},
	{regexp.MustCompile(`^([()])`), "$1"},
}

// ofPython translates a Python expression, which nothing executes; false if the meaning of a term is not known.
func ofPython(text string) (expression string, known bool) {
	if len(text) > maxPython {
		return "", false
	}
	var terms []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		size := 0
		for _, term := range pythonTerms {
			if found := term.FindString(rest); found != "" {
				terms, size = append(terms, term.ReplaceAllString(found, term.equal)), len(found)
				break
			}
		}
		if size == 0 {
			return "", false
		}
		rest = rest[size:]
	}
	return "(" + strings.Join(terms, " ") + ")", len(terms) > 0
}
