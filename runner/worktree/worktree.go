package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The two sides of a comparison. Their names are equally long, so that the paths of both trees are.
const (
	baseSide = "base" // the commit to compare with
	headSide = "head" // the user's working tree, or another commit
)

// Options define what is compared, and where.
type Options struct {
	Dir     string   // where the user works, in a working tree of a git repository
	Against string   // what git calls the base: a branch, a tag, a commit
	Head    string   // likewise the head; empty: the user's working tree, with what is not committed
	Session string   // names the folder of the two trees; no two at a time may have the same
	Share   []string // paths that git ignores, relative to Dir, linked into both trees
	Exclude []string // paths that are no code, absolute or relative to Dir: the store, what results are written to
	Root    string   // where the folders of all sessions are; empty: neurolens/worktrees in the user's cache
}

// Tree is one side: a separate repository with the files of one commit or, for a dirty head, the user's files.
type Tree struct {
	Side   string // base or head
	Root   string // absolute, without symbolic links, as long as that of the other side
	Dir    string // what Options.Dir is in this tree
	Exists bool   // whether this side has a folder Dir
	Code          // of the head, Commit is the user's and not the one that was made of a dirty tree, which git in the tree tells
}

// Pair is the two sides.
type Pair struct {
	Base, Head Tree

	user   repo
	shared []string // from the root of a tree

	closing sync.Mutex
	folder  *folder // nil after Close
}

// Open creates the two sides. Errors have one line. After an error, also if ctx ended, everything created so far is removed. Call Clean before.
func Open(ctx context.Context, o Options) (*Pair, error) {
	p, err := open(ctx, o)
	if err == nil {
		return p, nil
	}
	if p != nil {
		err = errors.Join(err, p.Close())
	}
	return nil, fmt.Errorf("comparing with %q: %w", o.Against, err)
}

// open is Open; the pair of an error, if there is one, is to be closed.
func open(ctx context.Context, o Options) (*Pair, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r, prefix, err := find(ctx, dir)
	if err != nil {
		return nil, err
	}
	p := &Pair{user: r, Base: Tree{Side: baseSide}, Head: Tree{Side: headSide}}
	if p.Base.Code, err = against(ctx, r, o.Against); err != nil {
		return nil, err
	}
	if o.Head != "" {
		if p.Head.Code, err = against(ctx, r, o.Head); err != nil {
			return nil, fmt.Errorf("side %s: %q: %w", headSide, o.Head, err)
		}
	}
	if p.shared, err = shares(ctx, r, prefix, o.Share); err != nil {
		return nil, err
	}
	root, err := sidesFolder(o.Root)
	if err != nil {
		return nil, err
	}
	if Within(root, r.top) {
		return nil, fmt.Errorf("the two sides cannot be in %q, which is inside the repository %q", root, r.top)
	}
	if p.folder, err = newFolder(root, o.Session); err != nil {
		return nil, err
	}
	p.user.held = p.folder.owner
	return p, p.fill(ctx, prefix, absolute(dir, o.Exclude))
}

// against is the code of the commit that the user names.
func against(ctx context.Context, r repo, name string) (Code, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return Code{}, errors.New("want a branch, a tag or a commit")
	}
	commit, err := r.commit(ctx, name)
	if err != nil {
		return Code{}, err
	}
	if commit == "" {
		return Code{}, r.absent(ctx, name)
	}
	branch, err := r.branch(ctx, name)
	if err != nil {
		return Code{}, err
	}
	tree, err := r.tree(ctx, commit)
	return Code{Commit: commit, Branch: branch, Tree: tree}, err
}

// fill makes both trees in the folder.
func (p *Pair) fill(ctx context.Context, prefix string, exclude []string) error {
	head := p.Head.Commit
	if head == "" {
		var err error
		if head, err = p.snapshot(ctx, exclude); err != nil {
			return err
		}
	}
	commits := map[string]string{baseSide: p.Base.Commit, headSide: head}
	for _, t := range []*Tree{&p.Base, &p.Head} {
		t.Root = filepath.Join(p.folder.path, t.Side)
		t.Dir = filepath.Join(t.Root, prefix)
		side, err := p.folder.clone(ctx, p.user, t.Root, filepath.Join(t.Root, ".git"), commits[t.Side])
		if err == nil {
			err = p.folder.populate(ctx, p.user, side)
		}
		if err != nil {
			return fmt.Errorf("side %s: %w", t.Side, err)
		}
		if err := link(p.user.top, t.Root, p.shared); err != nil {
			return fmt.Errorf("side %s: %w", t.Side, err)
		}
		info, err := os.Stat(t.Dir)
		t.Exists = err == nil && info.IsDir()
	}
	return ctx.Err()
}

// snapshot makes the user's working tree the head, and gives the commit that holds its files.
func (p *Pair) snapshot(ctx context.Context, exclude []string) (commit string, err error) {
	s := snapshot{scratch: p.folder.scratch(), exclude: exclude, keep: true}
	if p.Head.Code, commit, err = s.take(ctx, p.user); err != nil {
		return "", fmt.Errorf("reading the working tree: %w", err)
	}
	return commit, nil
}

// Foreign returns the folders from which a side may load nothing: the user's working tree and the other side. exempt are shared paths in them. If
// an interpreter is in the user's tree, as in a virtual environment, the caller must exempt its folder.
func (p *Pair) Foreign(side string) (folders, exempt []string) {
	other := p.Head.Root
	if side == headSide {
		other = p.Base.Root
	}
	for _, path := range p.shared {
		exempt = append(exempt, filepath.Join(p.user.top, path))
	}
	return []string{p.user.top, other}, exempt
}

// Close removes the two sides. It may be called more than once. What an error leaves is removed by Clean.
func (p *Pair) Close() error {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.folder == nil {
		return nil
	}
	folder := p.folder
	p.folder = nil
	if err := folder.remove(); err != nil {
		return fmt.Errorf("removing the two sides in %q: %w", folder.path, err)
	}
	return nil
}
