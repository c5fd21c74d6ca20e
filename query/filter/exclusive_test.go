package filter

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestExclusive: filters are two selections if no run can match both; otherwise they are one.
func TestExclusive(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"session=last~1", "session=last", true},
		{"session=last~1 dim=64", "dim=64 session=last", true},
		{"session=7Q4K2M9F", "session=A2BM81QX", true},
		{"session=7Q4K2M9F", "session=M9F", false},
		{"session=7Q4K2M9F", "session=01M00000000000000000000001", false}, // an id and the end of one
		{"session=last", "session=7Q4K2M9F", false},
		{"commit=9f3c1d2", "commit=4be77a1", true},
		{"commit=9f3c1d2", "commit=9f3c", false},
		{"backend=torch", "backend=onnxrt", true},
		{"bs=1", "batch_size=16", true},
		{"dim=64", "dim=128", true},
		{"backend=torch", "backend=torch", false},
		{"batch_size=1", "batch_size=1.0", false},
		{"dim=1e3", "dim=1000", false},
		{"precision=fp32", "precision=float32", false},
		{"p50=1ms", "p50=1000us", false},
		{"backend=torch,onnxrt", "backend=cpu", false},
		{"backend=torch or dim=1", "backend=cpu", false},
		{"not backend=torch", "backend=cpu", false},
		{"backend=null", "backend=cpu", false},
		{"warnings=drift", "warnings=load", false},
		{"batch_size=1..8", "batch_size=2", false},
		{"suite=nightly", "machine=lab3", false},
		{"baseline=a", "baseline=b", false},
		{"", "session=last", false},
		{"session=", "session=last", false},
	} {
		if got := exclusive(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
		if got := exclusive(c.b, c.a); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

// TestMentions: a condition counts wherever it stands in a filter, and under each name of the column.
func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "session=last": true, "batch_size=1 not (dim=2 or status!=ok)": true, "session_id=7Q4K2M9F": true, "dim=1 session.x=2": false, "status=": false,
	} {
		if got := Mentions(text, "session_id", "status"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	valuetest.DeepEqual(t, []bool{Mentions("bs=1", "batch_size"), Mentions("param.n=1", "n"), Mentions("n=1", "param.n"), Mentions("m=1", "param.n")}, []bool{true, true, true, false})
}

// TestTwoSides: two arguments that exclude one another are a base and a head, also with values that need quotes; others are one selection.
func TestTwoSides(t *testing.T) {
	for _, c := range []struct {
		against    string
		args       []string
		base, head string
	}{
		{"", []string{"variant=sort -n", "variant=sort"}, `variant="sort -n"`, "variant=sort"},
		{"", []string{"suite=a", "machine=b"}, "", "suite=a machine=b"},
		{"", nil, "", ""},
		{"", []string{"dim=1", "bs=1", "dim=2"}, "", "dim=1 bs=1 dim=2"},
		{"baseline=main", []string{"dim=1", "dim=2"}, "baseline=main", "dim=1 dim=2"},
	} {
		if base, head, err := TwoSides(c.against, c.args); base != c.base || head != c.head || err != nil {
			t.Errorf("--against %q %q: got %q and %q, %v", c.against, c.args, base, head, err)
		}
	}
	if _, _, err := TwoSides("", []string{"dim=1", "dim=2", "bs=1"}); err == nil || !strings.Contains(err.Error(), "no run matches both dim=1 and dim=2: quote each") {
		t.Error(err)
	}
}
