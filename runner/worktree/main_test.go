package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// What this program does in place of the tests: open a pair, say so and wait to be killed; make the folder of the
// session dead in a folder, and wait.
const (
	holder = "NEUROLENS_WORKTREE_HOLDER"
	maker  = "NEUROLENS_WORKTREE_MAKER"
)

func TestMain(m *testing.M) {
	if options := os.Getenv(holder); options != "" {
		hold(options)
	}
	if root := os.Getenv(maker); root != "" {
		if _, err := newFolder(root, "dead"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		time.Sleep(time.Hour)
	}
	os.Exit(withoutConfiguration(m.Run))
}

// withoutConfiguration runs tests in a home of their own, in which git has no configuration and copies no examples of
// hooks into each repository.
func withoutConfiguration(run func() int) int {
	home, err := os.MkdirTemp("", "neurolens-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": "", "GIT_TEMPLATE_DIR": ""} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return run()
}

// tier gives how much a test does: usually, and where NEUROLENS_LONG asks for the whole of it.
func tier(usual, long int) int {
	if os.Getenv("NEUROLENS_LONG") != "" {
		return long
	}
	return usual
}

// git runs git in dir, apart from any configuration of this machine, and without touching the index to look at it.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=trunk", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return strings.TrimSpace(valuetest.Run(t, cmd))
}

// folders gives an empty folder for a repository and one for its sides.
func folders(t testing.TB) (dir, root string) {
	t.Helper()
	valuetest.Program(t, "git")
	dir = valuetest.Must(filepath.EvalSymlinks(t.TempDir()))
	return dir, filepath.Join(t.TempDir(), "sides")
}

// sample returns a repository with two commits, v1 and HEAD, in which code.txt holds 1 and 2, and a folder for its sides.
func sample(t testing.TB) (dir, root string) {
	t.Helper()
	dir, root = folders(t)
	git(t, dir, "init", "-q")
	valuetest.Files(t, dir, map[string]string{"code.txt": "1", "sub/run.py": "old", ".gitignore": "/data/\n*.log\n"})
	save(t, dir)
	git(t, dir, "tag", "v1")
	valuetest.Files(t, dir, map[string]string{"code.txt": "2", "new/run.py": "new"})
	save(t, dir)
	return dir, root
}

// save commits everything in dir.
func save(t testing.TB, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
}

// text returns what a file holds; "–" where there is none.
func text(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if os.IsNotExist(err) {
		return "–"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// mustOpen opens a pair that is closed at the end.
func mustOpen(t *testing.T, o Options) *Pair {
	t.Helper()
	if o.Session == "" {
		o.Session = "session"
	}
	p := valuetest.Must(Open(t.Context(), o))
	t.Cleanup(func() { shut(t, p) })
	return p
}

func shut(t *testing.T, p *Pair) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// inventory is everything that a repository is: its files with their content, the time of the index, and what git
// says of it.
func inventory(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprint(&all, rel)
		if info, err := entry.Info(); err != nil {
			return err
		} else if entry.Name() == "index" {
			fmt.Fprint(&all, " ", info.ModTime())
		}
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %x", sha256.Sum256(content))
		}
		fmt.Fprintln(&all)
		return nil
	}))
	for _, question := range []string{"status --porcelain", "fsck --no-progress", "worktree list", "for-each-ref", "stash list", "config --list"} {
		fmt.Fprintln(&all, git(t, dir, strings.Fields(question)...))
	}
	return all.String()
}

// unchanged compares the repository in dir with an inventory of before.
func unchanged(t *testing.T, dir, before string) {
	t.Helper()
	after := strings.Split(inventory(t, dir), "\n")
	was := strings.Split(before, "\n")
	for _, line := range was {
		if !slices.Contains(after, line) {
			t.Errorf("repository: lost %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(was, line) {
			t.Errorf("repository: new %s", line)
		}
	}
}

// empty fails the test if anything but locks is left in root.
func empty(t *testing.T, root string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		valuetest.DeepEqual(t, entry.Name(), lockFile, "left behind")
	}
}

func hold(options string) {
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		panic(err)
	}
	p, err := Open(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	time.Sleep(time.Hour)
	p.Close()
}
