package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

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
	s.looked = s.lookAll(paths)
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

// withFolder is a name with the folder of a file before it.
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

// printable is a name with \xNN for each byte that is not part of UTF-8.
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

// leave leaves out a file that nobody expects to be a benchmark.
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

// alike are the benchmarks, by index, with a variant that has the same name as one of another benchmark, and the file of that.
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
