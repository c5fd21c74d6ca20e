// Package valuetest compares values in tests, and provides the files and programs that tests need. A check is one line: the result, the
// expected value and, where it matters, the name of the case. It imports no other package of this module, so that the tests of every
// package can use it.
package valuetest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Must returns a value, and panics on an error. It has no testing.TB parameter, so that it accepts the results of a call directly.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Error returns the error of a call, for Fails and ErrorIs.
func Error[T any](_ T, err error) error { return err }

// OK ends the test at an error.
func OK(t testing.TB, err error, context ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s%v", in(context), err)
	}
}

// NoError fails the test at an error, and lets it go on.
func NoError(t testing.TB, err error, context ...any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s%v", in(context), err)
	}
}

// Equal fails the test if two values differ. The context says which values they are.
func Equal[T comparable](t testing.TB, got, want T, context ...any) {
	t.Helper()
	if got != want {
		differ(t, got, want, context)
	}
}

// DeepEqual fails the test if two slices, maps or structs differ. Empty slices and maps equal nil ones.
func DeepEqual[T any](t testing.TB, got, want T, context ...any) {
	t.Helper()
	if g, w := reflect.ValueOf(got), reflect.ValueOf(want); !reflect.DeepEqual(got, want) && (!holds(g) || !holds(w) || g.Len()+w.Len() > 0) {
		differ(t, got, want, context)
	}
}

// holds reports whether a value is a slice or a map.
func holds(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Map }

// differ reports two values; strings and byte slices are quoted as in Go.
func differ(t testing.TB, got, want any, context []any) {
	t.Helper()
	verb := "%v"
	switch got.(type) {
	case string, []string, []byte:
		verb = "%q"
	}
	t.Errorf("%sgot  "+verb+"\nwant "+verb, in(context), got, want)
}

// in returns the context of a message.
func in(context []any) string {
	if len(context) == 0 {
		return ""
	}
	context = slices.Clone(context)
	for i, c := range context {
		if text, is := c.([]byte); is {
			context[i] = string(text)
		}
	}
	return strings.TrimSuffix(fmt.Sprintln(context...), "\n") + ": "
}

// Near fails the test if two numbers are further apart than a tolerance, or one is not a number.
func Near(t testing.TB, got, want, tolerance float64, context ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%sgot  %v\nwant %v, up to %v", in(context), got, want, tolerance)
	}
}

// Contains fails the test if a part is not in a text.
func Contains(t testing.TB, text, part string, context ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%sno %q in\n%s", in(context), part, text)
	}
}

// Fails fails the test unless err is an error whose text contains says.
func Fails(t testing.TB, err error, says string, context ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%sgot error %v, want one that says %q", in(context), err, says)
	}
}

// ErrorIs fails the test unless an error wraps another one.
func ErrorIs(t testing.TB, err, target error, context ...any) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%sgot error %v, want %v", in(context), err, target)
	}
}

// ErrorText reports an error that differs from the wanted one. "…" at an end of want stands for any text. If want is empty, or only "…",
// there should be no error. The context names the operation that should have failed.
func ErrorText(t testing.TB, err error, want string, context ...any) {
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
		t.Errorf("%sgot  %v\nwant %s", in(context), err, want)
	}
}
