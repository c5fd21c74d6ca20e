package worktree

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// start runs a process that opens a pair. It is killed at the end, if not before.
func start(t *testing.T, o Options) (child *exec.Cmd, says *bufio.Reader) {
	t.Helper()
	options := valuetest.Must(json.Marshal(o))
	child = exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holder+"="+string(options))
	child.Stderr = os.Stderr
	out := valuetest.Must(child.StdoutPipe())
	valuetest.OK(t, child.Start())
	t.Cleanup(func() { kill(child) })
	return child, bufio.NewReader(out)
}

func kill(child *exec.Cmd) {
	_ = child.Process.Kill()
	_ = child.Wait()
}

// opened returns a process that holds a pair.
func opened(t *testing.T, o Options) *exec.Cmd {
	t.Helper()
	child, out := start(t, o)
	if says, _ := out.ReadString('\n'); says != "open\n" {
		t.Fatalf("the process says %q", says)
	}
	return child
}

func clean(t *testing.T, root string, want int) {
	t.Helper()
	removed, err := Clean(t.Context(), root)
	if err != nil {
		t.Error(err)
	}
	same(t, "removed", removed, want)
}

func TestKilled(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	valuetest.Files(t, dir, map[string]string{"data/big": "data"})
	before := inventory(t, dir)
	child := opened(t, Options{Dir: dir, Against: "v1", Session: "dead", Root: root, Share: []string{"data"}})
	p := mustOpen(t, Options{Dir: dir, Against: "v1", Session: "mine", Root: root})
	clean(t, root, 0)
	same(t, "another's", text(t, root, "dead/base/code.txt"), "2")
	kill(child)
	clean(t, root, 1)
	clean(t, root, 0)
	same(t, "dead", text(t, root, "dead/base/code.txt"), "–")
	same(t, "mine", text(t, p.Base.Root, "code.txt")+text(t, p.Base.Root, "lib/lib.txt"), "21")
	same(t, "shared", text(t, dir, "data/big"), "data")
	shut(t, p)
	unchanged(t, dir, before)
	empty(t, root)
}

// The process is killed while git works for it, which goes on: nothing is removed below its hands.
func TestKilledWhileOpening(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	started, goes := slow(t, dir)
	before := inventory(t, dir)
	child, _ := start(t, Options{Dir: dir, Against: "HEAD", Session: "dead", Root: root})
	await(t, started)
	kill(child)
	clean(t, root, 0)
	valuetest.Files(t, filepath.Dir(goes), map[string]string{filepath.Base(goes): ""})
	cleaned(t, root, "dead")
	unchanged(t, dir, before)
	empty(t, root)
}

// Killed at any moment, and git with it.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	dir, root := nest(t)
	valuetest.Files(t, dir, map[string]string{"lib/deep/deep.txt": "7"})
	before := inventory(t, dir)
	for i := 0; i < 12; i += tier(4, 1) {
		child, _ := start(t, Options{Dir: dir, Against: "v1", Session: "dead", Root: root})
		await(t, filepath.Join(root, "dead"))
		time.Sleep(time.Duration(i) * 20 * time.Millisecond)
		kill(child)
		cleaned(t, root, "dead")
		unchanged(t, dir, before)
	}
	empty(t, root)
}

// cleaned waits until Clean has removed the folder of a dead session, for which git has to end first.
func cleaned(t *testing.T, root, session string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		valuetest.Must(Clean(t.Context(), root))
		if _, err := os.Lstat(filepath.Join(root, session)); err != nil {
			return
		}
	}
	t.Fatalf("Clean leaves %s/%s", root, session)
}

// Killed at the moment in which the folder is there and its owner may not be.
func TestKilledAtOnce(t *testing.T) {
	t.Parallel()
	_, root := folders(t)
	root = real(root)
	dead := filepath.Join(root, "dead")
	for range tier(15, 60) {
		child := exec.Command(os.Args[0])
		child.Env, child.Stdout = append(os.Environ(), maker+"="+root), os.Stderr
		valuetest.OK(t, child.Start())
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if _, err := os.Lstat(dead); err == nil {
				break
			}
		}
		kill(child)
		cleaned(t, root, "dead")
	}
	empty(t, root)
}

// What no session made stays, and so does what git knows of the user's own trees that are not there at present.
func TestCleanLeavesOthers(t *testing.T) {
	t.Parallel()
	dir, root := sample(t)
	away := filepath.Join(t.TempDir(), "away")
	git(t, dir, "worktree", "add", "-q", "-b", "away", away)
	valuetest.OK(t, os.RemoveAll(away))
	before := inventory(t, dir)
	valuetest.Files(t, root, map[string]string{"notes.txt": "n", "a/file": "1", "b/owner": "a person", "c/owner": ""})
	child := opened(t, Options{Dir: dir, Against: "v1", Session: "dead", Root: root})
	kill(child)
	clean(t, root, 1)
	same(t, "others", text(t, root, "notes.txt")+text(t, root, "a/file")+text(t, root, "b/owner")+text(t, root, "c/owner"), "n1a person")
	unchanged(t, dir, before)
}

// The sides of a repository that is gone are removed, without git.
func TestCleanWithoutRepository(t *testing.T) {
	dir, root := sample(t)
	clean(t, root, 0)
	if _, err := os.Lstat(root); err == nil {
		t.Error("Clean makes a folder")
	}
	child := opened(t, Options{Dir: dir, Against: "v1", Session: "dead", Root: root})
	kill(child)
	valuetest.OK(t, os.RemoveAll(dir))
	t.Setenv("PATH", t.TempDir())
	clean(t, root, 1)
	empty(t, root)
}
