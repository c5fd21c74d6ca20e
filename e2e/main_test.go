// Package e2e tests the program together with other programs: shells, browsers, interpreters and their packages, linters, forges, builders of
// containers and wheels. Its tests run where NEUROLENS_LONG is set, and skip what a machine lacks. They run a built program, which
// NEUROLENS_TEST_BINARY may name.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// module is the path of this module.
const module = "github.com/neurolens/neurolens/"

// TestMain builds the program, unless the environment names one.
func TestMain(m *testing.M) {
	if !programtest.Long() {
		fmt.Println("left out: NEUROLENS_LONG is not set")
		return
	}
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	if os.Getenv(programtest.BinaryVariable) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "neurolens-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "neurolens")
	if out, err := exec.Command("go", "build", "-o", program, module+"cmd/neurolens").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv(programtest.BinaryVariable, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// version returns the version of the program.
func version(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^const version = "(.*)"$`).FindStringSubmatch(programtest.RepositoryFile(t, "cmd/neurolens/main.go"))
	if found == nil {
		t.Fatal("cmd/neurolens/main.go has no version")
	}
	return found[1]
}
