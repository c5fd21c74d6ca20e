package programtest

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// Root returns the folder of this repository.
func Root(t testing.TB) string {
	t.Helper()
	dir := valuetest.Must(os.Getwd())
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("the working directory is not in this repository")
	return ""
}

// Fixtures returns the folder fixtures of this repository.
func Fixtures(t testing.TB) string { return filepath.Join(Root(t), "fixtures") }

// RepositoryFile returns the text of a file of this repository.
func RepositoryFile(t testing.TB, name string) string {
	t.Helper()
	text := valuetest.Must(os.ReadFile(filepath.Join(Root(t), filepath.FromSlash(name))))
	return string(text)
}

// WriteFile writes a file into a directory.
func WriteFile(t testing.TB, dir, name, text string) {
	t.Helper()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// FilesIn returns the hashes of the files below a directory.
func FilesIn(t testing.TB, dir string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = sha256.Sum256(content)
		return err
	}))
	return files
}

// Repository makes a directory a repository of git and commits its files.
func Repository(t testing.TB, dir string) {
	t.Helper()
	_, err := exec.LookPath("git")
	Needs(t, "git", err)
	Git(t, dir, "init", "-q", "-b", "main", "--template=")
	Commit(t, dir)
}

// Commit commits every file of a repository.
func Commit(t testing.TB, dir string) {
	t.Helper()
	Git(t, dir, "add", "-A")
	Git(t, dir, "-c", "maintenance.auto=false", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x")
}

// Git runs git in a directory and returns its output without space around it.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	valuetest.OK(t, err, "git", args, out)
	return strings.TrimSpace(string(out))
}

// FirstDifference shows two texts around the first byte in which they differ.
func FirstDifference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	part := func(s string) string { return s[max(at-80, 0):min(at+80, len(s))] }
	return "got\n" + part(got) + "\nwant\n" + part(want)
}
