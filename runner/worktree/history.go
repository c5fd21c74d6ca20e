package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Commit is one commit of a history.
type Commit struct {
	ID      string   // hexadecimal, whole
	Parents []string // as many as it has; with FirstParent one at most
	Subject string   // the first line of its message
}

// History is the list of commits that lead from one commit to a later one.
type History struct {
	Good, Bad Commit

	// Commits are those that Bad contains and Good does not, Bad among them; each after all of its children.
	Commits []Commit
}

// Between reads the commits between two commits of the repository around dir, which are named as in git. With firstParent, commits that merges
// brought in are left out. Git writes nothing. Errors have one line: a name that is not a commit here, two names of the same commit, or a good
// commit that is not an ancestor of the bad one.
func Between(ctx context.Context, dir, good, bad string, firstParent bool) (History, error) {
	h, err := between(ctx, dir, good, bad, firstParent)
	if err != nil {
		return History{}, fmt.Errorf("commits between %q and %q: %w", good, bad, err)
	}
	return h, nil
}

func between(ctx context.Context, dir, good, bad string, firstParent bool) (h History, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return h, err
	}
	r, _, err := find(ctx, dir)
	if err != nil {
		return h, err
	}
	ends := map[string]Code{}
	for _, name := range []string{good, bad} {
		if ends[name], err = against(ctx, r, name); err != nil {
			return h, fmt.Errorf("%q: %w", name, err)
		}
	}
	from, to := ends[good].Commit, ends[bad].Commit
	if from == to {
		return h, errors.New("they are the same commit")
	}
	_, err = r.git(ctx, "merge-base", "--is-ancestor", from, to)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.code == 1 {
		return h, fmt.Errorf("%q is not an ancestor of %q: git merge-base %s %s finds a common one", good, bad, good, bad)
	}
	if err != nil {
		return h, err
	}
	said, err := r.commits(ctx, firstParent, "--max-count=1", from)
	if err != nil {
		return h, err
	}
	h.Good = said[0]
	if h.Commits, err = r.commits(ctx, firstParent, to, "^"+from); err != nil {
		return h, err
	}
	h.Bad = h.Commits[0]
	return h, nil
}

// commits are those that git rev-list gives for these arguments, children first. Commits of which only a merge knows
// are left out with firstParent.
func (r repo) commits(ctx context.Context, firstParent bool, of ...string) ([]Commit, error) {
	args := []string{"rev-list", "--topo-order", "--parents", "--format=%s"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	says, err := r.git(ctx, append(append(args, of...), "--")...)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(says, "\n"), "\n")
	if len(lines)%2 != 0 {
		return nil, fmt.Errorf("git rev-list writes %d lines, want two a commit", len(lines))
	}
	var all []Commit
	for i := 0; i < len(lines); i += 2 {
		ids := strings.Fields(lines[i]) // commit ID PARENT...
		if len(ids) < 2 {
			return nil, fmt.Errorf("git rev-list writes %q, want a commit", lines[i])
		}
		c := Commit{ID: ids[1], Parents: ids[2:], Subject: lines[i+1]}
		if firstParent && len(c.Parents) > 1 {
			c.Parents = c.Parents[:1]
		}
		all = append(all, c)
	}
	return all, nil
}
