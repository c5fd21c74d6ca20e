package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContainerfile: the image is built with the Go of go.mod, and the linter of such files finds nothing. TestReleaseArchive checks the
// files that it copies.
func TestContainerfile(t *testing.T) {
	text := ofRepository(t, "Containerfile")
	wanted := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(ofRepository(t, "go.mod"))[1]
	if !strings.Contains(text, "\nFROM docker.io/library/golang:"+wanted+"-") {
		t.Errorf("the image is not built with Go %s", wanted)
	}
	path, err := exec.LookPath("hadolint")
	if python := os.Getenv("NEUROLENS_TEST_PYTHON"); err != nil && python != "" {
		path, err = exec.LookPath(filepath.Join(filepath.Dir(python), "hadolint"))
	}
	needs(t, "hadolint", err)
	if out, err := exec.Command(path, filepath.Join("..", "..", "Containerfile")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("hadolint: %v\n%s", err, out)
	}
}
