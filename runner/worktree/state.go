package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Code is the state of the code in a working tree.
type Code struct {
	Commit string // hexadecimal; empty where there is none yet
	Branch string // empty where HEAD is on no branch
	Dirty  bool   // the files differ from those of Commit; new files that git does not ignore count, staging does not

	// Tree is the hash of all files: the same for the same files, whatever commit they came from. It is git's hash of
	// the tree, or a SHA-256 where State met a new file of 64 MiB or more, for which size and time of change stand.
	Tree string

	// Changed lists the files that differ from those of Commit: a line "STATE PATH" for each, sorted, with the path from the root of
	// the tree, or quoted where it is no printable text. Equal states are equal content. The state is - for files whose content does
	// not matter: those on which standard output and standard error are open, and those that State was told. Empty without a Commit.
	Changed string
}

// Unimportant is the state in Code.Changed of a file whose content does not matter.
const Unimportant = "-"

// State returns the state of the code in the working tree around dir, without the paths in exclude. The files in unimportant are part of it,
// and marked in Code.Changed. Paths are absolute, or relative to dir. Git writes nothing into the repository.
// ok is false, without an error, if there is no
// git, no repository, or no working tree.
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

// absolute are paths seen from dir.
func absolute(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		if out[i] = path; !filepath.IsAbs(path) {
			out[i] = filepath.Join(dir, path)
		}
	}
	return out
}
