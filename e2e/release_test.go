//go:build linux

package e2e

import (
	"archive/tar"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// release packs the program as .ci/release does.
func release(t *testing.T, args ...string) (printed string, err error) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./release", "-program", programtest.Binary(t)}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestReleaseArchive: an archive has the program with its documents, completions that the shells can read, pages of the manual, and a
// licence of every linked module.
func TestReleaseArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stage := filepath.Join(dir, "stage")
	printed, err := release(t, "-stage", stage, "-out", dir)
	valuetest.OK(t, err, printed)
	if info, err := os.Stat(filepath.Join(stage, "neurolens")); err != nil || info.Size() < 50e6 || info.Mode().Perm() != 0o755 {
		t.Errorf("the program: %v, %v", info, err)
	}
	archive := valuetest.Must(os.Open(printed))
	defer archive.Close()
	files := unpacked(t, archive, strings.TrimSuffix(filepath.Base(archive.Name()), ".tar.gz")+"/")
	info, err := buildinfo.ReadFile(programtest.Binary(t))
	if err != nil || len(info.Deps) < 30 {
		t.Fatalf("the program does not know its modules: %v", err)
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
		"README.md": "# NeuroLens", "LICENSE": "Apache License", "CHANGELOG.md": version(t), "licenses/go/LICENSE": "The Go Authors",
		"licenses/duckdb/MISSING.txt": "icu_extension, ", "man/man1/neurolens-bench.1": `\-\-against`, "man/man7/neurolens-filters.7": "DESCRIPTION",
	} {
		valuetest.Contains(t, files[name], want, name, "does not have")
	}
	copied := regexp.MustCompile(`/stage/(\S+)`).FindAllStringSubmatch(programtest.RepositoryFile(t, "Containerfile"), -1)
	for _, name := range copied {
		valuetest.NoError(t, valuetest.Error(os.Stat(filepath.Join(stage, name[1]))), "Containerfile copies a file that no release")
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
		if out, err := exec.Command(path, "-n", filepath.Join(stage, "completions", name)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n %s: %v\n%s", shell, name, err, out)
		}
	}
}

// unpacked returns the files of an archive by their names without a prefix, which all have. None has an owner or a second date.
func unpacked(t *testing.T, archive io.Reader, prefix string) map[string]string {
	t.Helper()
	unzipped := valuetest.Must(gzip.NewReader(archive))
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
		text := valuetest.Must(io.ReadAll(r))
		files[name], dates[h.ModTime.Unix()] = string(text), true
	}
	valuetest.Equal(t, len(dates), 1, "files have")
	return files
}

// TestReleaseRefusal: a program of another version than the tag is refused, and nothing is left.
func TestReleaseRefusal(t *testing.T) {
	t.Parallel()
	stage := filepath.Join(t.TempDir(), "stage")
	printed, err := release(t, "-stage", stage, "-tag", "v9.9.9")
	if err == nil || !strings.HasPrefix(printed, "release: the tag is v9.9.9, and the version of the program is "+version(t)) {
		t.Errorf("%v: %s", err, printed)
	}
	valuetest.Fails(t, valuetest.Error(os.Stat(stage)), "", "it leaves files")
}
