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

// looked is the content of a file: what to run, and its imports; or why it cannot run.
type looked struct {
	object           string
	imports, modules []string
	err              error
	noObject         bool // err says that there is no benchmark in it
}

// lookAll reads files, several at a time.
func (s *search) lookAll(files []string) map[string]looked {
	all, named := make([]looked, len(files)), s.namedObjects()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			var buffer bytes.Buffer
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				all[i] = s.look(files[i], named[path.Dir(files[i])], &buffer)
			}
		})
	}
	workers.Wait()
	byFile := make(map[string]looked, len(files))
	for i, file := range files {
		byFile[file] = all[i]
	}
	return byFile
}

// namedObjects are the functions and classes that files of settings name, by the folder.
func (s *search) namedObjects() map[string]string {
	named := map[string]string{}
	for dir := range s.configs {
		// what is wrong with the file, bench says
		if settings, err := Settings(s.tree, &Benchmark{Config: path.Join(dir, s.rule.Config)}); err == nil {
			named[dir], _ = settings[KeyObject].(string)
		}
	}
	return named
}

// look reads one file. named is the function or class that its settings name; empty: none.
func (s *search) look(file, named string, buffer *bytes.Buffer) looked {
	if path.Ext(file) != pythonSuffix {
		opened, err := s.tree.Open(file)
		if err != nil {
			return looked{err: errors.New(unreadable(err))}
		}
		return looked{err: opened.Close()}
	}
	source, err := readText(s.tree, file, buffer)
	if err != nil {
		return looked{err: err}
	}
	m, err := readModule(source)
	if err != nil {
		return looked{imports: m.imports, modules: m.modules, err: fmt.Errorf("not valid Python: %w", err)}
	}
	what := looked{object: named, imports: m.imports, modules: m.modules}
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

// object is the function or class to run in a file: the first of the names that it has, else the only class with benchmark_fn. It is
// empty if that is known only when the file is loaded: with imports by *, or several or derived classes.
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

// backendOf is the backend of a benchmark, by the imports of its Python files.
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
