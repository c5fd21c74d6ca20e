package discover

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
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
	Backend string // empty where nothing says it
	File    string // slash path from the root of the tree
	Object  string // class or function of a Python file; empty where it is to be found when the file is loaded
	Imports []string
	Problem string // why it will probably fail: the file cannot be read, or has no benchmark; empty: nothing is known
	// NoObject: the file cannot run for its Problem: it has none of the functions and classes of the rule (there may be others, which are not meant), or
	// its name is not UTF-8.
	NoObject bool
}

// Left is a file that was not taken or, with a / at the end, a folder that was not searched.
type Left struct {
	File, Reason string
	Near         bool // a glob of the rule takes it, or it cannot be read: somebody may miss it
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

// finish forms the benchmarks. modules are what the files of all searches import.
func (s *search) finish(modules imports) *Found {
	s.form(modules)
	s.findTools()
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
	looked  map[string]looked
	buffer  bytes.Buffer
	found   *Found
}

// candidate is a file whose name the rule takes.
type candidate struct {
	file, name, variant string
	technique           bool // the variant is what comes after the name of a baseline
}

// leave leaves out a file, during the walk, that nobody expects to be a benchmark.
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
	if err != nil { // entries are what was read before
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

// kind is the type of an entry, or of the target of a link.
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

// unreadable is the reason for leaving out something that cannot be read.
func unreadable(err error) string { return "cannot be read: " + withoutPath(err).Error() }

// withoutPath is an error of a file system without the path, which the message contains already.
func withoutPath(err error) error {
	for {
		inner, is := err.(*fs.PathError)
		if !is {
			return err
		}
		err = inner.Err
	}
}

// file looks at the name of a file. problem is why it cannot be read; empty: nothing is known.
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
