package sweep

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Session holds options of a session of ONNX Runtime, by its own names, in text.
type Session struct {
	Options   map[string]string `json:"options,omitempty"`                  // one value each
	Sizes     map[string]string `json:"free_dimension_overrides,omitempty"` // by name of the dimension
	Entries   map[string]string `json:"config_entries,omitempty"`           // those that ONNX Runtime knows by a text
	Libraries []string          `json:"custom_ops_library,omitempty"`       // paths
}

// The keys of session with more than one value.
const (
	sessionSizes     = "free_dimension_overrides"
	sessionEntries   = "config_entries"
	sessionLibraries = "custom_ops_library"
)

// filledText is a text in which an axis stands.
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
func (p *program) readSession(d *document) error {
	f := d.keys["session"]
	if !f.given() {
		return nil
	}
	if threads := memberOf(f.Node, "intra_op_num_threads"); threads != nil {
		return f.with(threads, "session.intra_op_num_threads").errorf("is the key threads: use that")
	}
	said, err := f.known("session.", keyNames(sessionKeys))
	if err != nil {
		return err
	}
	s := sessionSpec{options: map[string]template{}}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		switch value := said[name]; name {
		case sessionSizes:
			s.sizes, err = value.readTemplates(p.scope)
		case sessionEntries:
			s.entries, err = value.readTemplates(p.scope)
		case sessionLibraries:
			s.libraries, err = value.readPaths(p.scope)
		default:
			s.options[name], err = p.readOption(name, value)
		}
		if err != nil {
			return err
		}
	}
	d.request("session", f)
	p.session = &s
	return nil
}

// readOption reads an option with one value. An axis of the same name has to stand in it: its values would change nothing.
func (p *program) readOption(name string, f field) (template, error) {
	t, err := f.lasting(p.scope)
	if err != nil {
		return t, err
	}
	if axis, _ := findAxis(p.scope.axes, name); axis >= 0 && !t.uses(axis) {
		return t, f.errorf("there is an axis %s too: write {%s} here, or remove this key", name, name)
	}
	if t.fixed() {
		return t, t.checkOption(name, t.fill(nil))
	}
	return t, nil
}

// checkOption checks the value of an option.
func (t template) checkOption(name, text string) error {
	at := slices.IndexFunc(sessionKeys, func(k Key) bool { return k.Name == name })
	kind := sessionKeys[at].Value
	if kind.Kind == Either {
		kind = kind.Among[0]
	}
	switch kind.Kind {
	case Word:
		if !slices.Contains(kind.Words, text) {
			return t.at.errorf("want one of %s, got %q", strings.Join(kind.Words, " "), shorten(text))
		}
	case Switch:
		if text != "true" && text != "false" {
			return t.at.errorf("want true or false, got %q", shorten(text))
		}
	case Integer:
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxThreads {
			return t.at.errorf("want a whole number from 0 to %d, got %q", maxThreads, shorten(text))
		}
	default:
		if text == "" {
			return t.at.errorf("is empty")
		}
	}
	return nil
}

// readTemplates reads a map of texts.
func (f field) readTemplates(s *scope) (map[string]template, error) {
	members, err := f.members(f.what + ".")
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, f.errorf("is empty")
	}
	all := map[string]template{}
	for _, m := range members {
		if all[m.key], err = m.value.lasting(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readPaths reads one path or several.
func (f field) readPaths(s *scope) (all []template, err error) {
	for _, item := range f.items() {
		if _, err := item.text(); err != nil {
			return nil, err
		}
		path, err := item.lasting(s)
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	if len(all) == 0 {
		return nil, f.errorf("is empty")
	}
	return all, nil
}

// templates are all texts of the options.
func (s *sessionSpec) templates() []template {
	if s == nil {
		return nil
	}
	all := slices.Clone(s.libraries)
	for _, texts := range []map[string]template{s.options, s.sizes, s.entries} {
		all = slices.AppendSeq(all, maps.Values(texts))
	}
	return all
}

// fillSession gives the options of the session at a point.
func (p *program) fillSession(point *Point, row []*value) error {
	s := p.session
	if s == nil {
		return nil
	}
	session := &Session{}
	for name, t := range s.options {
		text := t.fill(row)
		if err := t.checkOption(name, text); err != nil {
			return err
		}
		note(&session.Options, name, text)
	}
	for name, t := range s.sizes {
		text := t.fill(row)
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 {
			return t.at.errorf("want a whole number of at least 1, got %q", shorten(text))
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
	return nil
}

// sessionText is the key session as canonical JSON; empty where it is not given.
func sessionText(p *Point) string {
	if p.Session == nil {
		return ""
	}
	return asJSON(p.Session)
}
