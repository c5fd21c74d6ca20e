package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// shares are the shared paths, seen from the root of the user's tree. prefix is the way from there to the folder that
// they are written for.
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
