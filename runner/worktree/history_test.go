package worktree

import (
	"strings"
	"testing"
)

// TestHeadCommit: two commits, neither of which is what the user has; a dirty tree is neither read nor written.
func TestHeadCommit(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	write(t, dir, map[string]string{"code.txt": "3"})
	save(t, dir)
	write(t, dir, map[string]string{"code.txt": "dirty", "untracked.txt": "u"})
	git(t, dir, "add", "untracked.txt")
	before := inventory(t, dir)
	p := must(t, Options{Dir: dir, Against: "v1", Head: "HEAD~1", Root: root})
	same(t, "base", text(t, p.Base.Root, "code.txt"), "1")
	same(t, "head", text(t, p.Head.Root, "code.txt"), "2")
	same(t, "untracked", text(t, p.Head.Root, "untracked.txt"), "–")
	same(t, "commit", p.Head.Code, Code{Commit: git(t, dir, "rev-parse", "HEAD~1"), Tree: git(t, dir, "rev-parse", "HEAD~1^{tree}")})
	same(t, "side", p.Head.Side, headSide)
	shut(t, p)
	unchanged(t, dir, before)
	empty(t, root)

	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Head: "nowhere", Root: root, Session: "s"})
	if err == nil || err.Error() != `comparing with "v1": side head: "nowhere": no such commit` {
		t.Error(err)
	}
	empty(t, root)
}

// TestBetween reads a history with a merge: 1 - 2 - m - 4 on the trunk, and 3, which m brought in.
func TestBetween(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	for _, subject := range []string{"1", "2", "3", "4"} {
		write(t, dir, map[string]string{subject: subject})
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
		h, err := Between(t.Context(), dir, c.good, c.bad, c.firstParent)
		if err != nil {
			t.Fatal(err)
		}
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
		_, err := Between(t.Context(), c.dir, c.good, c.bad, false)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	unchanged(t, dir, before)
}
