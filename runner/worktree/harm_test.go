package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// builds are what a build, or what is measured, may do to the repository that it finds itself in, here one of nest.
var builds = []string{
	"git submodule update --init --recursive",
	"git submodule update --force --checkout --recursive",
	"git submodule sync --recursive",
	"git submodule deinit -f lib && git submodule update --init --recursive",
	"git submodule add -q $PWD/lib extra && git submodule absorbgitdirs && git rm -qf --cached extra",
	"git submodule foreach --recursive 'git checkout -q -B main && git config x.y z && git gc -q --prune=now && git clean -ffdxq'",
	"git worktree add -q ../tree && git worktree lock ../tree && git worktree list && git worktree unlock ../tree && git worktree move ../tree ../moved && git worktree remove -f ../moved && git worktree prune --expire=now",
	"echo 'exit 1' >$(git rev-parse --git-path hooks)/pre-commit && chmod +x $(git rev-parse --git-path hooks)/pre-commit && git config core.hooksPath hooks",
	"git config user.name other && git config core.bare false && git config extensions.worktreeConfig true && git config --worktree core.sparseCheckout false && git config --unset remote.origin.url",
	"git remote add other /nonexistent && git remote rename origin former",
	"echo changed >code.txt && git add -A && git stash && git stash drop && git stash list",
	"echo changed >code.txt && git commit -qam changed --no-verify && git checkout -q -B trunk && git tag -f v1 && git branch -f mine HEAD && git update-ref refs/heads/new HEAD",
	"git branch -D mine && git tag -d v1 && git update-ref -d refs/remotes/origin/main && git reflog expire --expire=now --all && git gc -q --aggressive --prune=now && git prune --expire=now && git repack -adq",
	"git fetch -q . HEAD:refs/heads/fetched && git reset -q --hard HEAD && git clean -ffdxq",
	"git sparse-checkout init && git sparse-checkout set sub && git sparse-checkout disable",
	"git rm -qrf lib && git update-index --refresh && rm -f .git/index && git read-tree HEAD && git checkout-index -af",
	"git multi-pack-index write && git commit-graph write --reachable --split && git pack-refs --all && git maintenance run --task=loose-objects",
	"git notes add -m note && git replace HEAD HEAD^ && git bisect start && git bisect reset && git rev-parse HEAD",
	"echo '*.x' >>.git/info/exclude && echo '*.x -text' >>.git/info/attributes",
	"for f in .git/config .git/HEAD .git/packed-refs .git/index; do echo broken >$f; done",
	"rm -rf .git && git init -q && git add -A . && git -c user.name=a -c user.email=a@b commit -qm anew",
}

// TestNothingReachesTheUser: whatever is done in a side, each file of the user's repository and of its submodules stays, byte for byte.
func TestNothingReachesTheUser(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	git(t, dir, "remote", "add", "origin", "/nonexistent/origin")
	git(t, dir, "update-ref", "refs/remotes/origin/main", "v1")
	git(t, dir, "branch", "mine")
	valuetest.Files(t, dir, map[string]string{"code.txt": "stashed", "data/big": "data"})
	git(t, dir, "stash")
	valuetest.Files(t, dir, map[string]string{"code.txt": "3", "lib/lib.txt": "3", "lib/new.txt": "n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch ran\n"})
	valuetest.OK(t, os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o777))
	git(t, dir, "add", "code.txt")
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root, Share: []string{"data"}})
	for _, side := range []Tree{p.Head, p.Base}[:tier(1, 2)] {
		same(t, "the stash in "+side.Side, git(t, side.Root, "for-each-ref", "refs/stash"), "")
		for _, build := range builds {
			cmd := exec.Command("sh", "-ec", build)
			cmd.Dir = side.Root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
				"GIT_CONFIG_KEY_1=gc.autoDetach", "GIT_CONFIG_VALUE_1=false",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
			if says, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", side.Side, build, err, says)
			}
			if t.Failed() {
				break
			}
		}
		valuetest.DeepEqual(t, text(t, side.Root, "ran"), "–", side.Side)
	}
	unchanged(t, dir, before)
	same(t, "shared", text(t, dir, "data/big"), "data")
	shut(t, p)
	unchanged(t, dir, before)
	empty(t, root)
}

// TestSideIsARepository: git in a side says of the code what git says in the user's tree.
func TestSideIsARepository(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	git(t, dir, "remote", "add", "origin", "https://git.invalid/x y.git")
	git(t, dir, "tag", "-a", "-m", "annotated", "v2", "HEAD")
	git(t, dir, "tag", "-m", "inner", "deep-1", "v2^{}")
	git(t, filepath.Join(dir, "lib"), "tag", "-m", "inner", "lib-1", "HEAD")
	git(t, dir, "update-ref", "refs/remotes/origin/trunk", "v1")
	git(t, dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	git(t, dir, "config", `url.file:///a "b\c.insteadOf`, "two\nlines # ;")
	git(t, dir, "config", "odd.value", "\t \\\"'\r\x01\xff #;  ")
	git(t, dir, "config", "--add", "remote.origin.fetch", "+refs/notes/*:refs/notes/*")
	valuetest.Files(t, dir, map[string]string{".git/more": "[more]\n\tvalueless\n\tnumber = 7\n", ".git/info/exclude": "*.tmp\n", "x.tmp": "1"})
	git(t, dir, "config", "include.path", "more")
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	for _, question := range []string{
		"describe --tags --dirty --always --long", "rev-parse HEAD", "rev-parse --is-shallow-repository", "tag",
		"for-each-ref", "symbolic-ref refs/remotes/origin/HEAD", "config --get-all remote.origin.fetch", "config --get more.number", "config -z --get odd.value", "config --type=bool --get more.valueless",
		"config --get-regexp url", "submodule status --recursive", "status --porcelain --ignored", "fsck --no-progress",
		"-C lib describe --always --dirty", "-C lib config remote.origin.url", "-C lib/deep rev-parse HEAD", "check-ignore x.tmp",
	} {
		args := strings.Fields(question)
		want := git(t, dir, args...)
		if args[0] == "status" {
			want = "" // x.tmp is ignored, so that no side has it
		}
		same(t, question, git(t, p.Head.Root, args...), want)
	}
	same(t, "place of the submodule", git(t, filepath.Join(p.Head.Root, "lib"), "rev-parse", "--show-superproject-working-tree"), p.Head.Root)
}

// TestShapesOfRepositories: sides of a repository are whole, however that keeps its commits and its files.
func TestShapesOfRepositories(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, dir, place string) (clone string){
		"shallow": func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", "--depth=2", "file://"+dir, place)
			return place
		},
		"borrowing": func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", "--shared", dir, place)
			return place
		},
		"bare with trees": func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", "--bare", dir, place)
			git(t, place, "worktree", "add", "-q", "--detach", filepath.Join(place, "tree"), "HEAD")
			return filepath.Join(place, "tree")
		},
		"sparse": func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", dir, place)
			git(t, place, "sparse-checkout", "set", "sub")
			return place
		},
		"sha256": func(t *testing.T, dir, place string) string {
			git(t, filepath.Dir(place), "init", "-q", "--object-format=sha256", place)
			valuetest.Files(t, place, map[string]string{"code.txt": "1"})
			save(t, place)
			valuetest.Files(t, place, map[string]string{"code.txt": "2", "new/run.py": "new"})
			save(t, place)
			return place
		},
		`a "quoted": \name#`: func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", dir, place)
			return place
		},
		"separate files": func(t *testing.T, dir, place string) string {
			git(t, dir, "clone", "-q", "--separate-git-dir", place+".git", dir, place)
			return place
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := sample(t)
			clone := make(t, dir, filepath.Join(t.TempDir(), name))
			valuetest.Files(t, clone, map[string]string{"code.txt": "3"})
			before := inventory(t, clone)
			p := mustOpen(t, Options{Dir: clone, Against: "HEAD~1", Root: root})
			same(t, "base", text(t, p.Base.Root, "code.txt"), "1")
			same(t, "head", text(t, p.Head.Root, "code.txt"), "3")
			same(t, "sparse", text(t, p.Head.Root, "new/run.py"), text(t, clone, "new/run.py"))
			for _, side := range []Tree{p.Base, p.Head} {
				same(t, "status", git(t, side.Root, "status", "--porcelain"), "")
				same(t, "parents", git(t, side.Root, "rev-list", "--count", side.Commit), git(t, clone, "rev-list", "--count", side.Commit))
				git(t, side.Root, "fsck", "--no-progress")
			}
			shut(t, p)
			unchanged(t, clone, before)
			empty(t, root)
		})
	}
}
