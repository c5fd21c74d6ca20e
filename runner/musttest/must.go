// Package must ends a test at an error of what the test needs, in one line each, and skips it for want of a program.
package must

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Get returns a function that returns v, or ends the test if there is an error: must.Get(os.Getwd())(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Do ends the test if there is an error: must.Do(t, os.Chdir(dir)).
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Err is the error of a function that has another result too: must.Err(os.Getwd()).
func Err[T any](_ T, err error) error { return err }

// Fail reports an error that is not the wanted one. "…" at an end of want stands for any text. If want is empty, or nothing but "…", there
// should be no error. about describes what should have failed.
func Fail(t testing.TB, err error, want string, about ...any) {
	t.Helper()
	text, opened := strings.CutPrefix(want, "…")
	text, ended := strings.CutSuffix(text, "…")
	got, is := fmt.Sprint(err), false
	switch {
	case text == "":
		is = err == nil
	case err == nil:
	case opened && ended:
		is = strings.Contains(got, text)
	case opened:
		is = strings.HasSuffix(got, text)
	case ended:
		is = strings.HasPrefix(got, text)
	default:
		is = got == text
	}
	if !is {
		t.Errorf("%sgot  %v\nwant %s", fmt.Sprintln(about...), err, want)
	}
}

// Equal reports a value that is not the wanted one. An empty list or map equals nil. about describes the value.
func Equal[T any](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	isList := a.Kind() == reflect.Slice || a.Kind() == reflect.Map
	if isList && a.Kind() == b.Kind() && a.Len() == 0 && b.Len() == 0 {
		return
	}
	t.Errorf("%sgot  %+v\nwant %+v", fmt.Sprintln(about...), got, want)
}

// Have skips the test if an error says why something is not here, unless NEUROLENS_TEST_REQUIRE has the word for it.
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

// Run returns what a command prints, or ends the test if it fails.
func Run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// Program is the path of a program that the test needs.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	Have(t, name, err)
	return path
}

// Python is the interpreter of the tests, which has to have modules, separated by commas. word is the one for them in NEUROLENS_TEST_REQUIRE.
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

// Files writes files below a folder, by their paths.
func Files(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
}
