package runner

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// side is the code that is measured: the working directory, or one of the two sides that a session compares.
type side struct {
	prepare.Side
	code  worktree.Code
	known bool // the code is in a repository
}

// workingTree describes the only side of a session without a comparison. settings are files whose effect is compared otherwise.
func workingTree(ctx context.Context, exclude, settings []string) side {
	code, ok, err := worktree.State(ctx, ".", exclude, settings)
	return side{code: code, known: ok && err == nil} // without it a later session finds that the code changed
}

// InputError is an error in the request of the user. Nothing was launched, or a first launch showed that there is nothing to compare.
type InputError struct{ Err error }

// Error returns the text of the cause.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// cleanSides removes the sides of killed sessions. If that fails, only a session that needs new sides ends with an error.
func (s *session) cleanSides(ctx context.Context) error {
	if _, err := worktree.Clean(ctx, ""); err != nil && s.options.Against != "" {
		return fmt.Errorf("removing files of earlier sessions: %w", err)
	}
	return nil
}

// leaveRepository removes from the environment of this process, and so of all that it starts, the variables with which git tells a hook about
// the user's repository. Builds and programs of two sides run in other repositories, and would write into the user's index.
func leaveRepository(ctx context.Context, against string) error {
	names, err := worktree.LocalVariables(ctx)
	if err != nil {
		return fmt.Errorf("comparing with %q: %w", against, err)
	}
	for _, name := range names {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// openSides creates the two sides of a session that compares the working tree, or a commit, with a commit.
func (s *session) openSides(ctx context.Context) (*worktree.Pair, error) {
	pair, err := worktree.Open(ctx, worktree.Options{
		Dir: ".", Against: s.options.Against, Head: s.options.Head, Session: s.result.Session, Share: s.sweep.Share, Exclude: s.options.Exclude,
	})
	if err != nil {
		return nil, &InputError{err}
	}
	s.assembler.sides = []side{sideOf(pair, pair.Base), sideOf(pair, pair.Head)}
	return pair, nil
}

func sideOf(pair *worktree.Pair, t worktree.Tree) side {
	others, exempt := pair.Foreign(t.Side)
	return side{prepare.Side{Name: t.Side, Dir: t.Dir, Root: t.Root, Trees: namesOf(others[0]), Others: others, Exempt: exempt}, t.Code, true}
}

// namesOf are the names of the user's working tree: without symbolic links, and as the user came to the working directory.
func namesOf(tree string) []string {
	names := []string{tree}
	named, err := os.Getwd() // by $PWD, where that is the working directory
	if err != nil {
		return names
	}
	real, err := filepath.EvalSymlinks(named)
	if err != nil {
		return names
	}
	if name, ok := strings.CutSuffix(named, strings.TrimPrefix(real, tree)); ok && name != tree {
		names = append(names, name)
	}
	return names
}

// sideFolders lists the folders with the code of each side.
func (s *session) sideFolders() []prepare.Side {
	var folders []prepare.Side
	for _, side := range s.assembler.sides {
		folders = append(folders, side.Side)
	}
	return folders
}

// maxChanged is the size from which on the list of changed files is not stored: about 300 files. A later session then cannot tell which
// files differ.
const maxChanged = 16 << 10

// describe adds the state of the code to the environment of a run.
func (s side) describe(env *schema.Env) {
	if !s.known {
		return
	}
	branch := probe.NewMask(os.Environ()).Text(s.code.Branch)
	env.GitCommit, env.GitBranch, env.GitDirty = s.code.Commit, branch, &s.code.Dirty
	env.Facts[prepare.FactTree] = s.code.Tree
	if s.code.Changed != "" && len(s.code.Changed) <= maxChanged {
		env.Facts[prepare.FactTreeChanged] = s.code.Changed
	}
	for key, value := range map[string]string{"git.commit": s.code.Commit, "git.branch": branch, "git.dirty": fmt.Sprint(s.code.Dirty)} {
		delete(env.Missing, key)
		env.Facts[key] = value
		if value == "" {
			delete(env.Facts, key)
			env.Missing[key] = "absent"
		}
	}
}

// compared lists the sides for a plan.
func compared(sides []side) []Side {
	if len(sides) < 2 {
		return nil
	}
	var all []Side
	for _, s := range sides {
		all = append(all, Side{Name: s.Name, Commit: s.code.Commit, Dirty: s.code.Dirty})
	}
	return all
}

// seedOf derives the seed of an order from the identifier of a session.
func seedOf(id schema.ULID) uint64 { return binary.BigEndian.Uint64(id[8:]) }
