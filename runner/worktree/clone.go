package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// clone makes a repository with a working tree at root and git's files at dir, and checks out a commit of from, or of the snapshot of
// the user's working tree. It borrows the objects of both, which git only reads, and copies everything else.
func (f *folder) clone(ctx context.Context, from repo, root, dir, commit string) (repo, error) {
	side := repo{top: root, dir: dir, common: dir, held: from.held}
	files, err := f.contents(ctx, from, side)
	if err != nil {
		return repo{}, err
	}
	files["HEAD"] = commit + "\n"
	if err := f.write(side, files); err != nil {
		return repo{}, err
	}
	has, err := side.commit(ctx, commit)
	if err != nil {
		return repo{}, err
	}
	if has == "" {
		return repo{}, fmt.Errorf("its commit %s is not available here: use git submodule update, or git fetch in the submodule", commit)
	}
	_, err = side.git(ctx, "reset", "--hard", "--quiet")
	return side, err
}

// contents returns the files of git for a clone, by their names, except for HEAD: see gitrepository-layout(5).
func (f *folder) contents(ctx context.Context, from, side repo) (map[string]string, error) {
	// Without quotes: git would read them, but git clone does not when it copies the file.
	files := map[string]string{"objects/info/alternates": filepath.Join(from.common, "objects") + "\n"}
	if _, err := os.Stat(f.objects()); err == nil {
		files["objects/info/alternates"] += f.objects() + "\n"
	}
	for path, in := range map[string]string{
		"shallow": from.common, "info/attributes": from.common, "info/exclude": from.common, "info/sparse-checkout": from.dir,
	} {
		content, err := os.ReadFile(filepath.Join(in, path))
		if err == nil {
			files[path] = string(content)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var err error
	if files["config"], err = from.config(ctx, side); err != nil {
		return nil, err
	}
	return files, from.refs(ctx, files)
}

// write creates the files of git, and the folders that git and programs expect. Symbolic links in the checked-out tree cannot lead it
// elsewhere.
func (f *folder) write(side repo, files map[string]string) error {
	place, err := os.OpenRoot(f.path)
	if err != nil {
		return err
	}
	defer place.Close()
	dir, err := filepath.Rel(f.path, side.dir)
	if err != nil {
		return err
	}
	for _, name := range []string{"hooks", "info", "objects/info", "refs"} {
		if err := place.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := place.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := create(place, path, content); err != nil {
			return err
		}
	}
	link := filepath.Join(side.top, ".git")
	if side.dir == link {
		return nil
	}
	// The files of a submodule are within the repository around it, where git submodule expects them.
	to, err := filepath.Rel(side.top, side.dir)
	if err != nil {
		return err
	}
	if link, err = filepath.Rel(f.path, link); err != nil {
		return err
	}
	if err := place.MkdirAll(filepath.Dir(link), 0o777); err != nil {
		return err
	}
	return create(place, link, "gitdir: "+to+"\n")
}

// create writes a file that does not exist yet. Its content may be secret, such as a URL with a password.
func create(place *os.Root, path, content string) error {
	file, err := place.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

// refs adds the references of the repository to the files of a clone, except for the references of one working tree and the stash, from
// which a program would take the user's changes.
func (r repo) refs(ctx context.Context, files map[string]string) error {
	says, err := r.metadata(ctx, "for-each-ref", "--format=%(symref) %(objectname) %(refname)")
	if err != nil {
		return err
	}
	var packed strings.Builder
	for line := range strings.Lines(says) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(parts) != 3 {
			return fmt.Errorf("git for-each-ref writes %q, want a reference", line)
		}
		switch symref, name := parts[0], parts[2]; {
		case name == "refs/stash" || strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/"):
		case symref != "":
			files[name] = "ref: " + symref + "\n"
		default:
			fmt.Fprintf(&packed, "%s %s\n", parts[1], name)
		}
	}
	files["packed-refs"] = packed.String()
	return nil
}

// metadata queries the repository without its working tree: the one in a submodule's configuration may be gone.
func (r repo) metadata(ctx context.Context, args ...string) (string, error) {
	says, err := call{dir: r.top, held: r.held}.run(ctx, append([]string{"--git-dir=" + r.dir, "--work-tree=" + r.top}, args...)...)
	if refused, ok := errors.AsType[*refusal](err); ok {
		refused.command = args[0]
	}
	return says, err
}

// modulesFolder is where git keeps its files of submodules, by their names.
const modulesFolder = "modules"

// gitlinks returns the commits of other repositories in the index that in has, by path.
func gitlinks(ctx context.Context, in call) (map[string]string, error) {
	says, err := in.run(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, entry := range fields(says) { // mode SP hash SP stage TAB path
		about, path, _ := strings.Cut(entry, "\t")
		if parts := strings.Fields(about); len(parts) == 3 && parts[0] == "160000" {
			links[path] = parts[1]
		}
	}
	return links, nil
}

// nested returns the repository that is checked out at path in r's working tree, a submodule or another; ok is false if there is none.
func (r repo) nested(ctx context.Context, path string) (sub repo, ok bool, err error) {
	at := filepath.Join(r.top, filepath.FromSlash(path))
	if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
		return repo{}, false, nil
	}
	if sub, _, err = find(ctx, at); err != nil {
		return repo{}, false, err
	}
	sub.held = r.held
	return sub, true, nil
}

// module returns the stored repository of a submodule that is not checked out at present, such as one that only the base has; ok is
// false if there is none.
func (r repo) module(name string) (sub repo, ok bool) {
	if name == "" {
		return repo{}, false
	}
	for _, place := range []string{r.dir, r.common} {
		kept := filepath.Join(place, modulesFolder, name)
		if _, err := os.Stat(filepath.Join(kept, "HEAD")); err == nil {
			return repo{top: kept, dir: kept, common: kept, held: r.held}, true
		}
	}
	return repo{}, false
}

// modules returns the names of the submodules of the commit that is checked out, by their paths.
func (r repo) modules(ctx context.Context) map[string]string {
	says, err := r.git(ctx, "config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil // the file does not exist, or git cannot read it
	}
	paths := map[string]string{} // by name: the last value of a key counts
	for _, entry := range fields(says) {
		key, path, _ := strings.Cut(entry, "\n")
		if name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path"); filepath.IsLocal(name) && !strings.Contains(name, "\n") {
			paths[name] = path
		}
	}
	names := map[string]string{}
	for name, path := range paths {
		names[path] = name
	}
	return names
}

// populate makes, in a side, the repositories within the repository, as git submodule does from the network. user is the repository that
// the side was cloned from.
func (f *folder) populate(ctx context.Context, user, side repo) error {
	links, err := gitlinks(ctx, call{dir: side.top, held: side.held})
	if err != nil || len(links) == 0 {
		return err
	}
	names := side.modules(ctx)
	for _, path := range slices.Sorted(maps.Keys(links)) {
		name := names[path]
		from, ok, err := user.nested(ctx, path)
		if err != nil {
			return err
		}
		if !ok {
			if from, ok = user.module(name); !ok {
				continue // the user has not checked it out either
			}
		}
		root := filepath.Join(side.top, filepath.FromSlash(path))
		dir := filepath.Join(root, ".git")
		if name != "" {
			dir = filepath.Join(side.dir, modulesFolder, name)
		}
		sub, err := f.clone(ctx, from, root, dir, links[path])
		if err == nil {
			err = f.populate(ctx, from, sub)
		}
		if err != nil {
			return fmt.Errorf("submodule %q: %w", path, err)
		}
	}
	return nil
}

// repo is a repository seen from one working tree.
type repo struct {
	top    string // the root of the working tree, without symbolic links
	dir    string // the git directory of this tree, with the index and HEAD
	common string // the common directory, which all trees of the repository share
	held   *os.File
}

// find returns the repository whose working tree contains dir, and the path from the root of the tree to dir.
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
		// git uses the resolved folder, without the symbolic links in dir.
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

// commit returns the commit of a name; empty if there is no such commit.
func (r repo) commit(ctx context.Context, name string) (string, error) {
	says, err := r.git(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if refused, ok := errors.AsType[*refusal](err); ok && (refused.code == 1 || refused.code == 128) {
		return "", nil // 128: a malformed name, or not a commit
	}
	return strings.TrimSpace(says), err
}

// tree returns the content of a commit.
func (r repo) tree(ctx context.Context, commit string) (string, error) {
	says, err := r.git(ctx, "rev-parse", "--verify", commit+"^{tree}")
	return strings.TrimSpace(says), err
}

// branch returns the branch with the name, or of HEAD; empty for a tag or a commit.
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

// absent returns an error for an unknown commit, with advice.
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
