package e2e

import (
	"archive/zip"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// stand is a version for tests, which nobody has.
const stand = "v0.0.1-test"

// TestGoInstall: the go command takes this repository as a module of a version: it accepts the files, and go.mod has nothing that
// forbids `go install PACKAGE@VERSION`. The long test has it plan the whole build.
func TestGoInstall(t *testing.T) {
	for line := range strings.Lines(programtest.RepositoryFile(t, "go.mod")) {
		if regexp.MustCompile(`^\s*(replace|exclude)\b`).MatchString(line) {
			t.Errorf("go.mod has %s, with which go install of a version is refused", strings.TrimSpace(line))
		}
	}
	env := []string{"GOPROXY=file://" + moduleProxy(t), "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOWORK=off"}
	args := []string{"mod", "download", strings.TrimSuffix(module, "/") + "@" + stand}
	if programtest.Long() {
		cache := valuetest.Must(exec.Command("go", "env", "GOMODCACHE").Output())
		env[0] += ",file://" + strings.TrimSpace(string(cache)) + "/cache/download"
		args = []string{"install", "-n", module + "cmd/neurolens@" + stand}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
}

// moduleProxy returns a folder in which the go command finds this module, as git knows its files.
func moduleProxy(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("git")
	programtest.Needs(t, "git", err)
	root, proxy := "..", t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	valuetest.OK(t, os.MkdirAll(versions, 0o755))
	file := valuetest.Must(os.Create(filepath.Join(versions, stand+".zip")))
	packed := zip.NewWriter(file)
	for _, name := range ownFiles(strings.Split(strings.Trim(programtest.Git(t, root, "ls-files", "-z"), "\x00"), "\x00")) {
		from := filepath.Join(root, filepath.FromSlash(name))
		if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
			continue // a link, or gone from the working tree
		}
		text := valuetest.Must(os.ReadFile(from))
		w, err := packed.CreateHeader(&zip.FileHeader{Name: module[:len(module)-1] + "@" + stand + "/" + name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	valuetest.OK(t, errors.Join(packed.Close(), file.Close()))
	programtest.WriteFile(t, versions, stand+".mod", programtest.RepositoryFile(t, "go.mod"))
	programtest.WriteFile(t, versions, "list", stand+"\n")
	programtest.WriteFile(t, versions, stand+".info", `{"Version": "`+stand+`"}`)
	return proxy
}

// ownFiles returns the files that belong to no module below this one.
func ownFiles(all []string) []string {
	var others []string
	for _, name := range all {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			others = append(others, path.Dir(name)+"/")
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(name, other) })
	})
}
