package discover

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Parameters are the names that a function in a Python file takes, or the class whose objects it measures.
type Parameters struct {
	Object string
	Names  []string // in the order of the file
}

// ParametersOf reads the text of a file to find the parameters of what a run of it measures: of the function or class of that name or, if
// it is empty, of the only object that fits. It returns nil if only Python can find them out: of something that is decorated, imported,
// defined several times or takes any name, and of a class whose __init__ is not in the file.
func ParametersOf(tree fs.FS, file, name string) *Parameters {
	source, err := readText(tree, file, &bytes.Buffer{})
	if err != nil {
		return nil
	}
	m, err := readModule(source)
	if err != nil || m.names[everything] {
		return nil
	}
	if name == "" {
		name = m.measured(strings.TrimSuffix(path.Base(file), ".py"))
	}
	return m.parameters(name)
}

// measured is the object that a run of a file measures which names none; empty: only Python knows.
func (m *module) measured(stem string) string {
	if m.names["run_benchmark"] {
		return "run_benchmark"
	}
	var found []string
	for _, c := range m.classes {
		switch has, known := m.measures(c.name); {
		case has:
			found = append(found, c.name)
		case !known:
			return ""
		}
	}
	switch len(found) {
	case 0:
	case 1:
		return found[0]
	default: // some of them may be abstract
		return ""
	}
	for _, name := range usualObjects {
		if name = strings.ReplaceAll(name, "{stem}", stem); m.names[name] {
			return name
		}
	}
	for _, f := range m.functions {
		if strings.HasPrefix(f.name, prefix) && !f.method {
			found = appendNew(found, f.name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

// parameters are those of a function or class of the module; nil: they are not certain.
func (m *module) parameters(name string) *Parameters {
	if m.again[name] {
		return nil
	}
	if class := slices.IndexFunc(m.classes, func(c class) bool { return c.name == name }); class >= 0 {
		names, certain := m.initParameters(&m.classes[class])
		if !certain {
			return nil
		}
		return &Parameters{name, names}
	}
	at := slices.IndexFunc(m.functions, func(f function) bool { return f.name == name && !f.method })
	if at < 0 || m.functions[at].decorated || m.functions[at].open {
		return nil
	}
	return &Parameters{name, m.functions[at].named()}
}

// named are the parameters that a caller can name.
func (f *function) named() []string {
	return slices.DeleteFunc(slices.Clone(f.parameters), func(name string) bool { return slices.Contains(f.unnamed, name) })
}

// constructor is the method whose parameters those of a class are.
const constructor = "__init__"

// initParameters are the parameters of a class: those of its __init__, or of the first class above it that has one.
func (m *module) initParameters(c *class) (names []string, certain bool) {
	for range m.classes { // more would be a circle
		if c.special || c.members["__new__"] || m.again[c.name] || len(c.bases) > 1 && !c.members[constructor] {
			return nil, false
		}
		if c.members[constructor] {
			return m.ownParameters(c)
		}
		if len(c.bases) == 0 || slices.Contains([]string{"object", "ABC", "abc.ABC"}, c.bases[0]) {
			return nil, true
		}
		base := slices.IndexFunc(m.classes, func(other class) bool { return other.name == c.bases[0] })
		if base < 0 {
			return nil, false
		}
		c = &m.classes[base]
	}
	return nil, false
}

// ownParameters are those of the __init__ of a class.
func (m *module) ownParameters(c *class) (names []string, certain bool) {
	var own []function
	for _, f := range m.functions {
		if f.owner == c.name && f.name == constructor {
			own = append(own, f)
		}
	}
	if len(own) != 1 || own[0].decorated || own[0].open || len(own[0].parameters) == 0 {
		return nil, false
	}
	self := own[0].parameters[0]
	return slices.DeleteFunc(own[0].named(), func(name string) bool { return name == self }), true
}
