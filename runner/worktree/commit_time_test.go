package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommitTime: a commit has the time of its committer, and a file that of the last commit that changed it, unless it differs from it.
func TestCommitTime(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	git := func(at string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+at)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
		return strings.TrimSpace(string(out))
	}
	file := filepath.Join(dir, "[a]*.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "2026-10-01T12:00:00Z", "2026-10-02T12:00:00Z"
	git(first, "init", "-q")
	write("1")
	git(first, "add", "-A")
	git(first, "commit", "-qm", "1")
	git(second, "commit", "-q", "--allow-empty", "-m", "2")
	is := func(what string, at time.Time, err error, want string) {
		t.Helper()
		if err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v, want %s", what, at, err, want)
		}
	}
	at, err := LastChange(ctx, file)
	is("the file", at, err, first)
	at, err = CommitTime(ctx, dir, git(second, "rev-parse", "--short", "HEAD"))
	is("the commit", at, err, second)
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(second, "clone", "-q", "--depth=1", "file://"+dir, shallow)
	if at, err := LastChange(ctx, filepath.Join(shallow, "[a]*.txt")); err == nil || !strings.Contains(err.Error(), "this clone is shallow") {
		t.Errorf("in a shallow clone: %v, %v", at, err)
	}
	git(second, "-C", shallow, "fetch", "-q", "--unshallow")
	at, err = LastChange(ctx, filepath.Join(shallow, "[a]*.txt"))
	is("the file of a clone", at, err, first)
	for _, bad := range []string{"HEAD", "--output=x", "0123456789", ""} {
		if _, err := CommitTime(ctx, dir, bad); err == nil {
			t.Errorf("%q has a time", bad)
		}
	}
	write("2")
	if at, err := LastChange(ctx, file); err == nil {
		t.Errorf("a changed file: %v", at)
	}
	if at, err := LastChange(ctx, dir+"/none"); err == nil {
		t.Errorf("no file: %v", at)
	}
}
