package runner

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// side is the code that is measured: what the working directory holds, or one of the two that a session compares.
type side struct {
	name   string   // base or head; empty where there is one side
	dir    string   // where relative paths begin; empty is the working directory
	others []string // folders with other versions of the code, from which nothing may come
	exempt []string // paths below those that are shared by both sides
	code   worktree.Code
	known  bool // the code is in a repository
}

// workingTree is the only side of a session.
func workingTree(ctx context.Context, exclude []string) side {
	code, ok, err := worktree.State(ctx, ".", exclude)
	return side{code: code, known: ok && err == nil} // without it a later session finds that the code changed
}

// InputError is something that makes no sense in what was asked; nothing was launched.
type InputError struct{ Err error }

// Error says what makes no sense.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *InputError) Unwrap() error { return e.Err }

// cleanSides removes the sides that sessions left which were killed. What cannot be removed keeps only a session from
// measuring that is to make such itself.
func (s *session) cleanSides(ctx context.Context) error {
	if _, err := worktree.Clean(ctx, ""); err != nil && s.options.Against != "" {
		return fmt.Errorf("removing what earlier sessions left: %w", err)
	}
	return nil
}

// openSides makes the two sides of a session that measures the working tree, or a commit, against a commit.
func (s *session) openSides(ctx context.Context) (*worktree.Pair, error) {
	pair, err := worktree.Open(ctx, worktree.Options{
		Dir: ".", Against: s.options.Against, Head: s.options.Head, Session: s.result.Session, Share: s.sweep.Share, Exclude: s.options.Exclude,
	})
	if err != nil {
		return nil, &InputError{err}
	}
	s.sides = []side{sideOf(pair, pair.Base), sideOf(pair, pair.Head)}
	if err := s.checkSides(pair); err != nil {
		return nil, errors.Join(&InputError{err}, pair.Close())
	}
	return pair, nil
}

func sideOf(pair *worktree.Pair, t worktree.Tree) side {
	others, exempt := pair.Foreign(t.Side)
	return side{name: t.Side, dir: t.Dir, others: others, exempt: exempt, code: t.Code, known: true}
}

// checkSides refuses a sweep that would measure the same on both sides.
func (s *session) checkSides(pair *worktree.Pair) error {
	uses := false
	for i := range s.sweep.Points {
		p := &s.sweep.Points[i]
		for _, path := range pathsOf(p) {
			if filepath.IsAbs(path) {
				if pair.Inside(path) {
					return fmt.Errorf("%s: %s is in the repository, and the same on both sides: make it relative", s.sweep.Name, path)
				}
				continue
			}
			for _, side := range s.sides {
				uses = uses || exists(inDir(side.resolve(p.Dir), path))
			}
		}
		uses = uses || len(p.Build) > 0
	}
	if !uses {
		return fmt.Errorf("%s: it uses nothing from the repository: both sides would be the same", s.sweep.Name)
	}
	return nil
}

// pathsOf are the texts of a point that may be paths.
func pathsOf(p *sweep.Point) []string {
	paths := slices.Clone(p.Command)
	for _, path := range []string{p.File, p.ModelPath, p.Dir} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// absent is why a point cannot be launched on this side alone: what it runs is not there. It is nil where it is, and
// where it is on no side.
func (s *session) absent(p *sweep.Point, on int) error {
	if len(s.sides) == 1 {
		return nil
	}
	for _, path := range needed(p) {
		there := func(i int) bool { return exists(inDir(s.sides[i].resolve(p.Dir), path)) }
		if !there(on) && there(1-on) {
			return fmt.Errorf("%s is not on side %s", cmp.Or(path, p.Dir, "the working directory"), s.sides[on].name)
		}
	}
	return nil
}

// needed are the texts of a point that are relative paths if there is something of that name, the empty one its
// folder. A program without a slash is none: it is looked up in PATH.
func needed(p *sweep.Point) []string {
	paths := []string{p.File, p.ModelPath}
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
func (s side) resolve(dir string) string {
	if s.dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.dir, dir)
}

// foreign is the folder of other code that a path lies in; empty if it lies in none.
func (s side) foreign(path string) string {
	for _, dir := range s.others {
		if worktree.Within(path, dir) && !slices.ContainsFunc(s.exempt, func(e string) bool { return worktree.Within(path, e) }) {
			return dir
		}
	}
	return ""
}

// describe puts the code into the manifest of a run.
func (s side) describe(env *schema.Env) {
	if !s.known {
		return
	}
	env.GitCommit, env.GitBranch, env.GitDirty = s.code.Commit, s.code.Branch, &s.code.Dirty
	env.Facts["git.tree"] = s.code.Tree
	for key, value := range map[string]string{"git.commit": s.code.Commit, "git.branch": s.code.Branch, "git.dirty": fmt.Sprint(s.code.Dirty)} {
		delete(env.Missing, key)
		env.Facts[key] = value
		if value == "" {
			delete(env.Facts, key)
			env.Missing[key] = "absent"
		}
	}
}

// compared are the sides for a plan.
func compared(sides []side) []Side {
	if len(sides) < 2 {
		return nil
	}
	var all []Side
	for _, s := range sides {
		all = append(all, Side{Name: s.name, Commit: s.code.Commit, Dirty: s.code.Dirty})
	}
	return all
}

// seedOf makes the seed of an order from the identifier of a session.
func seedOf(id schema.ULID) uint64 { return binary.BigEndian.Uint64(id[8:]) }
