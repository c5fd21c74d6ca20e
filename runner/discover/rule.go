package discover

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Rule defines which files are benchmarks and their names. All paths are slash paths relative to the searched folder: for the folder
// src, the file src/ch1/baseline_moe.py is ch1/baseline_moe.py. Files and Benchmark are required. The rule {Files: ["**/bench_*.py"],
// Benchmark: "bench_(.+)\\.py$"} finds perf/bench_sort.py as the benchmark sort.
type Rule struct {
	// Name is the name of the rule: pairs, kernels. A user's own rule needs none.
	Name string
	// In are the folders to search by default, as paths from the root of the tree; none: the root.
	In []string
	// Files are globs of the selected files. * and ? match characters except /, [ab] one of them, and ** any number of folders,
	// including none: "ch*/baseline_*.py", "**/*.py", "**/bench/*.sh".
	Files []string
	// Except are globs of files that are left out, although Files matches: "**/test_*".
	Except []string
	// Benchmark is a regular expression (RE2) for a path. The name of the benchmark is the text of its groups, joined by /; without
	// groups, the whole match. "^(ch[0-9]+)/(?:baseline|optimized)_(.+)\\.py$" calls ch1/baseline_moe.py ch1/moe.
	Benchmark string
	// Variant is a regular expression for a path, read as Benchmark is. Without one, a benchmark has one variant without a
	// name. "/(baseline|optimized)_" calls ch1/baseline_moe.py baseline.
	Variant string
	// Baseline is the variant whose files define which benchmarks exist. A file of another variant belongs to the benchmark with
	// the longest name that its own name begins with, ending there or before a _, among files of its extension. The text after
	// that _ is its variant: with ch1/baseline_moe.py and baseline: baseline, ch1/optimized_moe_sparse.py is
	// the variant sparse of ch1/moe, and ch1/optimized_moe.py the variant optimized. A baseline alone is not a benchmark, nor is
	// a file without a baseline. Empty: every file is a benchmark.
	Baseline string
	// Objects are functions and classes. The first one that a Python file has is its benchmark; {stem} is the file's name without
	// .py. If it has none of them, its only class with a method benchmark_fn counts. Empty: the names that bench looks for.
	Objects []string
	// Config is the name of a file with settings for the benchmarks of its folder: bench.yaml. Empty: there is none.
	Config string
	// Backends are the backends of Python files by their imports; the first match counts. CUDA sources are cuda. Nil: cuda for
	// cupy, jax, torch; empty for others.
	Backends []Backend
}

// Backend is the backend of files that import a module; without a module, of all files.
type Backend struct{ Module, Word string }

const baseline = "baseline"

// Rules returns the predefined rules: pairs of a baseline and its optimizations, and kernels in their usual folders.
func Rules() []Rule {
	return []Rule{
		{
			Name:      "pairs",
			Files:     []string{"ch*/baseline_*.py", "ch*/baseline_*.cu", "ch*/optimized_*.py", "ch*/optimized_*.cu"},
			Benchmark: `^(ch[0-9]+)/(?:baseline|optimized)_(.+)\.(?:py|cu)$`,
			Variant:   `/(baseline|optimized)_`,
			Baseline:  baseline,
			Objects:   []string{"get_benchmark", "run_benchmark"},
			Backends:  []Backend{{"torch", "torch"}},
		},
		{
			Name: "kernels",
			In: []string{
				"kernels", "src/kernels", "quasim/kernels", "integrations/kernels",
				"autonomous_systems_platform/services/backend/quasim/kernels",
			},
			Files:     []string{"**/*.py"},
			Except:    []string{"**/__*", "**/test_*", "**/conftest.py", "**/setup.py"},
			Benchmark: `([^/]+)\.py$`,
			Objects:   []string{"{stem}_kernel", "run_benchmark", "benchmark", "solve"},
			Config:    "bench.yaml",
			Backends:  []Backend{{"cupy", "cuda"}, {"jax", "jax"}, {"torch", "pytorch"}, {"", "cpu"}}, // the words in its results
		},
	}
}

// RuleNamed returns the rule of that name among Rules.
func RuleNamed(name string) (Rule, bool) {
	rules := Rules()
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
}

// compiled is a rule with compiled patterns.
type compiled struct {
	Rule
	files, except      []glob
	benchmark, variant *regexp.Regexp
	wants              string // why a file is left that meets no glob
}

// compile refuses a rule that cannot find anything. Its errors name the key in a sweep and the value.
func (r Rule) compile() (*compiled, error) {
	c := &compiled{Rule: r, wants: "its path does not match " + strings.Join(r.Files, " ")}
	if len(r.Files) == 0 {
		return nil, errors.New("files: want globs such as bench/**/*.py, got none")
	}
	var err error
	if c.files, err = globsOf("files", r.Files); err != nil {
		return nil, err
	}
	if c.except, err = globsOf("except", r.Except); err != nil {
		return nil, err
	}
	if r.Benchmark == "" {
		return nil, errors.New("name: want a regular expression for the benchmark's name, got none")
	}
	if c.benchmark, err = regexp.Compile(r.Benchmark); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	if r.Variant != "" {
		if c.variant, err = regexp.Compile(r.Variant); err != nil {
			return nil, fmt.Errorf("variant: %w", err)
		}
	}
	if r.Baseline != "" && r.Variant == "" {
		return nil, fmt.Errorf("baseline: %q is a variant, but there is no expression for variants", r.Baseline)
	}
	return c, nil
}

// nameOf returns the name that an expression finds in a path.
func nameOf(expression *regexp.Regexp, below string) (string, bool) {
	groups := expression.FindStringSubmatch(below)
	if len(groups) < 2 {
		return strings.Join(groups, ""), groups != nil
	}
	named := slices.DeleteFunc(groups[1:], func(group string) bool { return group == "" })
	return strings.Join(named, "/"), true
}

// glob is a pattern of a path, by folder.
type glob struct {
	text           string
	parts          []string
	prefix, suffix string // of each name that meets the last part
}

func globsOf(key string, patterns []string) ([]glob, error) {
	var globs []glob
	for _, pattern := range patterns {
		g := glob{text: pattern, parts: strings.Split(pattern, "/")}
		for _, part := range g.parts {
			if _, err := path.Match(part, ""); err != nil || part == "" {
				return nil, fmt.Errorf("%s: %q is not a glob of paths below a folder: %w", key, pattern, cmp.Or(err, errors.New("a name is empty")))
			}
		}
		last := g.parts[len(g.parts)-1]
		if first := strings.IndexAny(last, globMarks); first >= 0 {
			g.prefix, g.suffix = last[:first], last[strings.LastIndexAny(last, globMarks)+1:]
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// globMarks are the wildcard characters of a glob.
const globMarks = `*?[]\\`

// matches reports whether a path matches patterns of folders and a name.
func matches(patterns []string, below string) bool {
	for i, pattern := range patterns {
		if pattern == "**" {
			return anywhere(patterns[i+1:], below)
		}
		name, rest, more := strings.Cut(below, "/")
		if met, _ := path.Match(pattern, name); !met || name == "" { // the pattern was tried before
			return false
		}
		if below = rest; !more && i < len(patterns)-1 {
			return matches(patterns[i+1:], "")
		}
	}
	return below == ""
}

// anywhere reports whether the end of a path matches patterns.
func anywhere(patterns []string, below string) bool {
	if len(patterns) == 0 {
		return true
	}
	for {
		if matches(patterns, below) {
			return true
		}
		_, rest, more := strings.Cut(below, "/")
		if !more {
			return len(patterns) == 1 && patterns[0] == "**"
		}
		below = rest
	}
}

// met returns the first glob that a path matches; empty: none. For most paths the name alone excludes all.
func met(globs []glob, below, name string) string {
	for i := range globs {
		g := &globs[i]
		if strings.HasPrefix(name, g.prefix) && strings.HasSuffix(name, g.suffix) && matches(g.parts, below) {
			return g.text
		}
	}
	return ""
}

// Settings reads the file with the settings of a benchmark. Keys that are not texts are refused, because JSON does not have them.
func Settings(tree fs.FS, b *Benchmark) (map[string]any, error) {
	if b.Config == "" {
		return map[string]any{}, nil
	}
	text, err := readText(tree, b.Config, &bytes.Buffer{})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.Config, err)
	}
	var decoded any
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.Config, err)
	}
	if decoded == nil {
		return map[string]any{}, nil
	}
	settings, is := decoded.(map[string]any)
	if !is {
		return nil, fmt.Errorf("reading %s: want keys with values", b.Config)
	}
	if !texts(decoded) {
		return nil, fmt.Errorf("reading %s: a key is not text", b.Config)
	}
	return settings, nil
}

// texts reports whether all keys of maps in a value are texts.
func texts(value any) bool {
	switch v := value.(type) {
	case map[any]any:
		return false
	case map[string]any:
		for _, inner := range v {
			if !texts(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !texts(inner) {
				return false
			}
		}
	}
	return true
}

// owner identifies the files of one benchmark.
type owner struct{ name, ext string }

func ownerOf(c candidate) owner { return owner{c.name, path.Ext(c.file)} }

// group assigns each file to a benchmark, or leaves it out, and reads the files.
func (s *search) group() {
	slices.SortFunc(s.files, func(a, b candidate) int { return comparePaths(a.file, b.file) })
	if s.rule.Baseline != "" {
		s.grouped = s.byBaseline()
	} else {
		s.grouped = s.byName()
	}
	var paths []string
	for _, list := range s.grouped {
		for _, c := range list {
			paths = append(paths, c.file)
		}
	}
	s.looked = s.inspectAll(paths)
}

// form forms the benchmarks from their files.
func (s *search) form(modules imports) {
	for o, list := range s.grouped {
		list = slices.DeleteFunc(list, func(c candidate) bool { return s.isModule(c.file, modules) })
		if b, is := s.benchmark(o.name, list); is {
			s.found.Benchmarks = append(s.found.Benchmarks, b)
		}
	}
	s.found.addFolders()
	for dir, used := range s.configs {
		if !used {
			s.found.Left = append(s.found.Left, Left{File: path.Join(dir, s.rule.Config), Reason: "its folder has no benchmark of the rule"})
		}
	}
}

// byName assigns each file to the benchmark of its name. If several files would be the same variant, each folder gets its own
// benchmark.
func (s *search) byName() map[owner][]candidate {
	type place struct {
		owner
		variant string
	}
	files, split, taken := map[owner][]candidate{}, map[owner]bool{}, map[place]bool{}
	for _, c := range s.files {
		at := place{ownerOf(c), c.variant}
		if taken[at] {
			split[at.owner] = true
		}
		taken[at] = true
		files[at.owner] = append(files[at.owner], c)
	}
	for o := range split {
		list := files[o]
		delete(files, o)
		for _, c := range list {
			c.name = withFolder(c.file, c.name)
			files[ownerOf(c)] = append(files[ownerOf(c)], c)
		}
	}
	return files
}

// withFolder returns a name with the folder of a file before it.
func withFolder(file, name string) string {
	dir := path.Dir(file)
	if above := path.Dir(name); dir == above || strings.HasSuffix(dir, "/"+above) {
		name = path.Base(name)
	}
	return path.Join(dir, name)
}

// byBaseline assigns each file to the baseline with the longest name that its own name begins with.
func (s *search) byBaseline() map[owner][]candidate {
	files := map[owner][]candidate{}
	for _, c := range s.files {
		if c.variant == s.rule.Baseline {
			files[ownerOf(c)] = append(files[ownerOf(c)], c)
		}
	}
	for _, c := range s.files {
		if c.variant == s.rule.Baseline {
			continue
		}
		o := ownerOf(c)
		for o.name != "" && files[o] == nil {
			o.name = o.name[:max(0, strings.LastIndexByte(o.name, '_'))]
		}
		if o.name == "" {
			s.found.miss(c.file, "no "+path.Ext(c.file)+" file of the variant "+s.rule.Baseline+" is named "+c.name+", or has the beginning of that name before a _")
			continue
		}
		if technique := strings.TrimPrefix(c.name[len(o.name):], "_"); technique != "" {
			c.variant, c.technique = technique, true
		}
		files[o] = append(files[o], c)
	}
	return files
}

// isModule reports whether a file without a benchmark is a module of other files, and leaves it out. The files of a rule with a baseline
// are named one by one, so none of them is.
func (s *search) isModule(file string, modules imports) bool {
	what := s.looked[file]
	if !what.noObject || s.rule.Baseline != "" {
		return false
	}
	importer := modules.importer(file)
	switch {
	case path.Base(file) == "__init__.py":
		s.found.leave(file, what.err.Error())
	case importer != "":
		s.found.leave(file, what.err.Error()+": a module that "+importer+" imports")
	default:
		return false
	}
	return true
}

// benchmark forms a benchmark from its files, if possible. The baseline, if the rule has one, is the first of them.
func (s *search) benchmark(name string, files []candidate) (Benchmark, bool) {
	b := Benchmark{Rule: s.rule.Name, Name: printable(name)}
	taken := map[string]string{}
	for i, c := range files {
		v := Variant{Name: c.variant, File: c.file}
		if taken[v.Name] != "" && c.technique { // it is called as another variant is
			v.Name = strings.TrimSuffix(path.Base(c.file), path.Ext(c.file))
		}
		switch other := taken[v.Name]; {
		case other != "":
			s.found.miss(c.file, other+" has the same name: the expressions of the rule must distinguish them")
			continue
		case s.rule.Baseline != "" && i > 0 && taken[s.rule.Baseline] == "":
			s.found.miss(c.file, "its baseline was left out: "+files[0].file)
			continue
		}
		what := s.looked[c.file]
		if v.Object, v.Imports, v.NoObject = what.object, what.imports, what.noObject; what.err != nil {
			v.Problem = what.err.Error()
		}
		if !utf8.ValidString(c.file) { // the texts of runs are UTF-8
			v.Name, v.File = printable(v.Name), printable(c.file)
			v.Problem, v.NoObject = "its name is not UTF-8: rename it", true
		}
		taken[v.Name] = c.file
		b.Variants = append(b.Variants, v)
	}
	if len(b.Variants) == 0 {
		return b, false
	}
	if s.rule.Baseline != "" && len(b.Variants) == 1 {
		s.found.miss(b.Variants[0].File, "there is no other variant of "+name+" to compare it with")
		return b, false
	}
	s.describe(&b)
	return b, true
}

// printable returns a name with \xNN for each byte that is not part of UTF-8.
func printable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if _, size := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// describe sets the fields of a benchmark other than its files.
func (s *search) describe(b *Benchmark) {
	dir := path.Dir(b.Variants[0].File)
	if dir != "." {
		b.Suite = path.Base(dir)
	}
	if _, is := s.configs[dir]; is {
		b.Config = path.Join(dir, s.rule.Config)
		s.configs[dir] = true
	}
	backend := s.rule.backendOf(b.Variants)
	for i, v := range b.Variants {
		switch path.Ext(v.File) {
		case pythonSuffix:
			b.Variants[i].Backend = backend
		case ".cu":
			b.Variants[i].Backend = "cuda"
		}
	}
}

// miss leaves out a file that might be expected to be a benchmark.
func (f *Found) miss(file, reason string) {
	f.Left = append(f.Left, Left{file, reason, true})
}

// leave leaves out a file that no user expects to be a benchmark.
func (f *Found) leave(file, reason string) {
	f.Left = append(f.Left, Left{File: file, Reason: reason})
}

// addFolders adds the names of folders to benchmarks whose results would have the same name as those of another. If that is not
// enough, they are left out.
func (f *Found) addFolders() {
	f.sortBenchmarks()
	for again := range f.alike() {
		b := &f.Benchmarks[again]
		b.Name = withFolder(b.Variants[0].File, b.Name)
	}
	alike := f.alike()
	var told []Benchmark
	for i, b := range f.Benchmarks {
		other, is := alike[i]
		if !is {
			told = append(told, b)
			continue
		}
		for _, v := range b.Variants {
			f.miss(v.File, "its results would have the same name as those of "+other+": "+b.Name)
		}
	}
	f.Benchmarks = told
}

// alike returns the benchmarks, by index, that share the name of a variant with another benchmark, and the file of the other one.
func (f *Found) alike() map[int]string {
	type identity struct{ name, variant, backend string }
	taken, alike := map[identity]int{}, map[int]string{}
	for i, b := range f.Benchmarks {
		for _, v := range b.Variants {
			other, is := taken[identity{b.Name, v.Name, v.Backend}]
			if !is {
				taken[identity{b.Name, v.Name, v.Backend}] = i
			} else if other != i {
				alike[i], alike[other] = f.Benchmarks[other].Variants[0].File, v.File
			}
		}
	}
	return alike
}
