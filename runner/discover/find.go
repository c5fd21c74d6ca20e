// Package discover finds the benchmarks in a tree of files. It executes nothing. File names decide which files belong together. Python
// files are read as text, to find the function or class that is the benchmark, and the modules that it imports.
//
// All walks a folder once. A Rule, which is data, selects files and defines the names of their benchmarks and variants. A selected file
// that cannot run is a benchmark with a Problem, so that its runs are errors and nobody misses it. Files that are not selected are
// listed in Found.Left with the reason. Trees of pytest-benchmark, asv and Google Benchmark are recognised as a command to run.
//
// Symbolic links to folders are not followed, so loops of links do no harm. The package opens only files that a rule selects, their
// settings, and files that can identify the tool of a tree.
package discover

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Found is the result of a search. The order is always the same: benchmarks by name, with numbers by their value (ch2 before ch10),
// and files in the order in which the folder is walked.
type Found struct {
	Benchmarks []Benchmark
	Left       []Left // every other file
	Tools      []Tool
}

// Benchmark is measured in one or several variants. Results are stored under the Name and Backend of a variant.
type Benchmark struct {
	Rule, Suite, Name string // the suite is the folder with its files, without the folders above
	Config            string // path of its settings; empty: there are none
	Variants          []Variant
}

// Variant is one way to do the work of a benchmark.
type Variant struct {
	Name    string // empty where a rule has no variants
	Backend string // empty if unknown
	File    string // slash path from the root of the tree
	Object  string // class or function of a Python file; empty where it is to be found when the file is loaded
	Imports []string
	Problem string // why it will probably fail: the file cannot be read, or has no benchmark; empty: no problem is known
	// NoObject: the file cannot run for its Problem: it has none of the functions and classes of the rule (there may be others, which are
	// not meant), or its name is not UTF-8.
	NoObject bool
}

// Left is a file that was not selected or, with a / at the end, a folder that was not searched.
type Left struct {
	File, Reason string
	Near         bool // a glob of the rule matches it, or it cannot be read: the user may expect it
}

// open searches a folder of a tree. An error concerns the rule or the folder; it is fs.ErrNotExist if there is no such folder. Anything
// else that cannot be read is Left, or a Problem.
func open(tree fs.FS, rule Rule, in string) (*search, error) {
	r, err := rule.compile()
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", cmp.Or(rule.Name, "of its own"), err)
	}
	in = path.Clean(in)
	if !fs.ValidPath(in) {
		return nil, fmt.Errorf("searching %s: want a folder inside the tree", in)
	}
	if info, err := fs.Stat(tree, in); err != nil {
		return nil, fmt.Errorf("searching %s: %w", in, withoutPath(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("searching %s: it is not a folder", in)
	}
	s := &search{tree: tree, rule: r, in: in, configs: map[string]bool{}, found: &Found{}}
	if err := s.walk(in); err != nil {
		return nil, err
	}
	s.group()
	return s, nil
}

// finish forms the benchmarks. modules are the imports of the files of all searches.
func (s *search) finish(modules imports) *Found {
	s.form(modules)
	for _, file := range s.tools.asv {
		s.asv(file)
	}
	s.pytest()
	s.googleBenchmark()
	s.found.sort()
	s.found.Left = joined(s.left, s.found.Left)
	return s.found
}

// search is a search of one folder by one rule.
type search struct {
	tree    fs.FS
	rule    *compiled
	in      string
	files   []candidate
	configs map[string]bool // folders with a file of settings, and whether a benchmark has it
	tools   toolFiles
	left    []Left // while walking, and so in order
	grouped map[owner][]candidate
	looked  map[string]inspected
	buffer  bytes.Buffer
	found   *Found
}

// candidate is a file whose name the rule selects.
type candidate struct {
	file, name, variant string
	technique           bool // the variant is the text after the name of a baseline
}

// leave leaves out a file, during the walk, that no user expects to be a benchmark.
func (s *search) leave(file, reason string) {
	s.left = append(s.left, Left{File: file, Reason: reason})
}

// miss leaves out a file, during the walk, that might be expected to be a benchmark.
func (s *search) miss(file, reason string) {
	s.left = append(s.left, Left{file, reason, true})
}

// walk searches a folder and its subfolders. It fails only if the first folder cannot be read.
func (s *search) walk(dir string) error {
	entries, err := fs.ReadDir(s.tree, dir)
	if err != nil && dir == s.in {
		return fmt.Errorf("searching %s: %w", dir, withoutPath(err))
	}
	if err != nil { // entries has the names that were read before
		s.miss(dir+"/", unreadable(err))
	}
	if dir != s.in && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "pyvenv.cfg" }) {
		s.leave(dir+"/", "a virtual environment for Python")
		return nil
	}
	s.left = slices.Grow(s.left, len(entries))
	for _, entry := range entries {
		name := entry.Name()
		if dir != "." {
			name = dir + "/" + name
		}
		kind, err := s.kind(name, entry)
		switch {
		case err != nil:
			s.file(name, entry.Name(), unreadable(err))
		case kind.IsDir() && entry.Type()&fs.ModeSymlink != 0:
			s.leave(name+"/", "a symbolic link to a folder, which is not followed")
		case kind.IsDir() && skipped(entry.Name()):
			s.leave(name+"/", "folders with this name are not searched")
		case kind.IsDir():
			_ = s.walk(name) // it is not the first one
		case kind.IsRegular():
			s.file(name, entry.Name(), "")
		default:
			s.leave(name, "neither a file nor a folder")
		}
	}
	return nil
}

// kind returns the type of an entry, or of the target of a link.
func (s *search) kind(name string, entry fs.DirEntry) (fs.FileMode, error) {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type(), nil
	}
	info, err := fs.Stat(s.tree, name)
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

// skipped reports whether a folder never contains benchmarks: it is hidden, or contains copies made by tools.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "__pycache__" || name == "node_modules"
}

// unreadable returns the reason for leaving out something that cannot be read.
func unreadable(err error) string { return "cannot be read: " + withoutPath(err).Error() }

// withoutPath returns an error of a file system without the path, which the message contains already.
func withoutPath(err error) error {
	for {
		inner, is := err.(*fs.PathError)
		if !is {
			return err
		}
		err = inner.Err
	}
}

// file handles the name of a file. problem is why it cannot be read; empty: no problem is known.
func (s *search) file(file, name, problem string) {
	below := file
	if s.in != "." {
		below = strings.TrimPrefix(file, s.in+"/")
	}
	s.tools.note(file, name)
	if s.rule.Config != "" && name == s.rule.Config {
		s.configs[path.Dir(file)] = false
		return
	}
	if met(s.rule.files, below, name) == "" {
		s.left = append(s.left, Left{file, cmp.Or(problem, s.rule.wants), problem != ""})
		return
	}
	if glob := met(s.rule.except, below, name); glob != "" {
		s.leave(file, "the rule leaves out "+glob)
		return
	}
	c := candidate{file: file}
	var matches bool
	if c.name, matches = nameOf(s.rule.benchmark, below); !matches || c.name == "" {
		s.miss(file, "the expression for names does not match it: "+s.rule.Benchmark)
		return
	}
	if s.rule.variant != nil {
		if c.variant, matches = nameOf(s.rule.variant, below); !matches {
			s.miss(file, "the expression for variants does not match it: "+s.rule.Variant)
			return
		}
	}
	s.files = append(s.files, c)
}

// Tree opens a folder for All. Links to files are followed, also out of the folder.
func Tree(dir string) (fs.FS, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		return nil, fmt.Errorf("searching %s: %w", dir, withoutPath(err))
	}
	return os.DirFS(dir), nil
}

// All searches several folders by several rules; without folders, in the folders of each rule, if they exist. A file that several rules
// select belongs to the first of them. A file is Left if every rule that saw it left it out.
func All(tree fs.FS, rules []Rule, folders []string) (*Found, error) {
	var searches []*search
	modules := imports{}
	for _, rule := range rules {
		in := folders
		if len(in) == 0 {
			in = rule.In
		}
		if len(in) == 0 {
			in = []string{"."}
		}
		for _, folder := range in {
			s, err := open(tree, rule, folder)
			if len(folders) == 0 && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for file, what := range s.looked {
				modules.add(file, what.modules)
			}
			searches = append(searches, s)
		}
	}
	m := merging{owned: map[string]bool{}}
	for _, s := range searches {
		found := s.finish(modules)
		if len(rules) > 1 {
			found.nameRule(s.rule.Name)
		}
		m.add(found)
	}
	return m.done(), nil
}

// nameRule adds the name of the rule to each reason.
func (f *Found) nameRule(rule string) {
	var last, named string // most files are left for the same reason
	for i, l := range f.Left {
		if l.Reason != last || named == "" {
			last, named = l.Reason, rule+": "+l.Reason
		}
		f.Left[i].Reason = named
	}
}

// merging joins the results of several searches.
type merging struct {
	Found
	owned map[string]bool // files that belong to a benchmark
}

// add adds the result of one search.
func (m *merging) add(f *Found) {
	for _, b := range f.Benchmarks {
		if slices.ContainsFunc(b.Variants, func(v Variant) bool { return m.owned[v.File] }) {
			continue // another rule has it, or this rule has searched the folder before
		}
		for _, v := range b.Variants {
			m.owned[v.File] = true
		}
		if b.Config != "" {
			m.owned[b.Config] = true
		}
		m.Benchmarks = append(m.Benchmarks, b)
	}
	m.Left = joined(m.Left, f.Left)
	for _, t := range f.Tools {
		same := func(other Tool) bool {
			return other.Name == t.Name && other.Dir == t.Dir && slices.Equal(other.Command, t.Command)
		}
		if !slices.ContainsFunc(m.Tools, same) {
			m.Tools = append(m.Tools, t)
		}
	}
}

// joined returns the files of two lists, both in order, each file once.
func joined(a, b []Left) []Left {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	all := make([]Left, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := compareWalked(a[0].File, b[0].File); {
		case order < 0:
			all, a = append(all, a[0]), a[1:]
		case order > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			both := a[0]
			both.Near = both.Near || b[0].Near
			if !strings.Contains(both.Reason, b[0].Reason) {
				both.Reason += "; " + b[0].Reason
			}
			all, a, b = append(all, both), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

func (m *merging) done() *Found {
	left := slices.DeleteFunc(m.Left, func(l Left) bool { return m.owned[l.File] })
	m.Left = nil
	m.addFolders()
	m.sort()
	m.Left = joined(left, m.Left)
	return &m.Found
}

func (f *Found) sortBenchmarks() {
	slices.SortFunc(f.Benchmarks, func(a, b Benchmark) int {
		return cmp.Or(comparePaths(a.Name, b.Name), comparePaths(a.Variants[0].File, b.Variants[0].File))
	})
}

func (f *Found) sort() {
	f.sortBenchmarks()
	slices.SortFunc(f.Left, func(a, b Left) int { return compareWalked(a.File, b.File) })
	slices.SortFunc(f.Tools, func(a, b Tool) int {
		return cmp.Or(comparePaths(a.Dir, b.Dir), strings.Compare(a.Name, b.Name), slices.Compare(a.Command, b.Command))
	})
}

// comparePaths orders names and paths as people do, with numbers by their value.
func comparePaths(a, b string) int {
	whole := strings.Compare(a, b)
	for {
		same := commonLength(a, b)
		if same == len(a) || same == len(b) {
			return cmp.Or(cmp.Compare(len(a), len(b)), whole)
		}
		start := same
		for start > 0 && isDigit(a[start-1]) {
			start--
		}
		x, y := digits(a[start:]), digits(b[start:])
		if x == 0 || y == 0 {
			return cmp.Compare(a[same], b[same])
		}
		if order := compareNumbers(a[start:start+x], b[start:start+y]); order != 0 {
			return order
		}
		a, b = a[start+x:], b[start+y:]
	}
}

// compareWalked orders paths as a tree is walked: the content of a folder comes before its neighbours.
func compareWalked(a, b string) int {
	same := commonLength(a, b)
	switch {
	case same == len(a) || same == len(b):
		return cmp.Compare(len(a), len(b))
	case a[same] == '/':
		return -1
	case b[same] == '/':
		return 1
	}
	return cmp.Compare(a[same], b[same])
}

// commonLength returns how many bytes two texts have in common at their beginning.
func commonLength(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// compareNumbers compares numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// prefix marks functions that are benchmarks by their names.
const prefix = "bench_"

// Objects lists the benchmarks in a Python file, by its text: functions named bench_*, and classes with benchmark_fn. It returns none if
// bench selects the single object anyway, or if only Python can determine the content of the file. stem is the name of the file without
// its extension.
func Objects(source, stem string) ([]string, error) {
	m, err := readModule(source)
	if err != nil { // Python has a better message
		return nil, nil
	}
	usual, missing := m.object(usualObjects, stem)
	if usual != "" {
		return nil, nil
	}
	var found, others []string
	for _, f := range m.functions {
		switch {
		case f.method:
		case strings.HasPrefix(f.name, prefix):
			found = appendNew(found, f.name)
		case !strings.HasPrefix(f.name, "_"):
			others = appendNew(others, f.name)
		}
	}
	for _, c := range m.classes {
		if has, _ := m.measures(c.name); has && !strings.HasPrefix(c.name, "_") {
			found = appendNew(found, c.name)
		}
	}
	if len(found) > 0 || missing == nil {
		return found, nil
	}
	has := "it has no function either"
	if len(others) > 0 {
		const maxShown = 8
		shown := others[:min(len(others), maxShown)]
		names := strings.Join(shown, ", ")
		if more := len(others) - len(shown); more > 0 {
			names = fmt.Sprintf("%s and %d more", names, more)
		}
		has = fmt.Sprintf("it has %s: choose one with %s.py:%s", names, stem, others[0])
		if len(others) > 1 {
			has += fmt.Sprintf("; %s.py:%s,%s measures several", stem, others[0], others[1])
		}
	}
	return nil, fmt.Errorf("%s.py has no %s* function and no class with %s; %s", stem, prefix, method, has)
}

// appendNew adds a name unless it is there. A later function of the same name replaces the first one, in its position.
func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
