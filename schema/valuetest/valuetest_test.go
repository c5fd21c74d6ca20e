package valuetest_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// recorder is a test that is expected to fail. It keeps the messages.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// TestChecks: each check fails a test where it has to, and nowhere else.
func TestChecks(t *testing.T) {
	wrapped := fmt.Errorf("reading: %w", io.EOF)
	for name, c := range map[string]struct {
		check func(t testing.TB)
		says  string // empty: it passes
	}{
		"equal":             {func(t testing.TB) { valuetest.Equal(t, 1, 1) }, ""},
		"not equal":         {func(t testing.TB) { valuetest.Equal(t, 1, 2, "row", 3) }, "row 3: got  1\nwant 2"},
		"NaN":               {func(t testing.TB) { valuetest.Equal(t, math.NaN(), math.NaN()) }, "got  NaN\nwant NaN"},
		"texts":             {func(t testing.TB) { valuetest.Equal(t, "a\n", "a") }, "got  \"a\\n\"\nwant \"a\""},
		"deep":              {func(t testing.TB) { valuetest.DeepEqual(t, []int{1}, []int{1}) }, ""},
		"empty":             {func(t testing.TB) { valuetest.DeepEqual(t, []int{}, nil) }, ""},
		"empty maps":        {func(t testing.TB) { valuetest.DeepEqual(t, nil, map[int]int{}) }, ""},
		"not deep":          {func(t testing.TB) { valuetest.DeepEqual(t, []int{1}, nil) }, "got  [1]\nwant []"},
		"structs":           {func(t testing.TB) { valuetest.DeepEqual(t, recorder{}, recorder{said: []string{"a"}}) }, "want {<nil> [a]}"},
		"near":              {func(t testing.TB) { valuetest.Near(t, 1, 1.5, .5) }, ""},
		"not near":          {func(t testing.TB) { valuetest.Near(t, 1, 2, .5) }, "want 2, up to 0.5"},
		"not a number":      {func(t testing.TB) { valuetest.Near(t, math.NaN(), 2, .5) }, "got  NaN"},
		"contains":          {func(t testing.TB) { valuetest.Contains(t, "abc", "bc") }, ""},
		"does not contain":  {func(t testing.TB) { valuetest.Contains(t, "abc", "x", "log") }, "log: no \"x\" in\nabc"},
		"fails":             {func(t testing.TB) { valuetest.Fails(t, wrapped, "reading: EOF") }, ""},
		"does not fail":     {func(t testing.TB) { valuetest.Fails(t, nil, "EOF") }, "got error <nil>"},
		"fails differently": {func(t testing.TB) { valuetest.Fails(t, wrapped, "writing") }, "want one that says \"writing\""},
		"is":                {func(t testing.TB) { valuetest.ErrorIs(t, wrapped, io.EOF) }, ""},
		"is not":            {func(t testing.TB) { valuetest.ErrorIs(t, wrapped, io.ErrClosedPipe) }, "got error reading: EOF"},
		"ok":                {func(t testing.TB) { valuetest.OK(t, nil) }, ""},
		"no error":          {func(t testing.TB) { valuetest.NoError(t, nil) }, ""},
		"an error":          {func(t testing.TB) { valuetest.NoError(t, wrapped, 7) }, "7: reading: EOF"},
		"not ok":            {func(t testing.TB) { valuetest.OK(t, wrapped, []byte("log")) }, "log: reading: EOF"},
	} {
		var r recorder
		c.check(&r)
		if says := strings.Join(r.said, "|"); (c.says == "") != (says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%s: it says %q, want %q", name, says, c.says)
		}
	}
	if got := valuetest.Error(slices.Concat([]int{1}), wrapped); !errors.Is(got, io.EOF) {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Must returns at an error")
		}
	}()
	valuetest.Must(0, wrapped)
}
