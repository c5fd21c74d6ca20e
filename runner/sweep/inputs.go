package sweep

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Input defines what an input of a model holds: the array in a file, one value, a range or a distribution. Texts are as written,
// because the model decides their type. An empty text and a nil slice mean that a key is not set.
type Input struct {
	File  string   `json:"file,omitempty"`  // .npy or .npz
	Name  string   `json:"name,omitempty"`  // of an array in a .npz file
	Value string   `json:"value,omitempty"` // of every element
	Low   string   `json:"low,omitempty"`   // of a range of uniform numbers
	High  string   `json:"high,omitempty"`  // excluded from the range
	Mean  string   `json:"mean,omitempty"`  // of a normal distribution
	Std   string   `json:"std,omitempty"`
	Shape []string `json:"shape,omitempty"` // sizes, integers of at least 0
}

// absentWord is the value of an optional input that a model does not get.
const absentWord = "absent"

// shortInput is the short spelling: a number, true, false, absent, or a file. A text of digits is a number.
var shortInput = Value{Kind: Scalar, Pattern: `\.[Nn][Pp][YyZz]$|\{|^[-+.]?[0-9][0-9.eE+-]*$|^([Tt]rue|TRUE|[Ff]alse|FALSE|absent)$`}

// inputKeys are the keys of one input.
var inputKeys = []Key{
	{Name: "file", Value: Value{Kind: Text, Pattern: `\.[Nn][Pp][YyZz]$|\{`}, Doc: "A .npy or .npz file. {axis} is filled in."},
	{Name: "name", Value: textValue, Doc: "The array in a .npz file. Default: the only one, or the one with the name of the input."},
	{Name: "value", Value: scalarValue, Doc: "The value of every element: a number, true, false, or a text for an input of strings."},
	{Name: "low", Value: scalarValue, Default: "0", Doc: "The low end of a range of uniform numbers."},
	{Name: "high", Value: scalarValue, Doc: "The high end of the range, which is not in it."},
	{Name: "mean", Value: scalarValue, Default: "0", Doc: "The mean of a normal distribution."},
	{Name: "std", Value: scalarValue, Default: "1", Doc: "The standard deviation of a normal distribution."},
	{Name: "shape", Value: listOf(0, scalarValue), Doc: "The shape, as a list of sizes. Default: from the model, the axes and the file."},
}

// contents are the alternative groups of keys that define the content of an input. An input has exactly one group.
var contents = [][]string{{"file", "name"}, {"value"}, {"low", "high"}, {"mean", "std"}}

// inputSpec is one member of the key inputs.
type inputSpec struct {
	name  string
	at    field
	texts map[string]template // by key; a short spelling has the key ""
	shape []template
}

// readInputs reads the key inputs.
func (p *program) readInputs(_ *document, f field) {
	for _, m := range f.someMembers("inputs.") {
		p.inputs = append(p.inputs, m.readInput(p.scope))
	}
}

// readInput reads the definition of one input: a file, a value, or a map.
func (m member) readInput(s *scope) inputSpec {
	spec := inputSpec{name: m.key, at: m.value, texts: map[string]template{}}
	values := map[string]field{"": m.value}
	if m.value.Kind == yaml.MappingNode {
		values = m.value.known(m.value.what+".", keyNames(inputKeys))
	}
	for key, f := range values {
		if key != "shape" {
			spec.texts[key] = f.inputText(s)
			continue
		}
		if f.Kind != yaml.SequenceNode {
			panic(f.want("a list of sizes"))
		}
		spec.shape = []template{}
		for _, item := range f.items() {
			spec.shape = append(spec.shape, item.staticTemplate(s))
		}
	}
	spec.checkKeys()
	return spec
}

// inputText reads the text of f. Unlike other keys, it may be an integer beyond 64 bits with a sign, because inputs may be uint64.
func (f field) inputText(s *scope) template {
	if f.Kind == yaml.ScalarNode && !isBinary(f.Node) && integer.MatchString(f.Value) {
		return f.parse(f.Value, s)
	}
	return f.staticTemplate(s)
}

// integer is an integer in canonical text, up to one beyond those of uint64, which can be the end of a range.
var integer = regexp.MustCompile(`^-?[1-9][0-9]{0,19}$`)

// checkKeys refuses keys that contradict each other, or have no effect.
func (s *inputSpec) checkKeys() {
	var ways []string // one key of each
	for _, keys := range contents {
		if at := slices.IndexFunc(keys, s.has); at >= 0 {
			ways = append(ways, keys[at])
		}
	}
	switch {
	case len(ways) > 1:
		panic(s.at.errorf("%s and %s cannot be combined: use one of them", ways[0], ways[1]))
	case s.has("name") && !s.has("file"):
		panic(s.at.errorf("name needs a file"))
	case s.has("low") && !s.has("high"):
		panic(s.at.errorf("low needs a high"))
	case len(s.texts) == 0 && s.shape == nil:
		panic(s.at.errorf("says nothing: want %s", strings.Join(keyNames(inputKeys), " ")))
	}
}

func (s *inputSpec) has(key string) bool {
	_, given := s.texts[key]
	return given
}

// fillInputs sets the inputs of a point.
func (p *program) fillInputs(point *Point, row []*value) {
	if len(p.inputs) == 0 {
		return
	}
	point.Inputs = map[string]Input{}
	for i := range p.inputs {
		spec := &p.inputs[i]
		in := spec.fill(row)
		point.Inputs[spec.name] = in
		*p.size += 256 + len(spec.name) + len(in.File) + len(in.Value)
	}
}

// fill returns the input at a point.
func (s *inputSpec) fill(row []*value) (in Input) {
	to := map[string]*string{
		"file": &in.File, "name": &in.Name, "value": &in.Value, "low": &in.Low, "high": &in.High, "mean": &in.Mean, "std": &in.Std,
	}
	for key, t := range s.texts {
		text := t.fill(row)
		switch {
		case key == "":
			in = s.short(text)
		case text == "" && key != "value":
			panic(t.at.errorf("is empty"))
		case key == "file" && !isArrayFile(text):
			panic(t.at.errorf("want a .npy or .npz file, got %q", shorten(text)))
		case key == "low" || key == "high" || key == "mean" || key == "std":
			*to[key] = t.number(text)
		case key == "value":
			*to[key] = plain(text)
		default:
			*to[key] = text
		}
	}
	if in.Std != "" && strings.HasPrefix(in.Std, "-") {
		panic(s.texts["std"].at.errorf("want a number of at least 0, got %s", shorten(in.Std)))
	}
	if in.High != "" && in.Low != "" && !less(in.Low, in.High) {
		panic(s.texts["low"].at.errorf("%s is not below high, which is %s", shorten(in.Low), shorten(in.High)))
	}
	for _, t := range s.shape {
		text := t.fill(row)
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
			panic(t.at.errorf("want a list of whole numbers of at least 0, got %q", shorten(text)))
		}
		in.Shape = append(in.Shape, text)
	}
	return in
}

// short reads the short spelling: a number, true, false, or a file.
func (s *inputSpec) short(text string) Input {
	_, err := schema.CanonicalNumber(text)
	switch {
	case isArrayFile(text):
		return Input{File: text}
	case err == nil, integer.MatchString(text), strings.EqualFold(text, "true"), strings.EqualFold(text, "false"), text == absentWord:
		return Input{Value: plain(text)}
	}
	panic(s.at.errorf("want a number, true, false, a .npy or .npz file, or a map, got %q: a text is {value: TEXT}", shorten(text)))
}

// plain returns a value in canonical text if it is a number, true or false; otherwise it is unchanged.
func plain(text string) string {
	if number, err := schema.CanonicalNumber(text); err == nil {
		return number
	}
	if lower := strings.ToLower(text); lower == "true" || lower == "false" {
		return lower
	}
	return text
}

// number returns a finite number of a filled-in text, in canonical text.
func (t template) number(text string) string {
	if integer.MatchString(text) {
		return text
	}
	number, err := schema.CanonicalNumber(text)
	if v, parsed := strconv.ParseFloat(number, 64); err != nil || parsed != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		panic(t.at.errorf("want a number, got %q", shorten(text)))
	}
	return number
}

// less compares two numbers of canonical text.
func less(a, b string) bool {
	x, xok := new(big.Int).SetString(a, 10)
	y, yok := new(big.Int).SetString(b, 10)
	if xok && yok {
		return x.Cmp(y) < 0
	}
	v, _ := strconv.ParseFloat(a, 64)
	w, _ := strconv.ParseFloat(b, 64)
	return v < w
}

func isArrayFile(path string) bool {
	return slices.Contains([]string{".npy", ".npz"}, strings.ToLower(filepath.Ext(path)))
}

// asJSON returns a value of texts, lists and maps as canonical JSON; empty for nil.
func asJSON(v any) string {
	text, _ := json.Marshal(v) // texts always have one
	var object any
	_ = json.Unmarshal(text, &object)
	if object == nil {
		return ""
	}
	canonical, _ := schema.CanonicalJSON(object)
	return canonical
}

// Session holds options of a session of ONNX Runtime, by its own names, in text.
type Session struct {
	Options   map[string]string `json:"options,omitempty"`                  // one value each
	Sizes     map[string]string `json:"free_dimension_overrides,omitempty"` // by name of the dimension
	Entries   map[string]string `json:"config_entries,omitempty"`           // session config entries, by their names in ONNX Runtime
	Libraries []string          `json:"custom_ops_library,omitempty"`       // paths
}

// The keys of session with more than one value.
const (
	sessionSizes     = "free_dimension_overrides"
	sessionEntries   = "config_entries"
	sessionLibraries = "custom_ops_library"
)

// filledText is a text that contains an axis.
var filledText = Value{Kind: Text, Pattern: `\{`}

// sessionKeys are the options of a session.
var sessionKeys = []Key{
	{
		Name: "graph_optimization_level", Value: eitherOf(oneOf("disable_all", "basic", "extended", "layout", "all"), filledText), Default: "all",
		Doc: "How far the graph is optimized.",
	},
	{Name: "execution_mode", Value: eitherOf(oneOf("sequential", "parallel"), filledText), Default: "sequential", Doc: "Whether several nodes may run at the same time."},
	{
		Name: "inter_op_num_threads", Value: eitherOf(Value{Kind: Integer, Max: maxThreads}, filledText),
		Doc: "How many nodes may run at the same time. Default: 1; in the mode parallel, the number of threads.",
	},
	{Name: "enable_mem_pattern", Value: eitherOf(switchValue, filledText), Default: "true", Doc: "Plan the memory of a run from an earlier one."},
	{Name: "enable_mem_reuse", Value: eitherOf(switchValue, filledText), Default: "true", Doc: "Let results share memory."},
	{Name: "enable_cpu_mem_arena", Value: eitherOf(switchValue, filledText), Default: "true", Doc: "Keep memory of the CPU between runs."},
	{Name: "use_deterministic_compute", Value: eitherOf(switchValue, filledText), Default: "false", Doc: "Use deterministic kernels."},
	{Name: "optimized_model_filepath", Value: textValue, Doc: "A file into which the optimized model is written."},
	{Name: sessionSizes, Value: mapOf(1, scalarValue), Doc: "Sizes of free dimensions, by name, that are fixed before the graph is optimized."},
	{Name: sessionEntries, Value: mapOf(1, scalarValue), Doc: "Configuration entries by their keys, such as session.intra_op.allow_spinning."},
	{Name: sessionLibraries, Value: oneOrMany(1, textValue), Doc: "Libraries with operators of your own."},
}

// sessionSpec is the value of the key session.
type sessionSpec struct {
	options        map[string]template
	sizes, entries map[string]template
	libraries      []template
}

// readSession reads the key session.
func (p *program) readSession(_ *document, f field) {
	if threads := memberOf(f.Node, "intra_op_num_threads"); threads != nil {
		panic(f.with(threads, "session.intra_op_num_threads").errorf("is the key threads: use that"))
	}
	values := f.known("session.", keyNames(sessionKeys))
	s := sessionSpec{options: map[string]template{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch value := values[name]; name {
		case sessionSizes:
			s.sizes = value.readTemplates(p.scope)
		case sessionEntries:
			s.entries = value.readTemplates(p.scope)
		case sessionLibraries:
			s.libraries = value.readPaths(p.scope)
		default:
			s.options[name] = p.readOption(name, value)
		}
	}
	p.session = &s
}

// readOption reads an option with one value. If there is an axis of the same name, the value must contain it: otherwise the axis would
// have no effect.
func (p *program) readOption(name string, f field) template {
	t := f.staticTemplate(p.scope)
	if axis, _ := findAxis(p.scope.axes, name); axis >= 0 && !t.uses(axis) {
		panic(f.errorf("there is an axis %s too: write {%s} here, or remove this key", name, name))
	}
	if t.fixed() {
		t.checkOption(name, t.fill(nil))
		return t
	}
	return t
}

// checkOption checks the value of an option.
func (t template) checkOption(name, text string) {
	at := slices.IndexFunc(sessionKeys, func(k Key) bool { return k.Name == name })
	kind := sessionKeys[at].Value
	if kind.Kind == Either {
		kind = kind.Among[0]
	}
	switch kind.Kind {
	case Word:
		if !slices.Contains(kind.Words, text) {
			panic(t.at.errorf("want one of %s, got %q", strings.Join(kind.Words, " "), shorten(text)))
		}
	case Switch:
		if text != "true" && text != "false" {
			panic(t.at.errorf("want true or false, got %q", shorten(text)))
		}
	case Integer:
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxThreads {
			panic(t.at.errorf("want a whole number from 0 to %d, got %q", maxThreads, shorten(text)))
		}
	default:
		if text == "" {
			panic(t.at.errorf("is empty"))
		}
	}
}

// readTemplates reads a map of texts.
func (f field) readTemplates(s *scope) map[string]template {
	all := map[string]template{}
	for _, m := range f.someMembers(f.what + ".") {
		all[m.key] = m.value.staticTemplate(s)
	}
	return all
}

// readPaths reads one path or several.
func (f field) readPaths(s *scope) (all []template) {
	for _, item := range f.someItems() {
		item.text()
		all = append(all, item.staticTemplate(s))
	}
	return all
}

// fillSession gives the options of the session at a point.
func (p *program) fillSession(point *Point, row []*value) {
	s := p.session
	if s == nil {
		return
	}
	session := &Session{}
	for name, t := range s.options {
		text := t.fill(row)
		t.checkOption(name, text)
		note(&session.Options, name, text)
	}
	for name, t := range s.sizes {
		text := t.fill(row)
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 {
			panic(t.at.errorf("want a whole number of at least 1, got %q", shorten(text)))
		}
		note(&session.Sizes, name, text)
	}
	for name, t := range s.entries {
		note(&session.Entries, name, t.fill(row))
	}
	for _, t := range s.libraries {
		session.Libraries = append(session.Libraries, t.fill(row))
	}
	point.Session = session
	*p.size += 512
}
