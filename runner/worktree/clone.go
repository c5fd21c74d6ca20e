package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// clone makes a repository with a working tree at root and git's files at dir, and checks out a commit of from, or of the snapshot of
// the user's working tree. It borrows the objects of both, which git never writes to from here, and has copies of all else.
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
	// Not quoted, which git reads, but git clone does not when it copies the file.
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

// write creates the files of git, and the folders that git and programs want. Nothing in a tree that was checked out leads them elsewhere.
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
	// The files of a submodule are among those of the repository around it, where git submodule looks for them.
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

// create writes a file that does not exist yet. Its content may be secret, as an address with a password is.
func create(place *os.Root, path, content string) error {
	file, err := place.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

// refs adds the references of the repository to the files of a clone, except for those of one working tree and the stash, from which a
// program would take the user's changes.
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

// metadata asks about the repository without a look at its working tree: the one that a submodule's configuration names may be gone.
func (r repo) metadata(ctx context.Context, args ...string) (string, error) {
	says, err := call{dir: r.top, held: r.held}.run(ctx, append([]string{"--git-dir=" + r.dir, "--work-tree=" + r.top}, args...)...)
	if refused, ok := errors.AsType[*refusal](err); ok {
		refused.command = args[0]
	}
	return says, err
}
