package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReadFile: a file of another commit is read as it was there, from the root or from the folder, and nothing is written.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	valuetest.Files(t, dir, map[string]string{"reports/a b.json": "old\n"})
	save(t, dir)
	git(t, dir, "tag", "v1")
	valuetest.Files(t, dir, map[string]string{"reports/a b.json": "new\n"})
	save(t, dir)
	valuetest.Files(t, dir, map[string]string{"reports/a b.json": "dirty\n"})
	before := inventory(t, dir)
	reports := filepath.Join(dir, "reports")
	for _, c := range []struct{ dir, ref, name, want string }{
		{dir, "v1", "reports/a b.json", "old\n"},
		{dir, "HEAD", "reports/a b.json", "new\n"},
		{dir, "HEAD~1", "reports/./a b.json", "old\n"},
		{reports, "HEAD", "reports/a b.json", "new\n"},
		{reports, "v1", "./a b.json", "old\n"},
		{reports, "v1", "../reports/a b.json", "old\n"},
	} {
		valuetest.DeepEqual(t, string(valuetest.Must(ReadFile(t.Context(), c.dir, c.ref, c.name))), c.want, c.ref, c.name)
	}
	for _, c := range []struct{ ref, name, want string }{
		{"nowhere", "reports/a b.json", `reading "reports/a b.json" of commit "nowhere": no such commit`},
		{"--help", "a", `reading "a" of commit "--help": want a branch, a tag or a commit`},
		{"", "a", `reading "a" of commit "": want a branch, a tag or a commit`},
		{"v1", "", `reading "" of commit "v1": want the path of a file`},
		{"v1", "nothing.json", `reading "nothing.json" of commit "v1": the commit has no such file`},
		{"v1", "../outside", `reading "../outside" of commit "v1": the commit has no such file`},
		{"v1", "reports", `reading "reports" of commit "v1": it is a folder: want a file`},
	} {
		valuetest.ErrorText(t, valuetest.Error(ReadFile(t.Context(), dir, c.ref, c.name)), c.want, c.ref, c.name)
	}
	unchanged(t, dir, before)
	valuetest.ErrorText(t, valuetest.Error(ReadFile(t.Context(), os.TempDir(), "v1", "a")), "…not in a git repository…")
}

// TestHeadCommit: two commits, neither of which is what the user has; a dirty tree is neither read nor written.
func TestHeadCommit(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	valuetest.Files(t, dir, map[string]string{"code.txt": "3"})
	save(t, dir)
	valuetest.Files(t, dir, map[string]string{"code.txt": "dirty", "untracked.txt": "u"})
	git(t, dir, "add", "untracked.txt")
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Head: "HEAD~1", Root: root})
	same(t, "base", text(t, p.Base.Root, "code.txt"), "1")
	same(t, "head", text(t, p.Head.Root, "code.txt"), "2")
	same(t, "untracked", text(t, p.Head.Root, "untracked.txt"), "–")
	same(t, "commit", p.Head.Code, Code{Commit: git(t, dir, "rev-parse", "HEAD~1"), Tree: git(t, dir, "rev-parse", "HEAD~1^{tree}")})
	same(t, "side", p.Head.Side, headSide)
	shut(t, p)
	unchanged(t, dir, before)
	empty(t, root)

	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Head: "nowhere", Root: root, Session: "s"})
	valuetest.ErrorText(t, err, `comparing with "v1": side head: "nowhere": no such commit`)
	empty(t, root)
}

// TestBetween reads a history with a merge: 1 - 2 - m - 4 on the trunk, and 3, which m brought in.
func TestBetween(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	for _, subject := range []string{"1", "2", "3", "4"} {
		valuetest.Files(t, dir, map[string]string{subject: subject})
		switch subject {
		case "3":
			git(t, dir, "checkout", "-q", "-b", "side", "trunk~1")
		case "4":
			git(t, dir, "checkout", "-q", "trunk")
			git(t, dir, "merge", "-q", "--no-ff", "-m", "m", "side")
		}
		git(t, dir, "add", subject)
		git(t, dir, "commit", "-q", "-m", subject)
	}
	before := inventory(t, dir)
	subjects := func(h History) string {
		of := map[string]string{h.Good.ID: h.Good.Subject}
		for _, c := range h.Commits {
			of[c.ID] = c.Subject
		}
		var all []string
		for _, c := range h.Commits {
			var parents []string
			for _, p := range c.Parents {
				parents = append(parents, of[p])
			}
			all = append(all, c.Subject+"<"+strings.Join(parents, ","))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		good, bad   string
		firstParent bool
		want        string
	}{
		{"trunk~3", "trunk", false, "4<m m<2,3 3<1 2<1"},
		{"trunk~3", "trunk", true, "4<m m<2 2<1"},
		{"trunk~1", "trunk", false, "4<m"},
	} {
		h := valuetest.Must(Between(t.Context(), dir, c.good, c.bad, c.firstParent))
		same(t, "commits", subjects(h), c.want)
		same(t, "bad", h.Bad.ID, git(t, dir, "rev-parse", c.bad))
		same(t, "good", h.Good.ID, git(t, dir, "rev-parse", c.good))
	}
	for _, c := range []struct{ dir, good, bad, want string }{
		{dir, "trunk", "trunk~1", `commits between "trunk" and "trunk~1": "trunk" is not an ancestor of "trunk~1": git merge-base trunk trunk~1 finds a common one`},
		{dir, "trunk", "HEAD", `commits between "trunk" and "HEAD": they are the same commit`},
		{dir, "nowhere", "HEAD", `commits between "nowhere" and "HEAD": "nowhere": no such commit`},
		{dir, "HEAD~1", "--all", `commits between "HEAD~1" and "--all": "--all": want a branch, a tag or a commit`},
		{"/", "a", "b", `commits between "a" and "b": "/": not in a git repository`},
	} {
		valuetest.ErrorText(t, valuetest.Error(Between(t.Context(), c.dir, c.good, c.bad, false)), c.want)
	}
	unchanged(t, dir, before)
}

// TestCommitTime: a commit has the time of its committer, and a file that of the last commit that changed it, unless it differs from it.
func TestCommitTime(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	git := func(at string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+at)
		return strings.TrimSpace(valuetest.Run(t, cmd))
	}
	file := filepath.Join(dir, "[a]*.txt")
	write := func(text string) {
		valuetest.OK(t, os.WriteFile(file, []byte(text), 0o666))
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
	valuetest.ErrorText(t, valuetest.Error(LastChange(ctx, filepath.Join(shallow, "[a]*.txt"))), "…this clone is shallow…", "in a shallow clone")
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

// TestOnlyParent: a commit with one parent has it, whether its id is whole or abbreviated; a merge, the first commit and a name that is no id have none.
func TestOnlyParent(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	for _, subject := range []string{"1", "2", "3"} {
		if subject == "3" {
			git(t, dir, "checkout", "-q", "-b", "side", "trunk~1")
		}
		valuetest.Files(t, dir, map[string]string{subject: subject})
		git(t, dir, "add", subject)
		git(t, dir, "commit", "-q", "-m", subject)
	}
	git(t, dir, "merge", "-q", "--no-ff", "-m", "m", "trunk")
	id := func(name string) string { return strings.TrimSpace(git(t, dir, "rev-parse", name)) }
	for commit, want := range map[string]string{id("trunk"): id("trunk~1"), id("trunk")[:7]: id("trunk~1"), id("trunk~1"): "", id("side"): "", "side": "", strings.Repeat("a", 40): ""} {
		valuetest.Equal(t, OnlyParent(t.Context(), dir, commit), want, commit)
	}
	valuetest.Equal(t, OnlyParent(t.Context(), t.TempDir(), id("trunk")), "", "elsewhere")
}
