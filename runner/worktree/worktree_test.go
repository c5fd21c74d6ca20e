package worktree

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestCleanTree(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	same(t, "base", text(t, p.Base.Root, "code.txt"), "1")
	same(t, "head", text(t, p.Head.Root, "code.txt"), "2")
	want := Code{Commit: git(t, dir, "rev-parse", "v1"), Tree: git(t, dir, "rev-parse", "v1^{tree}")}
	same(t, "base", p.Base.Code, want)
	want = Code{Commit: git(t, dir, "rev-parse", "HEAD"), Branch: "trunk", Tree: git(t, dir, "rev-parse", "HEAD^{tree}")}
	same(t, "head", p.Head.Code, want)
	same(t, "commit in head", git(t, p.Head.Root, "rev-parse", "HEAD"), want.Commit)
	same(t, "sides", p.Base.Side+" "+p.Head.Side, "base head")
	same(t, "length of paths", len(p.Base.Root), len(p.Head.Root))
	same(t, "dir", p.Head.Dir, p.Head.Root)
	for _, side := range []Tree{p.Base, p.Head} {
		same(t, "status of "+side.Side, git(t, side.Root, "status", "--porcelain"), "")
	}
	shut(t, p)
	shut(t, p)
	unchanged(t, dir, before)
	empty(t, root)
}

func TestBranchOfBase(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	git(t, dir, "branch", "old", "v1")
	git(t, dir, "update-ref", "refs/remotes/origin/main", "v1")
	for against, want := range map[string]string{"old": "old", "origin/main": "origin/main", "HEAD": "trunk", "HEAD~1": "", "v1": ""} {
		p := mustOpen(t, Options{Dir: dir, Against: against, Root: root})
		same(t, against, p.Base.Branch, want)
		shut(t, p)
	}
}

func TestDirtyTree(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	valuetest.Files(t, dir, map[string]string{
		"code.txt": "3", "untracked.py": "u", "run.log": "ignored", "store/x": "result", "data/big": "data",
		"staged.txt": "s", "deep/er/file": "d", "*": "star", "new/run.py": "changed",
	})
	git(t, dir, "add", "staged.txt", "store")
	os.Remove(filepath.Join(dir, "sub/run.py"))
	before := inventory(t, dir)
	head := git(t, dir, "rev-parse", "HEAD")
	var trees []string
	for range 2 {
		p := mustOpen(t, Options{Dir: dir, Against: "HEAD", Root: root, Exclude: []string{"store", filepath.Join(dir, "deep"), "data", "/elsewhere", "../out"}})
		for name, want := range map[string]string{
			"code.txt": "3", "untracked.py": "u", "run.log": "–", "data/big": "–",
			"staged.txt": "s", "deep/er/file": "–", "*": "star", "new/run.py": "changed", "sub/run.py": "–",
		} {
			same(t, name, text(t, p.Head.Root, name), want)
		}
		same(t, "base", text(t, p.Base.Root, "code.txt"), "2")
		same(t, "dirty", p.Head.Dirty, true)
		same(t, "dirty base", p.Base.Dirty, false)
		same(t, "commit", p.Head.Commit, head)
		same(t, "parent", git(t, p.Head.Root, "rev-parse", "HEAD^"), head)
		same(t, "tree", git(t, p.Head.Root, "rev-parse", "HEAD^{tree}"), p.Head.Tree)
		trees = append(trees, git(t, p.Head.Root, "rev-parse", "HEAD"))
		shut(t, p)
		unchanged(t, dir, before)
	}
	same(t, "the same files, the same commit", trees[0], trees[1])
	empty(t, root)
}

// What a file was may have become a folder or a link; git add --all refuses some, update-index others.
func TestChangedKinds(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	os.Remove(filepath.Join(dir, "code.txt"))
	valuetest.Files(t, dir, map[string]string{"code.txt/inner": "i"})
	valuetest.OK(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")))
	valuetest.OK(t, os.Symlink("moved", filepath.Join(dir, "sub")))
	p := mustOpen(t, Options{Dir: dir, Against: "HEAD", Root: root})
	same(t, "folder", text(t, p.Head.Root, "code.txt/inner"), "i")
	target, _ := os.Readlink(filepath.Join(p.Head.Root, "sub"))
	same(t, "link", target, "moved")
	same(t, "moved", text(t, p.Head.Root, "moved/run.py"), "old")
}

func TestSubFolder(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	p := mustOpen(t, Options{Dir: filepath.Join(dir, "new"), Against: "v1", Root: root})
	same(t, "dir", p.Base.Dir, filepath.Join(p.Base.Root, "new"))
	same(t, "file", text(t, p.Head.Dir, "run.py"), "new")
	shut(t, p)

	alias := filepath.Join(t.TempDir(), "alias")
	valuetest.OK(t, os.Symlink(filepath.Join(dir, "sub"), alias))
	p = mustOpen(t, Options{Dir: alias, Against: "v1", Root: root})
	same(t, "through a link", text(t, p.Base.Dir, "run.py"), "old")
}

func TestLinkedWorktreeOfTheUser(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	mine := filepath.Join(t.TempDir(), "mine")
	git(t, dir, "worktree", "add", "-q", "-b", "topic", mine)
	valuetest.Files(t, mine, map[string]string{"code.txt": "9"})
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: filepath.Join(mine, "sub"), Against: "trunk", Root: root})
	same(t, "head", text(t, p.Head.Root, "code.txt"), "9")
	same(t, "branch", p.Head.Branch, "topic")
	shut(t, p)
	unchanged(t, dir, before)
}

func TestShare(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	valuetest.Files(t, dir, map[string]string{"data/big": "data", "sub/x.log": "log"})
	p := mustOpen(t, Options{Dir: filepath.Join(dir, "sub"), Against: "v1", Root: root, Share: []string{"../data", "x.log"}})
	for _, side := range []Tree{p.Base, p.Head} {
		same(t, side.Side, text(t, side.Root, "data/big")+text(t, side.Dir, "x.log"), "datalog")
	}
	same(t, "dirty", p.Head.Dirty, false)
	folders, exempt := p.Foreign(headSide)
	valuetest.DeepEqual(t, folders, []string{dir, p.Base.Root}, "foreign to head")
	valuetest.DeepEqual(t, exempt, []string{filepath.Join(dir, "data"), filepath.Join(dir, "sub/x.log")}, "exempt")
	if folders, _ := p.Foreign(baseSide); folders[1] != p.Head.Root {
		t.Errorf("foreign to base: %v", folders)
	}
	shut(t, p)
	same(t, "the user's", text(t, dir, "data/big"), "data")
}

func TestShareRefused(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	outside := t.TempDir()
	valuetest.Files(t, dir, map[string]string{"data/big": "data", "force.log": "tracked"})
	valuetest.OK(t, os.Symlink(outside, filepath.Join(dir, "away")))
	valuetest.Files(t, outside, map[string]string{"x.log": "log"})
	save(t, dir)
	git(t, dir, "add", "-f", "data/big")
	git(t, dir, "commit", "-q", "-m", "x")
	for share, want := range map[string]string{
		"":           `share "": want a relative path`,
		dir + "/a":   `a": want a relative path`,
		"../x":       `share "../x": want a path in`,
		".":          `share ".": want a path in`,
		"absent":     `/absent" does not exist`,
		"code.txt":   `share "code.txt": git does not ignore it`,
		"data":       `share "data": `, // both sides have some of it
		"away/x.log": `share "away/x.log": `,
	} {
		_, err := Open(t.Context(), Options{Dir: dir, Against: "HEAD", Session: "s", Root: root, Share: []string{share}})
		refused(t, err, want)
		empty(t, root)
	}
	same(t, "outside", len(text(t, outside, "x.log")), 3)
}

// What is a link out of the tree on one side leads no shared path there.
func TestShareBehindLink(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	outside := t.TempDir()
	valuetest.OK(t, os.Symlink(outside, filepath.Join(dir, "place")))
	save(t, dir)
	git(t, dir, "rm", "-q", "place")
	valuetest.Files(t, dir, map[string]string{"place/x.log": "log"})
	_, err := Open(t.Context(), Options{Dir: dir, Against: "HEAD", Session: "s", Root: root, Share: []string{"place/x.log"}})
	refused(t, err, `side base: share "place/x.log": `)
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written outside: %v", entries)
	}
}

// refused wants an error of one line with the text in it.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %s", want)
	case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n"):
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRefused(t *testing.T) {
	dir, root := sample(t)
	git(t, dir, "update-ref", "refs/remotes/origin/main", "v1")
	bare, shallow, nothing := t.TempDir(), filepath.Join(t.TempDir(), "shallow"), t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	git(t, bare, "clone", "-q", "--depth=1", "file://"+dir, shallow)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Dir: dir, Against: "v9"}, `comparing with "v9": no such commit`},
		{Options{Dir: dir, Against: "main"}, `comparing with "main": no such commit: did you mean origin/main?`},
		{Options{Dir: dir, Against: "HEAD:code.txt"}, `no such commit`},
		{Options{Dir: dir, Against: "v1..HEAD"}, `no such commit`},
		{Options{Dir: dir, Against: "--all"}, `comparing with "--all": want a branch, a tag or a commit`},
		{Options{Dir: dir}, `comparing with "": want a branch, a tag or a commit`},
		{Options{Dir: shallow, Against: "v1"}, `this clone is shallow and does not have the commit: use fetch-depth: 0`},
		{Options{Dir: nothing, Against: "v1"}, `: not in a git repository`},
		{Options{Dir: bare, Against: "v1"}, `: a bare repository has no working tree`},
		{Options{Dir: filepath.Join(dir, ".git"), Against: "v1"}, `is inside the .git folder`},
		{Options{Dir: filepath.Join(dir, "gone"), Against: "v1"}, `no such file or directory`},
		{Options{Dir: dir, Against: "v1", Root: filepath.Join(dir, "data/sides")}, `, which is inside the repository `},
		{Options{Dir: dir, Against: "v1", Session: "../x"}, `"../x" is not a file name`},
		{Options{Dir: dir, Against: "v1", Exclude: []string{"."}}, `is the whole tree`},
	} {
		if c.o.Root == "" {
			c.o.Root = root
		}
		if c.o.Session == "" {
			c.o.Session = "s"
		}
		_, err := Open(t.Context(), c.o)
		refused(t, err, c.want)
	}
	same(t, "made in the repository", text(t, dir, "data/sides"), "–")
	empty(t, root)

	t.Setenv("PATH", nothing)
	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Session: "s", Root: root})
	refused(t, err, `comparing with "v1": git is not installed`)
}

func TestUntrusted(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	for _, path := range []string{dir, filepath.Join(dir, ".git")} {
		valuetest.OK(t, os.Chown(path, 12345, -1))
	}
	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Session: "s", Root: root})
	refused(t, err, `": git does not trust this repository because it belongs to another user: see git config safe.directory`)
	_, ok, err := State(t.Context(), dir, nil, nil)
	refused(t, err, `reading the state of the code: "`+dir)
	same(t, "ok", ok, false)
}

// TestBareRepository: a folder of a clone may look like a bare repository, and have a configuration that names programs.
func TestBareRepository(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	bare := filepath.Join(t.TempDir(), "tree")
	valuetest.OK(t, os.Rename(filepath.Join(dir, ".git"), bare))
	_, err := Open(t.Context(), Options{Dir: bare, Against: "v1", Session: "s", Root: root})
	refused(t, err, `": a bare repository has no working tree`)
}

// No hook runs, and what the environment says of another repository is not heard.
func TestHooksAndEnvironment(t *testing.T) {
	dir, root := sample(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit"} {
		path := filepath.Join(dir, ".git/hooks", hook)
		valuetest.Files(t, dir, map[string]string{".git/hooks/" + hook: "#!/bin/sh\necho " + hook + " >>" + ran + "\n"})
		valuetest.OK(t, os.Chmod(path, 0o777))
	}
	valuetest.Files(t, dir, map[string]string{"code.txt": "dirty"})
	for name, value := range map[string]string{
		"GIT_DIR": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent/index", "GIT_WORK_TREE": "/nonexistent", "LC_ALL": "de_DE.UTF-8",
	} {
		t.Setenv(name, value)
	}
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	same(t, "head", text(t, p.Head.Root, "code.txt"), "dirty")
	shut(t, p)
	same(t, "hooks", text(t, ran), "–")
}

func TestPartialCloneDownloadsNothing(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	git(t, dir, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", "--filter=blob:none", "file://"+dir, clone)
	git(t, clone, "config", "protocol.file.allow", "always")
	_, err := Open(t.Context(), Options{Dir: clone, Against: "v1", Session: "s", Root: root})
	refused(t, err, "this partial clone lacks files of that commit")
	empty(t, root)
	mustOpen(t, Options{Dir: clone, Against: "HEAD", Root: root})
}

func TestLFSDownloadsNothing(t *testing.T) {
	t.Parallel()
	valuetest.Program(t, "git-lfs")
	dir, root := folders(t)
	git(t, dir, "init", "-q")
	git(t, dir, "lfs", "install", "--local")
	git(t, dir, "remote", "add", "origin", "https://git.invalid/x.git")
	valuetest.Files(t, dir, map[string]string{".gitattributes": "*.bin filter=lfs -text\n", "m.bin": "1"})
	save(t, dir)
	valuetest.Files(t, dir, map[string]string{"m.bin": "2"})
	save(t, dir)
	valuetest.Files(t, dir, map[string]string{"m.bin": "3"})
	p := mustOpen(t, Options{Dir: dir, Against: "HEAD~1", Root: root})
	same(t, "base", text(t, p.Base.Root, "m.bin"), "1")
	same(t, "head", text(t, p.Head.Root, "m.bin"), "3")
	same(t, "as State has it", mustState(t, dir), p.Head.Code)
	git(t, p.Head.Root, "lfs", "prune", "--force", "--recent")
	shut(t, p)
	kept, _ := filepath.Glob(filepath.Join(dir, ".git/lfs/objects/*/*/*"))
	same(t, "files of LFS", len(kept), 2) // of both commits: none of the working tree, and none pruned
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, ".git/lfs/objects")))
	_, err := Open(t.Context(), Options{Dir: dir, Against: "HEAD~1", Session: "s", Root: root})
	refused(t, err, "files of that commit in Git LFS are missing here")
	empty(t, root)
}

func TestWithin(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	outside := t.TempDir()
	for name, target := range map[string]string{"in": filepath.Join(dir, "sub"), "same": dir} {
		valuetest.OK(t, os.Symlink(target, filepath.Join(outside, name)))
	}
	valuetest.OK(t, os.Symlink(outside, filepath.Join(dir, "out")))
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	for path, want := range map[string]bool{
		dir: true, dir + "/code.txt": true, dir + "/gone/x": true, dir + "/out/x": true, dir + "x": false, outside: false,
		outside + "/in/run.py": true, outside + "/in": true, outside + "/same/gone": true, outside + "/same/out/x": true, p.Head.Root + "/code.txt": false, "/": false,
	} {
		same(t, path, Within(path, p.user.top), want)
	}
}

// slow makes git wait in the middle of a checkout: it creates started, and goes on when the file goes exists.
func slow(t *testing.T, dir string) (started, goes string) {
	t.Helper()
	place := t.TempDir()
	started, goes = filepath.Join(place, "started"), filepath.Join(place, "go")
	valuetest.Files(t, dir, map[string]string{".gitattributes": "code.txt filter=slow\n"})
	save(t, dir)
	git(t, dir, "config", "filter.slow.smudge", "echo $$ >"+started+".new; mv "+started+".new "+started+"; while [ ! -e "+goes+" ]; do sleep 0.02; done; cat")
	return started, goes
}

// await waits for a file.
func await(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s does not appear", path)
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	started, _ := slow(t, dir)
	before := inventory(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await(t, started)
		cancel()
	}()
	_, err := Open(ctx, Options{Dir: dir, Against: "HEAD", Session: "s", Root: root})
	refused(t, err, "context canceled")
	empty(t, root)
	unchanged(t, dir, before)
	// What git had started is dead as well, if nobody may have collected it yet.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		state, _ := exec.Command("ps", "-o", "stat=", "-p", strings.TrimSpace(text(t, started))).Output()
		if len(state) == 0 || state[0] == 'Z' {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the filter is still running: %s", state)
		}
	}
}

func TestReadOnlyFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	valuetest.Files(t, p.Base.Root, map[string]string{"cache/mod/x": "1"})
	for _, name := range []string{"cache/mod", "cache"} {
		valuetest.OK(t, os.Chmod(filepath.Join(p.Base.Root, name), 0o555))
	}
	shut(t, p)
	empty(t, root)
}

func mustState(t *testing.T, dir string, exclude ...string) Code {
	t.Helper()
	code, ok, err := State(t.Context(), dir, exclude, nil)
	if err != nil || !ok {
		t.Fatalf("ok %v: %v", ok, err)
	}
	return code
}

func TestState(t *testing.T) {
	dir, root := sample(t)
	clean := mustState(t, filepath.Join(dir, "sub"))
	same(t, "clean", clean, Code{Commit: git(t, dir, "rev-parse", "HEAD"), Branch: "trunk", Tree: git(t, dir, "rev-parse", "HEAD^{tree}")})

	valuetest.Files(t, dir, map[string]string{"x.log": "ignored", "store/runs": "r"})
	same(t, "ignored and excluded", mustState(t, dir, "store"), clean)
	same(t, "excluded from a folder", mustState(t, filepath.Join(dir, "sub"), "../store"), clean)

	t.Chdir(filepath.Join(dir, "sub"))
	same(t, "relative", mustState(t, ".", "../store"), clean)

	before := inventory(t, dir)
	untracked := mustState(t, dir)
	same(t, "untracked is dirty", untracked.Dirty, true)
	unchanged(t, dir, before)
	valuetest.Files(t, dir, map[string]string{"store/runs": "s"})
	same(t, "untracked content", mustState(t, dir).Tree == untracked.Tree, false)

	valuetest.Files(t, dir, map[string]string{"code.txt": "7"})
	same(t, "changed", mustState(t, dir, "store").Dirty, true)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root, Exclude: []string{"store"}})
	same(t, "as Open has it", p.Head.Code, mustState(t, dir, "store"))

	git(t, dir, "checkout", "-q", "--detach", "-f")
	same(t, "branch", mustState(t, dir).Branch, "")
}

// A file that changed at the moment of the index, and kept its size, looks as the index has it.
func TestStateOfRacyFile(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	moment := time.Unix(1700000000, 0)
	git(t, dir, "config", "core.trustctime", "false")
	path := filepath.Join(dir, "code.txt")
	at := func(path string) {
		valuetest.OK(t, os.Chtimes(path, moment, moment))
	}
	at(path)
	git(t, dir, "update-index", "--refresh")
	at(filepath.Join(dir, ".git/index"))
	valuetest.Files(t, dir, map[string]string{"code.txt": "7"})
	at(path)
	same(t, "dirty", mustState(t, dir).Dirty, true)
}

// Staging and unstaging change no file.
func TestStateIsOfFiles(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	clean := mustState(t, dir)
	git(t, dir, "rm", "-q", "--cached", "code.txt")
	same(t, "unstaged", mustState(t, dir), clean)
	valuetest.Files(t, dir, map[string]string{"code.txt": "x"})
	git(t, dir, "add", "code.txt")
	valuetest.Files(t, dir, map[string]string{"code.txt": "2"})
	same(t, "staged and taken back", mustState(t, dir), clean)
}

func TestStateOfConflict(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	git(t, dir, "checkout", "-q", "-b", "other", "v1")
	valuetest.Files(t, dir, map[string]string{"code.txt": "other"})
	save(t, dir)
	_ = exec.Command("git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "trunk").Run()
	if code := mustState(t, dir); !code.Dirty {
		t.Errorf("a conflict is clean: %+v", code)
	}
}

func TestStateOfBulkyFiles(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	clean := mustState(t, dir)
	path := filepath.Join(dir, "checkpoint")
	grow := func(size int64) {
		valuetest.Files(t, dir, map[string]string{"checkpoint": ""})
		valuetest.OK(t, os.Truncate(path, size))
	}
	grow(bulky)
	one := mustState(t, dir)
	same(t, "dirty", one.Dirty, true)
	same(t, "counts", one.Tree == clean.Tree, false)
	same(t, "again", mustState(t, dir), one)
	valuetest.OK(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	same(t, "time of change", mustState(t, dir).Tree == one.Tree, false)
	same(t, "excluded", mustState(t, dir, "checkpoint"), clean)
	grow(maxNewFiles + 1)
	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Session: "s", Root: root})
	refused(t, err, `with "checkpoint", new files take more than 1024 MiB`)
	empty(t, root)
}

func TestNoState(t *testing.T) {
	dir, _ := folders(t)
	bare := filepath.Join(dir, "bare")
	git(t, dir, "init", "-q", "--bare", bare)
	for _, place := range []string{dir, bare} {
		if code, ok, err := State(t.Context(), place, nil, nil); ok || err != nil {
			t.Errorf("%s: %+v %v %v", place, code, ok, err)
		}
	}
	git(t, dir, "init", "-q")
	valuetest.Files(t, dir, map[string]string{"a": "1"})
	same(t, "no commit yet", mustState(t, dir, "bare").Dirty, true)
	t.Setenv("PATH", dir)
	if code, ok, err := State(t.Context(), dir, nil, nil); ok || err != nil {
		t.Errorf("no git: %+v %v %v", code, ok, err)
	}
}

// Changed names each file that differs from the commit, and its state: the same for the same content. Submodules stand for their files.
func TestStateNamesChangedFiles(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	same(t, "clean", mustState(t, dir).Changed, "")
	nested := filepath.Join(dir, "nested")
	valuetest.Files(t, nested, map[string]string{"a": "1"})
	git(t, nested, "init", "-q")
	save(t, nested)
	valuetest.Files(t, dir, map[string]string{
		"code.txt": "7", "sub/new.py": "x", "big": "", "s.yaml": "x", "ignored.log": "x", "empty": "", "job.sbatch": "#!/bin/sh\n# " + LauncherMark + "\n",
	})
	valuetest.OK(t, os.Truncate(filepath.Join(dir, "big"), bulky))
	valuetest.OK(t, os.Remove(filepath.Join(dir, "new/run.py")))
	changed := func() string {
		code, _, err := State(t.Context(), filepath.Join(dir, "sub"), nil, []string{"../s.yaml", "../absent.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		return code.Changed
	}
	before := changed()
	var paths []string
	for line := range strings.Lines(before) {
		state, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if paths = append(paths, path); (state == Unimportant) != (path == "s.yaml" || path == "job.sbatch") || (state == New) != (path == "empty") {
			t.Errorf("%s is %s", path, state)
		}
		if added := slices.Contains([]string{"big", "empty", "nested", "sub/new.py"}, path); strings.HasPrefix(state, New) != added {
			t.Errorf("%s is %s", path, state)
		}
	}
	same(t, "paths", strings.Join(paths, " "), "big code.txt empty job.sbatch nested new/run.py s.yaml sub/new.py")
	same(t, "again", changed(), before)
	for name, text := range map[string]string{"code.txt": "8", "nested/a": "2", "sub/new.py": "y"} {
		valuetest.Files(t, dir, map[string]string{name: text})
		after := changed()
		same(t, name, after == before, false)
		before = after
	}
	valuetest.Files(t, dir, map[string]string{"s.yaml": "y", "ignored.log": "y", "job.sbatch": "#SBATCH --time=5\n# " + LauncherMark + "\n"})
	same(t, "what does not matter", changed(), before)
}

// TestDirty: a change of a file that git tracks makes the code differ from its commit, and so does a new file that may be code. Logs,
// documentation, and what this program writes are none.
func TestDirty(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	dirty := func() bool {
		code, _, err := State(t.Context(), dir, []string{"runs_store"}, []string{"s.yaml"})
		valuetest.OK(t, err)
		return code.Dirty
	}
	page := "<!doctype html>\n<meta name=\"generator\" content=\"neurolens\">\n"
	valuetest.Files(t, dir, map[string]string{
		"report.html": page, "report.json": "{\n  \"format\": \"neurolens-report\",\n", "report.md": "# Benchmark report\n\nall runs · made now · all dates are in UTC\n",
		"chart.svg": "<svg class=\"nl-fig nl-strip\">", "job.sbatch": "#!/bin/sh\n# " + LauncherMark + "\n", "run.log": "x", "NOTICE.txt": "x", "s.yaml": "x", "runs_store/x": "x",
	})
	valuetest.Equal(t, dirty(), false, "files that are no code")
	for _, name := range []string{"app_helper.py", "data.bin", "page.html"} {
		valuetest.Files(t, dir, map[string]string{name: "x"})
		valuetest.Equal(t, dirty(), true, name)
		valuetest.OK(t, os.Remove(filepath.Join(dir, name)))
	}
	git(t, dir, "add", "report.html")
	valuetest.Equal(t, dirty(), false, "staging is no change")
	save(t, dir)
	valuetest.Files(t, dir, map[string]string{"report.html": page + "x"})
	valuetest.Equal(t, dirty(), true, "a committed report")
}

// TestWithDeleted: the files of a working directory and those that it has lost since a commit are one file system. Neither the working tree nor
// the repository is written.
func TestWithDeleted(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	valuetest.Files(t, dir, map[string]string{
		"work/kept.py": "old\n", "work/a/gone.py": "gone\n", "work/a/kept.py": "x\n", "work/b/c/Ümläut \"x\".py": "deep\n", "work/b/c/two.py": "", "other/gone.py": "outside\n",
		"work/sub/moved.py": "moved\n", "work/gone/deep/Ü \"x\".py": "far\n",
	})
	save(t, dir)
	for _, name := range []string{"work/a/gone.py", "work/b", "work/gone", "other", "work/sub/moved.py"} {
		valuetest.OK(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	valuetest.Files(t, dir, map[string]string{"work/kept.py": "new\n", "work/fresh/moved.py": "moved\n", "work/b": "a file now\n"})
	work := filepath.Join(dir, "work")
	before := inventory(t, dir)
	files := valuetest.Must(WithDeleted(t.Context(), work, "HEAD", os.DirFS(work)))
	if err := fstest.TestFS(files, "kept.py", "a/gone.py", "a/kept.py", "b", "gone/deep/Ü \"x\".py", "sub/moved.py", "fresh/moved.py"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"b": "a file now\n", "kept.py": "new\n", "a/gone.py": "gone\n", "b/c/Ümläut \"x\".py": "deep\n", "b/c/two.py": ""} {
		valuetest.DeepEqual(t, string(valuetest.Must(fs.ReadFile(files, name))), want, name)
	}
	if _, err := fs.Stat(files, "../other/gone.py"); err == nil {
		t.Error("a file outside of the working directory is in it")
	}
	unchanged(t, dir, before)
	for _, c := range []struct{ dir, ref string }{{work, "nowhere"}, {t.TempDir(), "HEAD"}, {filepath.Join(work, "fresh"), "HEAD"}} {
		if files, err := WithDeleted(t.Context(), c.dir, c.ref, os.DirFS(c.dir)); files != nil || err != nil {
			t.Errorf("%s in %s: %v, %v; want none", c.ref, c.dir, files, err)
		}
	}
}
