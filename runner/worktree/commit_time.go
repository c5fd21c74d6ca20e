package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// isCommitID reports whether a text is the id of a commit, or its beginning, and nothing that git reads in another way.
func isCommitID(text string) bool {
	const short, long = 4, 64
	return len(text) >= short && len(text) <= long && strings.Trim(text, "0123456789abcdef") == ""
}

// CommitTime is when a commit was made, in the repository of a folder.
func CommitTime(ctx context.Context, dir, commit string) (time.Time, error) {
	if !isCommitID(commit) {
		return time.Time{}, fmt.Errorf("commit %q is no id of a commit", commit)
	}
	out, err := call{dir: dir}.run(ctx, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit+"^{commit}")
	if err != nil {
		return time.Time{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	return unixSeconds(out)
}

// LastChange is when the last commit was made that changed a file. It fails if the file differs from that commit, and in a shallow clone whose
// history ends after that commit: there git takes the oldest commit for the one that changed all files.
func LastChange(ctx context.Context, file string) (time.Time, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return time.Time{}, err
	}
	in, name := call{dir: filepath.Dir(real)}, ":(literal)"+filepath.Base(real)
	changed, err := in.run(ctx, "status", "--porcelain", "--ignored", "--", name)
	if err != nil {
		return time.Time{}, err
	}
	if strings.TrimSpace(changed) != "" {
		return time.Time{}, errors.New("the file is not committed, or differs from its last commit")
	}
	out, err := in.run(ctx, "log", "-1", "--no-show-signature", "--format=%ct %P", "--", name)
	if err != nil {
		return time.Time{}, err
	}
	seconds, parents, _ := strings.Cut(strings.TrimSpace(out), " ")
	if parents == "" {
		shallow, err := in.run(ctx, "rev-parse", "--is-shallow-repository")
		if err != nil {
			return time.Time{}, err
		}
		if strings.TrimSpace(shallow) == "true" {
			return time.Time{}, errors.New("this clone is shallow and may not have the last commit that changed the file: use git fetch --unshallow")
		}
	}
	return unixSeconds(seconds)
}

// unixSeconds reads what git writes for %ct.
func unixSeconds(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return time.Time{}, errors.New("git names no time of a commit")
	}
	return time.Unix(seconds, 0).UTC(), nil
}
