package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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

	write(t, dir, map[string]string{"x.log": "ignored", "store/runs": "r"})
	same(t, "ignored and excluded", mustState(t, dir, "store"), clean)
	same(t, "excluded from a folder", mustState(t, filepath.Join(dir, "sub"), "../store"), clean)

	t.Chdir(filepath.Join(dir, "sub"))
	same(t, "relative", mustState(t, ".", "../store"), clean)

	before := inventory(t, dir)
	untracked := mustState(t, dir)
	same(t, "untracked is dirty", untracked.Dirty, true)
	unchanged(t, dir, before)
	write(t, dir, map[string]string{"store/runs": "s"})
	same(t, "untracked content", mustState(t, dir).Tree == untracked.Tree, false)

	write(t, dir, map[string]string{"code.txt": "7"})
	same(t, "changed", mustState(t, dir, "store").Dirty, true)
	p := must(t, Options{Dir: dir, Against: "v1", Root: root, Exclude: []string{"store"}})
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
		if err := os.Chtimes(path, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	at(path)
	git(t, dir, "update-index", "--refresh")
	at(filepath.Join(dir, ".git/index"))
	write(t, dir, map[string]string{"code.txt": "7"})
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
	write(t, dir, map[string]string{"code.txt": "x"})
	git(t, dir, "add", "code.txt")
	write(t, dir, map[string]string{"code.txt": "2"})
	same(t, "staged and taken back", mustState(t, dir), clean)
}

func TestStateOfConflict(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	git(t, dir, "checkout", "-q", "-b", "other", "v1")
	write(t, dir, map[string]string{"code.txt": "other"})
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
		write(t, dir, map[string]string{"checkpoint": ""})
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	grow(bulky)
	one := mustState(t, dir)
	same(t, "dirty", one.Dirty, true)
	same(t, "counts", one.Tree == clean.Tree, false)
	same(t, "again", mustState(t, dir), one)
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
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
	write(t, dir, map[string]string{"a": "1"})
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
	write(t, nested, map[string]string{"a": "1"})
	git(t, nested, "init", "-q")
	save(t, nested)
	write(t, dir, map[string]string{"code.txt": "7", "sub/new.py": "x", "big": "", "s.yaml": "x", "ignored.log": "x"})
	if err := os.Truncate(filepath.Join(dir, "big"), bulky); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "new/run.py")); err != nil {
		t.Fatal(err)
	}
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
		if paths = append(paths, path); (state == Unimportant) != (path == "s.yaml") {
			t.Errorf("%s is %s", path, state)
		}
	}
	same(t, "paths", strings.Join(paths, " "), "big code.txt nested new/run.py s.yaml sub/new.py")
	same(t, "again", changed(), before)
	for name, text := range map[string]string{"code.txt": "8", "nested/a": "2", "sub/new.py": "y"} {
		write(t, dir, map[string]string{name: text})
		after := changed()
		same(t, name, after == before, false)
		before = after
	}
	write(t, dir, map[string]string{"s.yaml": "y", "ignored.log": "y"})
	same(t, "what does not matter", changed(), before)
}
