package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// need skips a test for want of a tool, unless the caller says that it has to be there.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), tool) {
		t.Fatalf("%s is required and not installed", tool)
	}
	t.Skipf("%s is not installed", tool)
}

// run runs a tool in dir, apart from any configuration of this machine.
func run(t *testing.T, dir, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func gitFacts(t *testing.T, dir string) *facts {
	t.Helper()
	f := newFacts()
	readGit(t.Context(), dir, f)
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestGit(t *testing.T) {
	need(t, "git")
	dir := t.TempDir()
	if f := gitFacts(t, dir); f.missing["git.commit"] != absent || f.missing["git.dirty"] != absent {
		t.Errorf("no repository: %v", f.missing)
	}
	run(t, dir, "git", "init", "-q", "-b", "trunk")
	if f := gitFacts(t, dir); f.missing["git.commit"] != absent || f.known["git.branch"] != "trunk" || f.known["git.dirty"] != "false" {
		t.Errorf("no commit: %v %v", f.known, f.missing)
	}
	file := filepath.Join(dir, "a")
	write(t, file, "1")
	run(t, dir, "git", "add", "a")
	run(t, dir, "git", "commit", "-q", "-m", "x")
	commit := run(t, dir, "git", "rev-parse", "HEAD")
	write(t, filepath.Join(dir, "untracked"), "1")
	t.Setenv("GIT_DIR", "/nonexistent") // as inside a hook; it must not lead elsewhere
	f := gitFacts(t, dir)
	os.Unsetenv("GIT_DIR")
	if f.known["git.commit"] != commit || f.known["git.dirty"] != "false" {
		t.Errorf("clean: %v %v, want %s", f.known, f.missing, commit)
	}

	write(t, file, "22")
	run(t, dir, "git", "checkout", "-q", "--detach")
	f = gitFacts(t, dir)
	if f.known["git.dirty"] != "true" || f.missing["git.branch"] != absent {
		t.Errorf("changed and detached: %v %v", f.known, f.missing)
	}
}

// TestBareRepositoryInAClone: a clone may bring a folder along that looks like a bare repository. Nothing that its configuration names
// runs.
func TestBareRepositoryInAClone(t *testing.T) {
	need(t, "git")
	dir := t.TempDir()
	run(t, dir, "git", "init", "-q")
	write(t, filepath.Join(dir, "a.txt"), "1")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=x\n")
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "commit", "-q", "-m", "x")
	tree := filepath.Join(dir, ".git")
	for _, name := range []string{"a.txt", ".gitattributes"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Rename(tree, folder); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	write(t, filepath.Join(folder, "config"), "[core]\n\tbare = false\n\tworktree = .\n[filter \"x\"]\n\tclean = \"touch "+ran+"; cat\"\n")
	write(t, filepath.Join(folder, "a.txt"), "2")
	if f := gitFacts(t, folder); f.known["git.commit"] != "" || f.missing["git.commit"] != permission || f.missing["git.dirty"] != permission {
		t.Errorf("%v %v", f.known, f.missing)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the filter of the folder ran")
	}
}

func TestGitErrors(t *testing.T) {
	need(t, "git")
	if f := gitFacts(t, filepath.Join(t.TempDir(), "gone")); f.missing["git.commit"] != absent {
		t.Errorf("no folder: %v", f.missing)
	}
	dubious := &exec.ExitError{Stderr: []byte("fatal: detected dubious ownership in repository at '/x'")}
	if why := reason(gitError(dubious)); why != permission {
		t.Errorf("dubious ownership: %s", why)
	}
	if why := reason(gitError(&exec.ExitError{Stderr: []byte("fatal: unknown")})); why != unsupported {
		t.Errorf("unknown error: %s", why)
	}
	t.Setenv("PATH", t.TempDir())
	if f := gitFacts(t, "."); f.missing["git.commit"] != absent {
		t.Errorf("no git: %v", f.missing)
	}
}
