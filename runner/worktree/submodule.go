package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitlinks are the commits of other repositories in the index that in has, by path.
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

// nested is the repository that is checked out at path in r's working tree, a submodule or another; ok is false
// where there is none.
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

// module is what git keeps of the submodule at path that is not checked out at present, as one that only the base
// has; ok is false where there is nothing. side is the root of the tree that has the submodule.
func (r repo) module(ctx context.Context, side, path string) (sub repo, ok bool) {
	says, err := call{dir: side, held: r.held}.run(ctx, "config", "--file", ".gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return repo{}, false // there is no such file
	}
	for _, entry := range fields(says) {
		key, value, _ := strings.Cut(entry, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		if value != path || !filepath.IsLocal(name) {
			continue
		}
		for _, place := range []string{r.dir, r.common} {
			kept := filepath.Join(place, "modules", name)
			if _, err := os.Stat(filepath.Join(kept, "HEAD")); err == nil {
				return repo{top: kept, dir: kept, common: kept, held: r.held}, true
			}
		}
	}
	return repo{}, false
}

// populate checks out, in the side at root, the repositories within the repository: git worktree add leaves them
// empty, and git submodule would clone them anew and write into the user's configuration. r is the user's repository.
func (f *folder) populate(ctx context.Context, r repo, root string) error {
	links, err := gitlinks(ctx, call{dir: root, held: r.held})
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(links)) {
		commit := links[path]
		sub, ok, err := r.nested(ctx, path)
		if err != nil {
			return err
		}
		if ok {
			if has, err := sub.commit(ctx, commit); err != nil {
				return err
			} else if has == "" {
				return fmt.Errorf("submodule %q: its commit %s is not available here: use git submodule update, or git fetch in the submodule", path, commit)
			}
		} else if sub, ok = r.module(ctx, root, path); !ok {
			continue // the user has not checked it out either
		}
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := f.add(ctx, sub, at, commit); err != nil {
			return fmt.Errorf("submodule %q: %w", path, err)
		}
		if err := f.populate(ctx, sub, at); err != nil {
			return fmt.Errorf("submodule %q: %w", path, err)
		}
	}
	return nil
}
