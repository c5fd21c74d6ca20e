package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/release/bundle"
)

// staged makes the files of a release of the test program, which stands for the program.
func staged(t *testing.T) bundle.Bundle {
	t.Helper()
	t.Chdir(filepath.Join("..", "..")) // where documents and go.mod are
	t.Setenv(programtest.RoleVariable, "1")
	self := programtest.Binary(t)
	b, err := bundle.Stage(bundle.Options{Program: self, Stage: filepath.Join(t.TempDir(), "stage")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReleaseArchive: an archive has the program with its documents, completions that the shells can read, pages of the manual, and a
// licence of every linked module. Packing twice gives the same bytes.
func TestReleaseArchive(t *testing.T) {
	b := staged(t)
	program := filepath.Join(b.Dir, "neurolens")
	if info, err := os.Stat(program); err != nil || info.Size() < 50e6 || info.Mode().Perm() != 0o755 {
		t.Errorf("the program: %v, %v", info, err)
	}
	if err := os.WriteFile(program, []byte("stands for the program"), 0o755); err != nil { // compressing the real one takes seconds
		t.Fatal(err)
	}
	var archives [2]bytes.Buffer
	for i := range archives {
		if err := b.Write(&archives[i]); err != nil {
			t.Fatal(err)
		}
		later := b.Date.AddDate(40, 0, 0)
		if err := errors.Join(os.Chtimes(program, later, later), os.Chmod(filepath.Join(b.Dir, "README.md"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("packing twice gives other bytes")
	}
	files := unpacked(t, &archives[0], b.Name+"/")
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) < 30 {
		t.Fatal("the test program does not know its modules")
	}
	for _, m := range info.Deps {
		prefix, found := "licenses/"+m.Path+"/LICENSE", false
		for name, text := range files {
			found = found || strings.HasPrefix(name, prefix) && !strings.Contains(strings.TrimPrefix(name, prefix), "/") && len(text) > 200
		}
		if !found {
			t.Errorf("%s has no licence", m.Path)
		}
	}
	for name, want := range map[string]string{
		"README.md": "# NeuroLens", "LICENSE": "Apache License", "CHANGELOG.md": version, "licenses/go/LICENSE": "The Go Authors",
		"licenses/duckdb/MISSING.txt": "icu_extension, ", "man/man1/neurolens-bench.1": `\-\-against`, "man/man7/neurolens-filters.7": "DESCRIPTION",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not have %q: %.200s", name, want, files[name])
		}
	}
	containerfile, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	copied := regexp.MustCompile(`/stage/(\S+)`).FindAllStringSubmatch(string(containerfile), -1)
	for _, name := range copied {
		if _, err := os.Stat(filepath.Join(b.Dir, name[1])); err != nil {
			t.Errorf("Containerfile copies a file that no release has: %v", err)
		}
	}
	if len(copied) < 4 {
		t.Errorf("Containerfile copies %v", copied)
	}
	for name, shell := range map[string]string{"neurolens.bash": "bash", "_neurolens": "zsh", "neurolens.fish": "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil && !strings.Contains(os.Getenv("NEUROLENS_TEST_REQUIRE"), shell) {
			t.Logf("%s is not tried: %v", name, err)
			continue
		}
		if out, err := exec.Command(path, "-n", filepath.Join(b.Dir, "completions", name)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n %s: %v\n%s", shell, name, err, out)
		}
	}
}

// unpacked are the files of an archive by their names without a prefix, which all have. None has an owner or a second date.
func unpacked(t *testing.T, archive io.Reader, prefix string) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	files, dates := map[string]string{}, map[int64]bool{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(h.Name, prefix)
		if !ok || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Mode != 0o644 && h.Mode != 0o755 {
			t.Errorf("%s is of %d:%d %q, mode %o", h.Name, h.Uid, h.Gid, h.Uname, h.Mode)
		}
		if _, twice := files[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name], dates[h.ModTime.Unix()] = string(text), true
	}
	if len(dates) != 1 {
		t.Errorf("files have %d dates", len(dates))
	}
	return files
}

// TestReleaseRefusals: a program of another version than the tag, or that was not built from it, is refused.
func TestReleaseRefusals(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	t.Setenv(programtest.RoleVariable, "1")
	self := programtest.Binary(t)
	for tag, want := range map[string]string{
		"v9.9.9":      "the tag is v9.9.9, and the version of the program is " + version,
		"v" + version: "the tag is v" + version + ", and the program was built from ",
	} {
		stage := filepath.Join(t.TempDir(), "stage")
		_, err := bundle.Stage(bundle.Options{Program: self, Stage: stage, Tag: tag})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", tag, err, want)
		}
		if _, err := os.Stat(stage); err == nil {
			t.Errorf("%s: it leaves files", tag)
		}
	}
}
