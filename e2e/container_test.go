package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestContainerfile: the image is built with the Go of go.mod, and the linter of such files finds nothing. TestReleaseArchive checks the
// files that it copies.
func TestContainerfile(t *testing.T) {
	text := programtest.RepositoryFile(t, "Containerfile")
	wanted := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(programtest.RepositoryFile(t, "go.mod"))[1]
	valuetest.Contains(t, text, "\nFROM docker.io/library/golang:"+wanted+"-", "the image is not built with Go", wanted)
	path, err := exec.LookPath("hadolint")
	if python := os.Getenv("NEUROLENS_TEST_PYTHON"); err != nil && python != "" {
		path, err = exec.LookPath(filepath.Join(filepath.Dir(python), "hadolint"))
	}
	programtest.Needs(t, "hadolint", err)
	valuetest.DeepEqual(t, valuetest.Must(exec.Command(path, filepath.Join("..", "Containerfile")).CombinedOutput()), nil, "hadolint")
}

// TestContainerBuilds builds the image where a builder and its base images are at hand, and asks the program in it for its version.
func TestContainerBuilds(t *testing.T) {
	programtest.NeedsLong(t)
	builder := ""
	for _, name := range []string{"podman", "docker"} {
		if path, err := exec.LookPath(name); err == nil {
			builder = path
			break
		}
	}
	if builder == "" {
		t.Skip("neither podman nor docker is installed: the Containerfile is linted only")
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(programtest.RepositoryFile(t, "Containerfile"), -1) {
		if out, err := exec.Command(builder, "pull", from[1]).CombinedOutput(); err != nil {
			t.Skipf("%s cannot be had: the Containerfile is linted only: %v\n%s", from[1], err, out)
		}
	}
	const image = "localhost/neurolens-test"
	cmd := exec.Command(builder, "build", "-f", "Containerfile", "-t", image, ".")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := valuetest.Must(exec.Command(builder, "run", "--rm", image, "version").CombinedOutput())
	valuetest.Contains(t, string(out), version(t), "version in the image", out)
}
