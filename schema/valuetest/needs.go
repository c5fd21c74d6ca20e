package valuetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Have skips the test if an error explains why a requirement is missing here, unless NEUROLENS_TEST_REQUIRE contains the word for it.
func Have(t testing.TB, word string, why error) {
	t.Helper()
	switch {
	case why == nil:
	case slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), word):
		t.Fatalf("%s is required: %v", word, why)
	default:
		t.Skipf("%s is not here: %v", word, why)
	}
}

// Program returns the path of a program that the test needs.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	Have(t, name, err)
	return path
}

// Python returns the interpreter of the tests, and skips the test if it lacks one of the modules, separated by commas. word names them in
// NEUROLENS_TEST_REQUIRE.
func Python(t testing.TB, word, modules string) string {
	t.Helper()
	name := os.Getenv("NEUROLENS_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import "+modules).CombinedOutput()
	if err != nil {
		Have(t, word, fmt.Errorf("%s: %w: %s", name, err, out))
	}
	return name
}

// Run returns what a command prints, or ends the test if it fails.
func Run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// Files writes files below a folder, by their paths.
func Files(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
		OK(t, os.WriteFile(path, []byte(text), 0o666))
	}
}
