package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// repo is a repository as it is seen from one working tree.
type repo struct {
	top    string // the root of the working tree, without symbolic links
	dir    string // where git keeps the index and HEAD of this tree
	common string // where git keeps what all trees of the repository share
	held   *os.File
}

// find is the repository whose working tree dir lies in, and the way from the root of the tree to dir.
func find(ctx context.Context, dir string) (repo, string, error) {
	inside, err := call{dir: dir}.run(ctx, "rev-parse", "--is-inside-work-tree", "--is-bare-repository")
	switch {
	case errors.Is(err, errBare) && strings.Contains(dir+"/", "/.git/"): // before 2.45 git takes it for a bare repository
		return repo{}, "", fmt.Errorf("%q is inside the .git folder", dir)
	case errors.Is(err, errNoRepository), errors.Is(err, errUntrusted), errors.Is(err, errBare):
		return repo{}, "", fmt.Errorf("%q: %w", dir, err)
	case err != nil:
		return repo{}, "", err
	case inside == "false\ntrue\n":
		return repo{}, "", fmt.Errorf("%q: %w", dir, errBare)
	case inside != "true\nfalse\n":
		return repo{}, "", fmt.Errorf("%q is inside the .git folder", dir)
	}
	says, err := call{dir: dir}.run(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
	if err != nil {
		return repo{}, "", err
	}
	lines := strings.Split(says, "\n")
	if len(lines) != 5 {
		return repo{}, "", fmt.Errorf("%q: the path has a line break", dir)
	}
	common := lines[2]
	if !filepath.IsAbs(common) {
		// git means the folder that it ran in, which it reached through the symbolic links in dir.
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return repo{}, "", err
		}
		if common, err = filepath.Abs(filepath.Join(real, common)); err != nil {
			return repo{}, "", err
		}
	}
	return repo{top: lines[0], dir: lines[1], common: common}, filepath.FromSlash(lines[3]), nil
}

// git asks about the repository, at the root of the working tree.
func (r repo) git(ctx context.Context, args ...string) (string, error) {
	return call{dir: r.top, held: r.held}.run(ctx, args...)
}

// commit is what name stands for; empty where there is no such commit.
func (r repo) commit(ctx context.Context, name string) (string, error) {
	says, err := r.git(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if refused, ok := errors.AsType[*refusal](err); ok && (refused.code == 1 || refused.code == 128) {
		return "", nil // 128: a name of wrong form, or of what is not a commit
	}
	return strings.TrimSpace(says), err
}

// tree is the content of a commit.
func (r repo) tree(ctx context.Context, commit string) (string, error) {
	says, err := r.git(ctx, "rev-parse", "--verify", commit+"^{tree}")
	return strings.TrimSpace(says), err
}

// branch is the branch that name is or, as HEAD, stands for; empty where it is a tag or a commit.
func (r repo) branch(ctx context.Context, name string) (string, error) {
	says, err := r.git(ctx, "rev-parse", "--symbolic-full-name", name)
	if _, ok := errors.AsType[*refusal](err); ok {
		return "", nil
	}
	full := strings.TrimSpace(says)
	for _, kind := range []string{"refs/heads/", "refs/remotes/"} {
		if branch, ok := strings.CutPrefix(full, kind); ok {
			return branch, err
		}
	}
	return "", err
}

// absent says why there is no commit of that name, and what to do.
func (r repo) absent(ctx context.Context, name string) error {
	shallow, err := r.git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if strings.TrimSpace(shallow) == "true" {
		return fmt.Errorf("this clone is shallow and does not have the commit: use fetch-depth: 0 in actions/checkout, or git fetch --unshallow")
	}
	remote, err := r.git(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes/*/"+name)
	if err != nil {
		return err
	}
	if first, _, ok := strings.Cut(remote, "\n"); ok {
		return fmt.Errorf("no such commit: did you mean %s?", first)
	}
	return fmt.Errorf("no such commit")
}

// Within reports whether path is dir or inside it, by its name or through symbolic links. A path that does not exist counts as inside its
// nearest existing folder.
func Within(path, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for _, way := range []string{path, real(path)} {
		for {
			if is, err := os.Stat(way); err == nil && os.SameFile(is, want) {
				return true
			}
			up := filepath.Dir(way)
			if up == way {
				break
			}
			way = up
		}
	}
	return false
}

// real is path without symbolic links, as far as it exists.
func real(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(real(up), filepath.Base(path))
}
