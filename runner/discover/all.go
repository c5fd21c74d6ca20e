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

// Tree is a folder as All takes it. Links of it that lead to files are followed wherever they lead.
func Tree(dir string) (fs.FS, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return nil, fmt.Errorf("looking into %s: %w", dir, withoutPath(err))
	}
	return os.DirFS(dir), nil
}

// All finds by several rules in several folders: without any, in those of each rule, as far as they are there. A file that
// several rules take is of the first. A file is Left where every rule that saw it left it.
func All(tree fs.FS, rules []Rule, folders []string) (*Found, error) {
	m := merging{owned: map[string]bool{}, reasons: map[string][]string{}, near: map[string]bool{}}
	for _, rule := range rules {
		in := folders
		if len(in) == 0 {
			in = rule.In
		}
		if len(in) == 0 {
			in = []string{"."}
		}
		for _, folder := range in {
			found, err := find(tree, rule, folder)
			if len(folders) == 0 && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			m.add(found, rule.Name, len(rules) > 1)
		}
	}
	return m.found(), nil
}

// merging is what was found so far, of several searches.
type merging struct {
	benchmarks []Benchmark
	tools      []Tool
	owned      map[string]bool // files that are of a benchmark
	reasons    map[string][]string
	near       map[string]bool
}

// add takes in what a rule has found.
func (m *merging) add(f *Found, rule string, several bool) {
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
		m.benchmarks = append(m.benchmarks, b)
	}
	for _, l := range f.Left {
		m.near[l.File] = m.near[l.File] || l.Near
		if several {
			l.Reason = rule + ": " + l.Reason
		}
		if !slices.Contains(m.reasons[l.File], l.Reason) {
			m.reasons[l.File] = append(m.reasons[l.File], l.Reason)
		}
	}
	for _, t := range f.Tools {
		same := func(other Tool) bool {
			return other.Name == t.Name && other.Dir == t.Dir && slices.Equal(other.Command, t.Command)
		}
		if !slices.ContainsFunc(m.tools, same) {
			m.tools = append(m.tools, t)
		}
	}
}

func (m *merging) found() *Found {
	f := &Found{Benchmarks: m.benchmarks, Tools: m.tools}
	for file, reasons := range m.reasons {
		if !m.owned[file] {
			f.Left = append(f.Left, Left{file, strings.Join(reasons, "; "), m.near[file]})
		}
	}
	f.tellApart()
	f.sort()
	return f
}

func (f *Found) sort() {
	slices.SortFunc(f.Benchmarks, func(a, b Benchmark) int {
		return cmp.Or(comparePaths(a.Name, b.Name), comparePaths(a.Variants[0].File, b.Variants[0].File))
	})
	slices.SortFunc(f.Left, func(a, b Left) int { return comparePaths(a.File, b.File) })
	slices.SortFunc(f.Tools, func(a, b Tool) int {
		return cmp.Or(comparePaths(a.Dir, b.Dir), strings.Compare(a.Name, b.Name), slices.Compare(a.Command, b.Command))
	})
}
