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

// modulesFolder is where git keeps its files of submodules, by their names.
const modulesFolder = "modules"

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

// module is what git keeps of the submodule of a name that is not checked out at present, as one that only the base
// has; ok is false where there is nothing.
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

// modules are the names of the submodules of the commit that is checked out, by their paths.
func (r repo) modules(ctx context.Context) map[string]string {
	says, err := r.git(ctx, "config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil // there is no such file, or git cannot read it
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

// populate makes, in a side, the repositories within the repository, as git submodule does from the network. user is the repository that the
// side was cloned from.
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
