package discover

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxSource limits the size of a Python file, which is read as a whole.
const maxSource = 8 << 20

// harmless are base classes that do not define benchmark_fn.
var harmless = []string{"object", "Exception", "ABC", "abc.ABC", "Enum", "enum.Enum", "NamedTuple", "typing.NamedTuple", "dict", "list", "tuple"}

const pythonSuffix = ".py"

// KeyObject is the key in a file of settings with the function or class to run in the files of its folder.
const KeyObject = "function_name"

// method makes a class a benchmark.
const method = "benchmark_fn"

// usualObjects are the names that bench looks for in a file without a name.
var usualObjects = []string{"run_benchmark", "get_benchmark", "{stem}_kernel", "benchmark", "solve"}

// inspected is the result of inspecting a file: the object to run, and its imports; or why it cannot run.
type inspected struct {
	object           string
	imports, modules []string
	err              error
	noObject         bool // err means that it has no benchmark
}

// inspectAll reads files, several at a time.
func (s *search) inspectAll(files []string) map[string]inspected {
	all, named := make([]inspected, len(files)), s.namedObjects()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			var buffer bytes.Buffer
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				all[i] = s.inspect(files[i], named[path.Dir(files[i])], &buffer)
			}
		})
	}
	workers.Wait()
	byFile := make(map[string]inspected, len(files))
	for i, file := range files {
		byFile[file] = all[i]
	}
	return byFile
}

// namedObjects returns the functions and classes that files of settings name, by the folder.
func (s *search) namedObjects() map[string]string {
	named := map[string]string{}
	for dir := range s.configs {
		// bench reports the error in the settings
		if settings, err := Settings(s.tree, &Benchmark{Config: path.Join(dir, s.rule.Config)}); err == nil {
			named[dir], _ = settings[KeyObject].(string)
		}
	}
	return named
}

// inspect reads one file. named is the function or class in its settings; empty: none.
func (s *search) inspect(file, named string, buffer *bytes.Buffer) inspected {
	if path.Ext(file) != pythonSuffix {
		opened, err := s.tree.Open(file)
		if err != nil {
			return inspected{err: errors.New(unreadable(err))}
		}
		return inspected{err: opened.Close()}
	}
	source, err := readText(s.tree, file, buffer)
	if err != nil {
		return inspected{err: err}
	}
	m, err := readModule(source)
	if err != nil {
		return inspected{imports: m.imports, modules: m.modules, err: fmt.Errorf("not valid Python: %w", err)}
	}
	what := inspected{object: named, imports: m.imports, modules: m.modules}
	switch {
	case named == "":
		objects := s.rule.Objects
		if objects == nil {
			objects = usualObjects
		}
		what.object, what.err = m.object(objects, strings.TrimSuffix(path.Base(file), pythonSuffix))
	case !m.names[named] && !m.names[everything]:
		what.err = fmt.Errorf("it has no %s, which %s names", named, s.rule.Config)
	}
	what.noObject = what.err != nil
	return what
}

// readText reads a file of bounded size by a buffer.
func readText(tree fs.FS, name string, buffer *bytes.Buffer) (string, error) {
	file, err := tree.Open(name)
	if err != nil {
		return "", errors.New(unreadable(err))
	}
	defer file.Close()
	buffer.Reset()
	n, err := buffer.ReadFrom(io.LimitReader(file, maxSource+1))
	switch {
	case err != nil:
		return "", errors.New(unreadable(err))
	case n > maxSource:
		return "", fmt.Errorf("larger than %d MiB", maxSource>>20)
	}
	return buffer.String(), nil
}

// object returns the function or class to run in a file: the first of the names that it has, else the only class with benchmark_fn. It
// is empty if only Python can determine it: with imports by *, or several or derived classes.
func (m *module) object(names []string, stem string) (string, error) {
	var looked []string
	for _, name := range names {
		name = strings.ReplaceAll(name, "{stem}", stem)
		if m.names[name] {
			return name, nil
		}
		looked = append(looked, name)
	}
	var sure []string
	open := m.names[everything]
	for _, c := range m.classes {
		switch has, known := m.measures(c.name); {
		case has:
			sure = append(sure, c.name)
		case !known:
			open = true
		}
	}
	switch {
	case len(sure) == 1 && !open:
		return sure[0], nil
	case len(sure) == 0 && !open:
		return "", fmt.Errorf("it has no %s, and no class with %s", strings.Join(looked, ", no "), method)
	}
	return "", nil
}

// measures reports whether a class has benchmark_fn, also by inheritance within the file, and whether all its base classes are known.
func (m *module) measures(name string) (has, known bool) {
	known = true
	line := []string{name}
	for i := 0; i < len(line); i++ {
		at := slices.IndexFunc(m.classes, func(c class) bool { return c.name == line[i] })
		switch {
		case slices.Contains(harmless, line[i]) || strings.HasSuffix(line[i], "Protocol"):
		case at < 0:
			known = false
		default:
			has = has || m.classes[at].members[method]
			for _, base := range m.classes[at].bases {
				if !slices.Contains(line, base) {
					line = append(line, base)
				}
			}
		}
	}
	return has, known
}

// backendOf returns the backend of a benchmark, by the imports of its Python files.
func (r *compiled) backendOf(variants []Variant) string {
	words := r.Backends
	if words == nil {
		words = []Backend{{"cupy", "cuda"}, {"jax", "jax"}, {"torch", "torch"}}
	}
	for _, b := range words {
		for _, v := range variants {
			if b.Module == "" || slices.Contains(v.Imports, b.Module) {
				return b.Word
			}
		}
	}
	return ""
}

// Parameters are the names that a function in a Python file takes, or the class whose objects it measures.
type Parameters struct {
	Object string
	Names  []string // in the order of the file
}

// ParametersOf reads the text of a file to find the parameters of the object that a run of it measures: of the function or class of that
// name or, if it is empty, of the only suitable object. It returns nil if only Python can determine them: for an object that is
// decorated, imported, defined several times or takes any name, and for a class whose __init__ is not in the file.
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

// measured returns the object that a run of a file without a name measures; empty: only Python can determine it.
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

// parameters returns the parameters of a function or class of the module; nil: they are not certain.
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

// named returns the parameters that a caller can name.
func (f *function) named() []string {
	return slices.DeleteFunc(slices.Clone(f.parameters), func(name string) bool { return slices.Contains(f.unnamed, name) })
}

// constructor is the method whose parameters are the parameters of its class.
const constructor = "__init__"

// initParameters returns the parameters of a class: of its __init__, or of the first class above it that has one.
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

// ownParameters returns the parameters of the __init__ of a class.
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

// imports are the modules that the files of a search import.
type imports map[string][]imported // by the last word of the module

// imported is a module that a file imports.
type imported struct {
	module   string // as a slash path without .py; from the root of the tree where exact, else the end of such a path
	exact    bool
	importer string // the file
}

// add adds the imports of a file.
func (all imports) add(file string, modules []string) {
	for _, name := range modules {
		below := strings.TrimLeft(name, ".")
		one := imported{strings.ReplaceAll(below, ".", "/"), false, file}
		if up := len(name) - len(below); up > 0 {
			dir := path.Dir(file)
			for ; up > 1; up-- {
				dir = path.Dir(dir)
			}
			one.module, one.exact = path.Join(dir, one.module), true
		}
		last := path.Base(one.module)
		all[last] = append(all[last], one)
	}
}

// importer returns a file that imports another one; empty: none does. The module path of Python is unknown, so the end of a path counts
// as a module: common and lib.common are src/lib/common.py.
func (all imports) importer(file string) string {
	module := strings.TrimSuffix(file, pythonSuffix)
	for _, i := range all[path.Base(module)] {
		if i.importer != file && (i.module == module || !i.exact && strings.HasSuffix(module, "/"+i.module)) {
			return i.importer
		}
	}
	return ""
}
