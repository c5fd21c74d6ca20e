package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// nest returns a repository with the submodules lib, whose own is lib/deep, and, in v1 only, gone; their origins are removed.
func nest(t *testing.T) (dir, root string) {
	t.Helper()
	dir, root = sample(t)
	origins := t.TempDir()
	for _, name := range []string{"deep", "lib", "gone"} {
		origin := filepath.Join(origins, name)
		git(t, origins, "init", "-q", origin)
		valuetest.Files(t, origin, map[string]string{name + ".txt": "1"})
		save(t, origin)
	}
	git(t, filepath.Join(origins, "lib"), "submodule", "add", "-q", filepath.Join(origins, "deep"))
	save(t, filepath.Join(origins, "lib"))
	git(t, dir, "submodule", "add", "-q", "--name", "a lib", filepath.Join(origins, "lib"))
	git(t, dir, "submodule", "add", "-q", filepath.Join(origins, "gone"))
	git(t, dir, "submodule", "update", "-q", "--init", "--recursive")
	save(t, dir)
	git(t, dir, "tag", "-f", "v1")
	git(t, dir, "rm", "-q", "gone")
	lib := filepath.Join(dir, "lib")
	valuetest.Files(t, lib, map[string]string{"lib.txt": "2"})
	save(t, lib)
	save(t, dir)
	valuetest.OK(t, os.RemoveAll(origins))
	return dir, root
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	for path, want := range map[string]string{
		"base/lib/lib.txt": "1", "base/lib/deep/deep.txt": "1", "base/gone/gone.txt": "1",
		"head/lib/lib.txt": "2", "head/lib/deep/deep.txt": "1", "head/gone/gone.txt": "–",
	} {
		same(t, path, text(t, filepath.Dir(p.Base.Root), path), want)
	}
	for _, side := range []Tree{p.Base, p.Head} {
		same(t, "status of "+side.Side, git(t, side.Root, "status", "--porcelain"), "")
		same(t, "dirty "+side.Side, side.Dirty, false)
	}
	shut(t, p)
	unchanged(t, dir, before)
	same(t, "state", mustState(t, dir), p.Head.Code)
	empty(t, root)
}

func TestDirtySubmodules(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	git(t, dir, "config", "-f", ".gitmodules", "submodule.a lib.ignore", "all")
	save(t, dir)
	clean := mustState(t, dir)
	same(t, "clean", clean.Dirty, false)
	valuetest.Files(t, dir, map[string]string{"lib/deep/deep.txt": "7", "lib/deep/new.txt": "n", "lib/store/x": "r"})
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "HEAD", Root: root, Exclude: []string{"lib/store"}})
	same(t, "changed", text(t, p.Head.Root, "lib/deep/deep.txt"), "7")
	same(t, "new", text(t, p.Head.Root, "lib/deep/new.txt"), "n")
	same(t, "excluded", text(t, p.Head.Root, "lib/store/x"), "–")
	same(t, "base", text(t, p.Base.Root, "lib/deep/deep.txt"), "1")
	same(t, "dirty", p.Head.Dirty, true)
	same(t, "as State has it", mustState(t, dir, "lib/store"), p.Head.Code)
	shut(t, p)
	unchanged(t, dir, before)
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, "lib/store")))
	git(t, filepath.Join(dir, "lib/deep"), "checkout", "-q", ".")
	os.Remove(filepath.Join(dir, "lib/deep/new.txt"))
	same(t, "clean again", mustState(t, dir), clean)
}

// In a tree of its own, the user has a submodule as the root of the working tree.
func TestInSubmodule(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	lib := filepath.Join(dir, "lib")
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: lib, Against: "HEAD~1", Root: root})
	same(t, "base", text(t, p.Base.Root, "lib.txt")+text(t, p.Base.Root, "deep/deep.txt"), "11")
	same(t, "head", text(t, p.Head.Root, "lib.txt"), "2")
	shut(t, p)
	unchanged(t, dir, before)
}

func TestSubmoduleThatIsNotCheckedOut(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	git(t, dir, "submodule", "deinit", "-q", "-f", "lib")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", dir, clone)
	p := mustOpen(t, Options{Dir: clone, Against: "v1", Root: root})
	same(t, "left empty", text(t, p.Head.Root, "lib/lib.txt"), "–")
	same(t, "dirty", p.Head.Dirty, false)
}

func TestSubmoduleLacksCommit(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	git(t, dir, "update-index", "--cacheinfo", "160000,1234567890123456789012345678901234567890,lib")
	git(t, dir, "commit", "-q", "-m", "x")
	_, err := Open(t.Context(), Options{Dir: dir, Against: "HEAD", Session: "s", Root: root})
	refused(t, err, `side base: submodule "lib": its commit 1234567890123456789012345678901234567890 is not available here`)
	empty(t, root)
}

// A clone within the tree that git does not know is part of the tree, as its files are.
func TestRepositoryInTree(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	vendor := filepath.Join(dir, "vendor/x")
	git(t, dir, "clone", "-q", dir, vendor)
	valuetest.Files(t, vendor, map[string]string{"code.txt": "vendored"})
	before := inventory(t, dir)
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Root: root})
	same(t, "head", text(t, p.Head.Root, "vendor/x/code.txt"), "vendored")
	same(t, "base", text(t, p.Base.Root, "vendor/x/code.txt"), "–")
	same(t, "dirty", p.Head.Dirty, true)
	shut(t, p)
	unchanged(t, dir, before)

	git(t, dir, "init", "-q", "unborn")
	valuetest.Files(t, dir, map[string]string{"unborn/x": "1"})
	_, err := Open(t.Context(), Options{Dir: dir, Against: "v1", Session: "s", Root: root})
	refused(t, err, `the repository in "unborn" has no commit yet`)
}
