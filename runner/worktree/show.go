package worktree

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// ReadFile returns a file of a commit, as a checkout would have it, from the repository around dir. name is its path from the root of the
// repository; with ./ or ../ at the beginning it is relative to dir. Nothing is checked out, and git writes nothing.
func ReadFile(ctx context.Context, dir, ref, name string) ([]byte, error) {
	content, err := readFile(ctx, dir, ref, name)
	if err != nil {
		return nil, fmt.Errorf("reading %q of commit %q: %w", name, ref, err)
	}
	return content, nil
}

func readFile(ctx context.Context, dir, ref, name string) ([]byte, error) {
	if name == "" {
		return nil, errors.New("want the path of a file")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, inside, err := find(ctx, dir)
	if err != nil {
		return nil, err
	}
	code, err := against(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	from := name
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		from = path.Join(filepath.ToSlash(inside), name)
	}
	object := code.Commit + ":" + path.Clean(from)
	kind, err := r.git(ctx, "cat-file", "-t", object)
	if _, refused := errors.AsType[*refusal](err); refused {
		return nil, errors.New("the commit has no such file")
	}
	switch kind = strings.TrimSpace(kind); {
	case err != nil:
		return nil, err
	case kind == "tree":
		return nil, errors.New("it is a folder: want a file")
	case kind != "blob":
		return nil, fmt.Errorf("it is a %s: want a file", kind)
	}
	content, err := r.git(ctx, "cat-file", "--filters", object)
	return []byte(content), err
}
