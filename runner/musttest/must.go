// Package must ends a test at an error of what the test needs, in one line each.
package must

import "testing"

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
