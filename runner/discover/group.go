package discover

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// owner is what files of one benchmark have in common.
type owner struct{ name, ext string }

func ownerOf(c candidate) owner { return owner{c.name, path.Ext(c.file)} }

// group makes benchmarks of the files. Each file goes to one of them or is left.
func (s *search) group() {
	slices.SortFunc(s.files, func(a, b candidate) int { return comparePaths(a.file, b.file) })
	files := map[owner][]candidate{}
	for _, c := range s.files {
		if o := ownerOf(c); s.rule.Baseline == "" || c.variant == s.rule.Baseline {
			files[o] = append(files[o], c)
		}
	}
	if s.rule.Baseline != "" {
		s.joinBaselines(files)
	}
	for o, list := range files {
		if b, is := s.benchmark(o.name, list); is {
			s.found.Benchmarks = append(s.found.Benchmarks, b)
		}
	}
	slices.SortFunc(s.found.Benchmarks, func(a, b Benchmark) int {
		return cmp.Or(comparePaths(a.Name, b.Name), comparePaths(a.Variants[0].File, b.Variants[0].File))
	})
}

// joinBaselines gives each file of another variant to the baseline with the longest name that begins its own.
func (s *search) joinBaselines(files map[owner][]candidate) {
	for _, c := range s.files {
		if c.variant == s.rule.Baseline {
			continue
		}
		o := ownerOf(c)
		for o.name != "" && files[o] == nil {
			o.name = o.name[:max(0, strings.LastIndexByte(o.name, '_'))]
		}
		if o.name == "" {
			s.leave(c.file, "no file of the variant "+s.rule.Baseline+" with its extension is called "+c.name+", or a beginning of that before a _")
			continue
		}
		if technique := strings.TrimPrefix(c.name[len(o.name):], "_"); technique != "" {
			c.variant, c.technique = technique, true
		}
		files[o] = append(files[o], c)
	}
}

// benchmark makes a benchmark of its files, where there is one.
func (s *search) benchmark(name string, files []candidate) (Benchmark, bool) {
	b := Benchmark{Rule: s.rule.Name, Name: name}
	taken := map[string]string{}
	for _, c := range files {
		v := Variant{Name: c.variant, File: c.file}
		if path.Ext(c.file) == ".cu" {
			v.Backend = "cuda"
		}
		if taken[v.Name] != "" && c.technique { // it is called as another variant is
			v.Name = strings.TrimSuffix(path.Base(c.file), path.Ext(c.file))
		}
		if other := taken[v.Name]; other != "" {
			s.leave(c.file, other+" has the same name: the rule's expressions have to tell them apart")
			continue
		}
		taken[v.Name] = c.file
		b.Variants = append(b.Variants, v)
	}
	if s.rule.Baseline != "" && len(b.Variants) == 1 {
		s.leave(b.Variants[0].File, "no other variant of "+name+" is there to compare it with")
		return b, false
	}
	if suite := path.Base(path.Dir(b.Variants[0].File)); suite != "." {
		b.Suite = suite
	}
	return b, true
}
