package prepare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/runner/worktree"
)

// Bounds of what is looked at to see what a build has made.
const (
	maxTreeFiles  = 200_000   // files of a tree that are looked at; the rest is not
	maxBefore     = 16 << 20  // B: a larger file counts as changed if it was written, though it may hold what it held
	maxBeforeTree = 256 << 20 // B, of all files that are read before a build
	maxAfter      = 256 << 20 // B: for a larger file that changed, size and time stand for what it holds
)

// tree is the state of the regular files below a folder, by their path below it.
type tree struct {
	root    string
	files   map[string]fileState
	outputs worktree.Outputs // no products of a build
}

// fileState is what a file is known by.
type fileState struct {
	size     int64
	modified time.Time
	sum      string // of what it held before a build; empty where it was not read
}

// treeBefore is the state of the files around a folder before a build: of its repository, where it is in one.
func treeBefore(dir string, exclude []string) tree {
	t := tree{root: rootOf(dir), files: map[string]fileState{}, outputs: worktree.OpenOutputs()}
	left := int64(maxBeforeTree)
	t.walk(exclude, func(path string, state fileState) {
		if state.size <= min(left, maxBefore) {
			left -= state.size
			state.sum, _ = hashFile(filepath.Join(t.root, path))
		}
		t.files[path] = state
	})
	return t
}

// changes lists each file that a build has created or changed, with the hash of its content. A file that was written with the same
// content has not changed.
func (t tree) changes(exclude []string) []string {
	var lines []string
	t.walk(exclude, func(path string, state fileState) {
		before, known := t.files[path]
		if known && before.size == state.size && before.modified.Equal(state.modified) {
			return
		}
		sum := fmt.Sprintf("%d B of %s", state.size, state.modified.UTC())
		if state.size <= maxAfter {
			if text, err := hashFile(filepath.Join(t.root, path)); err == nil {
				sum = text
			}
		}
		if !known || before.sum != sum {
			lines = append(lines, path+"\x00"+sum+"\n")
		}
	})
	return lines
}

// walk visits the regular files that can be seen, in the order of their names, without those of git and of exclude and the
// outputs of this process.
func (t tree) walk(exclude []string, visit func(path string, state fileState)) {
	n := 0
	_ = filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // what cannot be read is not looked at
			return nil
		case d.Name() == ".git" || slices.Contains(exclude, path):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		case n == maxTreeFiles:
			return fs.SkipAll
		}
		n++
		info, err := d.Info()
		below, relErr := filepath.Rel(t.root, path)
		if err == nil && relErr == nil && !t.outputs.Has(info) {
			visit(below, fileState{size: info.Size(), modified: info.ModTime()})
		}
		return nil
	})
}

// rootOf is the folder around dir that is a working tree of git, or dir.
func rootOf(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for parent := dir; ; parent = filepath.Dir(parent) {
		if exists(filepath.Join(parent, ".git")) {
			return parent
		}
		if parent == filepath.Dir(parent) {
			return dir
		}
	}
}

// treesBefore are the trees in which the builds of a side run.
func (t *Targets) treesBefore(on int) []tree {
	var trees []tree
	for i := range t.Sweep.Points {
		p := &t.Sweep.Points[i]
		dir := t.Sides[on].resolve(p.Dir)
		known := func(in tree) bool { return in.root == rootOf(dir) }
		if len(p.Build) > 0 && !slices.ContainsFunc(trees, known) {
			trees = append(trees, treeBefore(dir, t.Exclude))
		}
	}
	return trees
}

// builtHash is the hash of the changes that builds have made in trees; empty: none.
func builtHash(trees []tree, exclude []string) string {
	digest, empty := sha256.New(), true
	for _, t := range trees {
		for _, line := range t.changes(exclude) {
			empty = false
			digest.Write([]byte(line))
		}
	}
	if empty {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil))
}
