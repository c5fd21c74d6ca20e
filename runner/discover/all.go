package discover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Tree opens a folder as All needs it. Links to files are followed wherever they lead.
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

// All searches several folders by several rules; without folders, in the folders of each rule, if they exist. A file that several
// rules take belongs to the first of them. A file is Left if every rule that saw it left it out.
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
	owned map[string]bool // files that are of a benchmark
}

// add adds the result of one search.
func (m *merging) add(f *Found) {
	for _, b := range f.Benchmarks {
		if slices.ContainsFunc(b.Variants, func(v Variant) bool { return m.owned[v.File] }) {
			continue // another rule has it, or this one looked into the folder before
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

// joined are the files of two lists, both in order, each file once.
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
