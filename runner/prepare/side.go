package prepare

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
)

// Side is a folder with the code to measure. The zero value is the working directory.
type Side struct {
	Name   string   // base or head; empty where there is one side
	Dir    string   // where relative paths begin; empty is the working directory
	Root   string   // the tree of the side, around Dir; empty where there is one side
	Trees  []string // names of the user's working tree, absolute; the first one is without symbolic links
	Others []string // folders with other versions of the code, from which nothing may come
	Exempt []string // paths below those that are shared by both sides
}

// Has reports whether a path exists for a point in a folder.
func (s Side) Has(dir, path string) bool { return exists(inDir(s.resolve(dir), path)) }

// inDir is a path as a process in dir sees it; dir is empty for the working directory.
func inDir(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// absent is the reason why a point can be launched only on the other side: its files do not exist here. It is nil if they exist, or if
// they exist on no side.
func (t *Targets) absent(p *sweep.Point, on int) error {
	if len(t.Sides) == 1 {
		return nil
	}
	for _, path := range needed(p) {
		there := func(i int) bool { return t.Sides[i].Has(p.Dir, path) }
		if !there(on) && there(1-on) {
			return fmt.Errorf("%s does not exist on side %s", cmp.Or(path, p.Dir, "the working directory"), t.Sides[on].Name)
		}
	}
	return nil
}

// needed are the texts of a point that are relative paths if there is something of that name, the empty one its
// folder. A program without a slash is none: it is looked up in PATH.
func needed(p *sweep.Point) []string {
	paths := []string{p.File, p.ModelPath}
	for _, f := range extraFiles(p) {
		paths = append(paths, f.path)
	}
	for i, word := range p.Command {
		if i > 0 || strings.Contains(word, "/") {
			paths = append(paths, word)
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" || filepath.IsAbs(path) })
	if !filepath.IsAbs(p.Dir) {
		paths = append(paths, "")
	}
	return paths
}

// resolve is a folder of a point, on this side.
func (s Side) resolve(dir string) string {
	if s.Dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.Dir, dir)
}

// foreign is the folder of other code that a path lies in; empty if it lies in none.
func (s Side) foreign(path string) string {
	for _, dir := range s.Others {
		if worktree.Within(path, dir) && !s.exempt(path) {
			return dir
		}
	}
	return ""
}
