// Package worktree creates the two sides of a comparison of two commits: the base, which is a commit that the user names, and the
// head, which is the user's working tree or another commit. Both are in folders with paths of equal length. A side that ran in place
// would differ from the other in caches, path length and edits made in the meantime.
//
// Between lists the commits that lead from one commit to another.
//
// Each side is a repository of its own. It borrows the objects of the user's repository (objects/info/alternates, which git only
// reads) and has copies of the references but for the stash, of the configuration, of the patterns of ignored files, attributes and
// sparse checkouts, and of the end of a shallow history. HEAD is the commit itself. The remotes are those of the user, and the hooks are
// left out. Submodules, also nested ones, are cloned in the same way from the repositories on this machine, to the places where git
// submodule expects them. A submodule that the user has not checked out is empty on both sides. So a build may do with git whatever it
// wants. In linked working trees (git worktree) it would share configuration, references, stash, hooks and submodules with the user, and
// git submodule update would write the side's path into the user's configuration. A clone costs no more, because the files of the
// working trees take the time: two sides of 5,000 files took 7.4 s of processor time, and two linked working trees 7.3 s (BenchmarkOpen).
//
// If the working tree is clean, the head is its commit. Otherwise the uncommitted state, including new files that git does not
// ignore, becomes a commit in the folder of the sides. Ignored files are on neither side unless they are shared, which links
// them into both: these links are the only way from a side to the user's files.
//
// The package writes nothing into the user's repository, except that Git LFS notes the version of its format in the configuration, if it
// has not done so before. No hook runs, nothing asks for a password, and git makes no network connection: content that is not on this
// machine is an error. Filters run as in any checkout. Git LFS, if it is installed, takes files from its store in the repository and is
// prevented from downloading others.
//
// Nothing in the user's repository keeps the objects of the sides either. While they exist, git gc --prune=now in the user's repository
// breaks a side whose commit no reference leads to.
//
// Close removes the sides. If a process was killed, Clean removes its sides: a lock shows which owners are still alive.
//
// Refused are: a folder without a repository, a bare repository, one that git does not trust, an unknown commit, a folder for the
// sides inside the repository, and shared paths that leave the tree or that git tracks.
package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// The names of the two sides of a comparison. They are equally long, so that the paths of both trees are.
const (
	baseSide = "base" // the commit to compare with
	headSide = "head" // the user's working tree, or another commit
)

// Options define the two versions to compare, and where their trees are made.
type Options struct {
	Dir     string   // where the user works, in a working tree of a git repository
	Against string   // name of the base in git: a branch, a tag, a commit
	Head    string   // name of the head in git; empty: the user's working tree, with uncommitted changes
	Session string   // names the folder of the two trees; no two at a time may have the same
	Share   []string // paths that git ignores, relative to Dir, linked into both trees
	Exclude []string // paths that are no code, absolute or relative to Dir: the store, files of results
	Root    string   // where the folders of all sessions are; empty: neurolens/worktrees in the user's cache
}

// Tree is one side: a separate repository with the files of one commit or, for a dirty head, the user's files.
type Tree struct {
	Side string // base or head
	Root string // absolute, without symbolic links, as long as the other side's
	Dir  string // the folder in this tree that corresponds to Options.Dir
	Code        // of the head, Commit is the user's and not the temporary one of a dirty tree, which is HEAD in the tree
}

// Pair is the two sides.
type Pair struct {
	Base, Head Tree

	user   repo
	shared []string // from the root of a tree

	closing sync.Mutex
	folder  *folder // nil after Close
}

// Open creates the two sides. Errors have one line. After an error, also if ctx ended, everything created so far is removed. Call Clean
// before.
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

// open implements Open; even with an error, the caller must close the pair.
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

// against returns the code of the commit that the user names.
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

// Foreign returns the folders from which a side may load nothing: the user's working tree and the other side. exempt are shared paths in
// them. If an interpreter is in the user's tree, as in a virtual environment, the caller must exempt its folder.
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

// Close removes the two sides. It may be called more than once. Clean removes anything that remains after an error.
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

// Code is the state of the code in a working tree.
type Code struct {
	Commit string // hexadecimal; empty if there is none yet
	Branch string // empty where HEAD is on no branch
	Dirty  bool   // a file of Commit differs, or a new one that may be code is there: not ignored, and neither - in Changed nor a log nor documentation

	// Tree is the hash of all files: the same for the same files, whatever commit they came from. It is git's hash of the tree, or a
	// SHA-256 if State found a new file of 64 MiB or more, which is represented by its size and time of change.
	Tree string

	// Changed lists the files that differ from Commit: a line "STATE PATH" for each, sorted, with the path from the root of the tree,
	// quoted if it is not printable. Equal states mean equal content. The state begins with + if the commit lacks the file, and is + if
	// such a file is empty. It is - for files whose content does not matter: the outputs of this process, files with LauncherMark, new reports and charts, and
	// the unimportant files of State. Empty without a Commit.
	Changed string
}

// States of files in Code.Changed.
const (
	Unimportant = "-" // the content does not matter
	New         = "+" // begins the state of a file that the commit lacks, and is that of an empty one
)

// LauncherMark is text of a script that starts NeuroLens, and is no code that is measured.
const LauncherMark = "This script starts neurolens and is not measured"

// State returns the state of the code in the working tree around dir, without the paths in exclude. The files in unimportant are part of
// it, and marked in Code.Changed. Paths are absolute, or relative to dir. Git writes nothing into the repository. ok is false, without an
// error, if there is no git, no repository, or no working tree.
func State(ctx context.Context, dir string, exclude, unimportant []string) (code Code, ok bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return Code{}, false, err
	}
	r, _, err := find(ctx, dir)
	if errors.Is(err, errNoGit) || errors.Is(err, errNoRepository) || errors.Is(err, errBare) {
		return Code{}, false, nil
	}
	if err == nil {
		code, err = state(ctx, r, absolute(dir, exclude), absolute(dir, unimportant))
	}
	if err != nil {
		return Code{}, false, fmt.Errorf("reading the state of the code: %w", err)
	}
	return code, true, nil
}

func state(ctx context.Context, r repo, exclude, unimportant []string) (Code, error) {
	scratch, err := os.MkdirTemp("", "neurolens-code-")
	if err != nil {
		return Code{}, err
	}
	defer os.RemoveAll(scratch)
	s := snapshot{scratch: scratch, exclude: exclude, unimportant: unimportant}
	code, _, err := s.take(ctx, r)
	if len(s.marks) > 0 {
		sum := sha256.Sum256([]byte(code.Tree + "\n" + strings.Join(s.marks, "")))
		code.Dirty, code.Tree = true, fmt.Sprintf("%x", sum)
	}
	return code, err
}

// absolute returns paths seen from dir.
func absolute(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		if out[i] = path; !filepath.IsAbs(path) {
			out[i] = filepath.Join(dir, path)
		}
	}
	return out
}

// shares returns the shared paths, relative to the root of the user's tree. prefix is the path from there to the folder that they are
// relative to.
func shares(ctx context.Context, r repo, prefix string, paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		rel := filepath.Join(prefix, path)
		switch {
		case path == "" || filepath.IsAbs(path):
			return nil, fmt.Errorf("share %q: want a relative path", path)
		case !filepath.IsLocal(rel) || rel == ".":
			return nil, fmt.Errorf("share %q: want a path in %q", path, r.top)
		}
		if _, err := os.Lstat(filepath.Join(r.top, rel)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("share %q: %q does not exist", path, filepath.Join(r.top, rel))
		} else if err != nil {
			return nil, fmt.Errorf("share %q: %w", path, err)
		}
		_, err := r.git(ctx, "check-ignore", "--quiet", "--", rel)
		if refused, ok := errors.AsType[*refusal](err); ok && refused.code == 1 {
			return nil, fmt.Errorf("share %q: git does not ignore it, so each side already has its own", path)
		}
		if err != nil {
			return nil, fmt.Errorf("share %q: %w", path, err)
		}
		out = append(out, rel)
	}
	return out, nil
}

// link makes the shared paths of the user's tree appear in the tree at root. No link in a tree leads it elsewhere.
func link(user, root string, paths []string) error {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer tree.Close()
	for _, path := range paths {
		if err := tree.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("share %q: %w", path, err)
		}
		if err := tree.Symlink(filepath.Join(user, path), path); err != nil {
			return fmt.Errorf("share %q: %w", path, err)
		}
	}
	return nil
}

// Outputs are the files into which this process prints. They are no code and no product of a build, although they may be in the working
// tree: neurolens bench sweep.yaml >log.txt.
type Outputs []fs.FileInfo

// OpenOutputs returns the files on which standard output and standard error are open.
func OpenOutputs() (all Outputs) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// Has reports whether a file is an output, by its device and inode.
func (o Outputs) Has(file fs.FileInfo) bool {
	return slices.ContainsFunc(o, func(output fs.FileInfo) bool { return os.SameFile(output, file) })
}
