package programtest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Long reports whether tests do all that they can, which takes minutes.
func Long() bool { return os.Getenv("NEUROLENS_LONG") != "" }

// NeedsLong skips a test of minutes unless NEUROLENS_LONG is set.
func NeedsLong(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
}

// Needs skips a test if err says that something is missing on this machine. It fails the test if NEUROLENS_TEST_REQUIRE names what is missing.
func Needs(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), what) {
		t.Fatalf("%s is required: %v", what, err)
	}
	t.Skipf("%s: %v", what, err)
}

// Interpreter returns the Python of the tests.
func Interpreter() string { return cmp.Or(os.Getenv("NEUROLENS_TEST_PYTHON"), "python3") }

// PythonWith returns the Python of the tests if it imports the modules, a list with commas. NEUROLENS_TEST_REQUIRE calls them by the word.
func PythonWith(t testing.TB, word, modules string) string {
	t.Helper()
	python := Interpreter()
	out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s does not import %s (NEUROLENS_TEST_PYTHON names another interpreter): %w: %.200s", python, modules, err, out)
	}
	Needs(t, word, err)
	return python
}
